//! The working tree as it was seen last, kept in memory: a look at it again reads only what has changed, starts no
//! process, and comes to the tree that git would write.
//!
//! Whatever is not plain is left to git (`Doubt`): names that may be ignored, lists of what is ignored that change,
//! repositories in the tree, files that cannot be read, many or large changes.

use super::ignores::Ignores;
use super::objects::{ObjectId, Objects};
use super::paths::Excludes;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// More changed files, and larger ones, are git's.
const FILES: usize = 64;
const BYTES: u64 = 8 << 20;
/// So many files are looked at by two threads.
const SHARE: usize = 4_000;
/// And so are longer paths.
const LONGEST: usize = 2_000;

/// Seconds and nanoseconds.
pub(super) type Time = (i64, i64);

/// What tells a file or folder from a changed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looks {
    /// The lower halves, as git's index has them.
    pub(super) inode: u32,
    pub(super) size: u32,
    pub(super) modified: Time,
    pub(super) changed: Time,
}

/// What git tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Program,
    Link,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub(super) kind: Kind,
    pub(super) id: ObjectId,
    /// `None`: it may have changed while it was read.
    pub(super) looks: Option<Looks>,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Leaf),
    Folder(Arc<Folder>),
}

type Name = Box<[u8]>;

/// A folder that is not ignored.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    /// Its tree; `None`: it holds nothing that git keeps.
    id: Option<ObjectId>,
    /// As it was before its names were read; `None`: they have to be read again.
    pub(super) looks: Option<Looks>,
    there: BTreeMap<Name, Node>,
    /// Files in it and below, as they were first counted.
    many: usize,
    /// Names in it that are ignored, and whether each is a folder.
    pub(super) ignored: BTreeMap<Name, bool>,
}

/// It is not plain: git has to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doubt;

impl From<Errno> for Doubt {
    fn from(_: Errno) -> Self {
        Self
    }
}

impl From<std::io::Error> for Doubt {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

impl Looks {
    pub(super) fn of(stat: &Stat) -> Self {
        #[allow(clippy::unnecessary_cast, reason = "systems differ in these types")]
        Self {
            inode: stat.st_ino as u32,
            size: stat.st_size as u32,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Something that was read after this moment: it has not changed since, or will look otherwise when it does.
    pub(super) fn before(self, moment: Time) -> Option<Self> {
        (self.changed < moment).then_some(self)
    }
}

impl Kind {
    fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Program => "100755",
            Self::Link => "120000",
        }
    }

    fn of(stat: &Stat) -> Option<Self> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR) => Some(Self::Program),
            FileType::RegularFile => Some(Self::File),
            FileType::Symlink => Some(Self::Link),
            _ => None,
        }
    }
}

impl Folder {
    /// The tree's name.
    pub(super) fn tree(&self, objects: &Objects) -> String {
        self.id.unwrap_or_else(|| objects.id("tree", b"")).to_string()
    }

    /// The folder of this path below; made on the way. `None`: a file is in the way, or others know the folder.
    pub(super) fn below(&mut self, path: &[u8]) -> Option<&mut Self> {
        path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).try_fold(self, |folder, name| {
            match folder.there.entry(name.into()).or_insert_with(|| Node::Folder(Arc::default())) {
                Node::Folder(below) => Arc::get_mut(below),
                Node::Leaf(_) => None,
            }
        })
    }

    pub(super) fn put(&mut self, name: &[u8], leaf: Leaf) {
        self.there.insert(name.into(), Node::Leaf(leaf));
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.there.contains_key(name)
    }

    /// Names all trees, the folders below first. Nothing is written.
    pub(super) fn name(&mut self, objects: &Objects) {
        for node in self.there.values_mut() {
            if let Node::Folder(below) = node
                && let Some(below) = Arc::get_mut(below)
            {
                below.name(objects);
            }
        }
        self.id = self.body().map(|body| objects.id("tree", &body));
        let many = |node: &Node| match node {
            Node::Leaf(_) => 1,
            Node::Folder(below) => below.many,
        };
        self.many = self.there.values().map(many).sum();
    }

    /// Git's form of the tree: names in their order, a folder's as if a slash followed.
    fn body(&self) -> Option<Vec<u8>> {
        let told = |(name, node): (&Name, &Node)| {
            let (mode, id, order) = match node {
                Node::Leaf(leaf) => (leaf.kind.mode(), leaf.id, name.to_vec()),
                Node::Folder(below) => ("40000", below.id?, [name, &b"/"[..]].concat()),
            };
            Some((order, [mode.as_bytes(), b" ", name, b"\0", id.as_bytes()].concat()))
        };
        let mut entries: Vec<(Vec<u8>, Vec<u8>)> = self.there.iter().filter_map(told).collect();
        entries.sort();
        let body: Vec<u8> = entries.into_iter().flat_map(|(_, entry)| entry).collect();
        (!body.is_empty()).then_some(body)
    }

    /// The paths that differ in another one, in their order, and whether each is still there in that.
    pub(super) fn differing(&self, to: &Self) -> Vec<(Vec<u8>, bool)> {
        let mut paths = Vec::new();
        differ(Some(self), Some(to), b"", &mut paths);
        paths.sort();
        paths
    }
}

fn differ(from: Option<&Folder>, to: Option<&Folder>, path: &[u8], paths: &mut Vec<(Vec<u8>, bool)>) {
    if from.and_then(|from| from.id) == to.and_then(|to| to.id) {
        return;
    }
    let there =
        |folder: Option<&'_ Folder>| folder.map(|folder| folder.there.keys()).into_iter().flatten().cloned().collect();
    let mut names: Vec<Name> = there(from);
    names.extend::<Vec<Name>>(there(to));
    names.sort();
    names.dedup();
    for name in names {
        let node = |folder: Option<&'_ Folder>| folder.and_then(|folder| folder.there.get(&name)).cloned();
        let (before, after) = (node(from), node(to));
        let leaf = |node: &Option<Node>| match node {
            Some(Node::Leaf(leaf)) => Some((leaf.kind, leaf.id)),
            _ => None,
        };
        let below = |node: &Option<Node>| match node {
            Some(Node::Folder(folder)) => Some(Arc::clone(folder)),
            _ => None,
        };
        let path = if path.is_empty() { name.to_vec() } else { [path, b"/", &name].concat() };
        differ(below(&before).as_deref(), below(&after).as_deref(), &path, paths);
        if leaf(&before) != leaf(&after) {
            paths.push((path, leaf(&after).is_some()));
        }
    }
}

/// One look at the tree.
pub(super) struct Look<'a> {
    pub(super) exclude: &'a Excludes,
    pub(super) ignores: &'a Ignores,
    pub(super) objects: &'a Objects,
    /// What changes from here on is not seen for sure.
    pub(super) began: Time,
    /// The file system whose clock that was.
    pub(super) device: u64,
    /// Files that were read.
    pub(super) read: usize,
    /// Objects that may not be on the disk yet.
    pub(super) fresh: Vec<File>,
}

impl Look<'_> {
    /// The folder as it is now; `None`: as it was. What is new is written as objects.
    pub(super) fn folder(
        &mut self,
        at: BorrowedFd<'_>,
        path: &[u8],
        before: &Folder,
    ) -> Result<Option<Arc<Folder>>, Doubt> {
        let stat = fstat(at)?;
        #[allow(clippy::unnecessary_cast, reason = "systems differ in these types")]
        if stat.st_dev as u64 != self.device {
            return Err(Doubt);
        }
        let looks = Looks::of(&stat);
        let mut now = None;
        if before.looks != Some(looks) {
            let folder: &mut Folder = now.get_or_insert_with(|| before.clone());
            folder.looks = looks.before(self.began);
            self.names(at, path, folder)?;
        }
        let mut below = Vec::new();
        for (name, node) in &before.there {
            match node {
                Node::Leaf(leaf) => {
                    let stat = match statat(at, &**name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => stat,
                        Err(Errno::NOENT) if &**name != b".gitignore" => {
                            now.get_or_insert_with(|| before.clone()).there.remove(name);
                            continue;
                        }
                        Err(_) => return Err(Doubt),
                    };
                    if leaf.looks == Some(Looks::of(&stat)) {
                        continue;
                    }
                    let leaf = self.leaf(at, name, &stat, Some(leaf))?;
                    now.get_or_insert_with(|| before.clone()).there.insert(name.clone(), Node::Leaf(leaf));
                }
                Node::Folder(folder) => below.push((name, folder)),
            }
        }
        for (name, change) in self.folders(at, path, &below, before.many)? {
            let there = &mut now.get_or_insert_with(|| before.clone()).there;
            match change {
                Some(folder) => there.insert(name.clone(), Node::Folder(folder)),
                None => there.remove(name),
            };
        }
        let Some(mut now) = now else { return Ok(None) };
        let body = now.body();
        now.id = body.as_ref().map(|body| self.objects.id("tree", body));
        if let (Some(id), Some(body)) = (now.id.filter(|id| Some(*id) != before.id), body) {
            self.fresh.extend(self.objects.put(&id, "tree", &body)?);
        }
        Ok(Some(Arc::new(now)))
    }

    /// What has become of these folders, where they are not as they were; `None`: gone. Many files are looked at by two
    /// threads.
    fn folders<'b>(
        &mut self,
        at: BorrowedFd<'_>,
        path: &[u8],
        below: &[(&'b Name, &'b Arc<Folder>)],
        many: usize,
    ) -> Result<Vec<(&'b Name, Option<Arc<Folder>>)>, Doubt> {
        if many < SHARE || below.len() < 2 {
            let mut changes = Vec::new();
            for (name, folder) in below {
                match open(at, name) {
                    Ok(fd) => {
                        let now = self.folder(fd.as_fd(), &joined(path, name), folder)?;
                        changes.extend(now.map(|now| (*name, Some(now))));
                    }
                    Err(Errno::NOENT) => changes.push((*name, None)),
                    Err(_) => return Err(Doubt),
                }
            }
            return Ok(changes);
        }
        let (first, second) = below.split_at(below.len() / 2);
        let (exclude, ignores, objects) = (self.exclude, self.ignores, self.objects);
        let mut other = Look { exclude, ignores, objects, fresh: Vec::new(), ..*self };
        let (mine, theirs) = std::thread::scope(|scope| {
            let theirs = std::thread::Builder::new().spawn_scoped(scope, || other.folders(at, path, second, 0));
            (self.folders(at, path, first, 0), theirs.map(|theirs| theirs.join().unwrap_or(Err(Doubt))))
        });
        let mut changes = mine?;
        changes.extend(theirs??);
        // Counted twice: what was read before.
        self.read += other.read;
        self.fresh.append(&mut other.fresh);
        if self.read > FILES { Err(Doubt) } else { Ok(changes) }
    }

    /// Takes in what is new in the folder. What has gone is seen as it is looked for.
    fn names(&mut self, at: BorrowedFd<'_>, path: &[u8], folder: &mut Folder) -> Result<(), Doubt> {
        let mut ignored = BTreeMap::new();
        for entry in rustix::fs::Dir::read_from(at)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") || (path.is_empty() && name == b".git") || folder.there.contains_key(name) {
                continue;
            }
            let full = joined(path, name);
            if self.exclude.covers(&full) {
                continue;
            }
            if is_of_git(name) || full.len() > LONGEST {
                return Err(Doubt);
            }
            let stat = match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(_) => return Err(Doubt),
            };
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            if folder.ignored.get(name) == Some(&is_folder) {
                ignored.insert(name.into(), is_folder);
                continue;
            }
            if !is_folder && Kind::of(&stat).is_none() {
                continue;
            }
            if self.ignores.may_mean(name) {
                return Err(Doubt);
            }
            let node = if is_folder {
                let below = open(at, name)?;
                let new = self.folder(below.as_fd(), &full, &Folder::default())?;
                Node::Folder(new.unwrap_or_default())
            } else {
                Node::Leaf(self.leaf(at, name, &stat, None)?)
            };
            folder.there.insert(name.into(), node);
        }
        folder.ignored = ignored;
        Ok(())
    }

    /// Reads a file or link that looked so.
    fn leaf(&mut self, at: BorrowedFd<'_>, name: &[u8], stat: &Stat, before: Option<&Leaf>) -> Result<Leaf, Doubt> {
        let kind = Kind::of(stat).ok_or(Doubt)?;
        self.read += 1;
        if self.read > FILES {
            return Err(Doubt);
        }
        let mut body = Vec::new();
        if kind == Kind::Link {
            body = readlinkat(at, name, Vec::new())?.into_bytes();
        } else {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = File::from(openat(at, name, flags, Mode::empty())?);
            if !file.metadata()?.is_file() || file.take(BYTES + 1).read_to_end(&mut body)? as u64 > BYTES {
                return Err(Doubt);
            }
        }
        let id = self.objects.id("blob", &body);
        let is_new = before.is_none_or(|before| before.id != id);
        // What is ignored may be another thing now.
        if is_new && name == b".gitignore" {
            return Err(Doubt);
        }
        if is_new {
            self.fresh.extend(self.objects.put(&id, "blob", &body)?);
        }
        Ok(Leaf { kind, id, looks: Looks::of(stat).before(self.began) })
    }
}

/// Names by which git finds its own, or refuses: `.git`, `.gitignore`, `.git ` and the like.
pub(super) fn is_of_git(name: &[u8]) -> bool {
    let small = name.to_ascii_lowercase();
    let rest = small.strip_prefix(b".git");
    rest.is_some_and(|rest| {
        !rest.first().is_some_and(u8::is_ascii_alphanumeric) || matches!(rest, b"ignore" | b"modules")
    }) || small.starts_with(b"git~")
}

pub(super) fn open(at: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, OsStr::from_bytes(name), flags, Mode::empty())
}

pub(super) fn joined(path: &[u8], name: &[u8]) -> Vec<u8> {
    if path.is_empty() { name.to_vec() } else { [path, b"/", name].concat() }
}
