//! A look at the tree as it is now, beside the [image](super::image) of it as it was.
//!
//! Whatever is not plain is left to git (`Doubt`): names that may be ignored, lists of what is ignored that change,
//! repositories in the tree, files that cannot be read, many or large changes.

use super::ignores::Ignores;
use super::image::{Folder, Kind, Leaf, Looks, Name, Node, Time};
use super::objects::Objects;
use super::paths::{self, Excludes};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// More changed files, larger ones and longer paths are git's.
const FILES: usize = 64;
const BYTES: u64 = 8 << 20;
const LONGEST: usize = 2_000;
/// So many files are looked at by two threads.
const SHARE: usize = 4_000;

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

/// A tree in memory, and what it takes to look at it again.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) root: Arc<Folder>,
    pub(super) ignores: Arc<Ignores>,
    pub(super) objects: Objects,
    /// The file system of the tree.
    pub(super) device: u64,
}

impl Image {
    pub(super) fn tree(&self) -> String {
        self.root.tree(&self.objects)
    }

    /// The tree as it is now, and the objects that may not be on the disk yet. `began`: a moment before this, by the clock
    /// of the file system.
    pub(super) fn again(&self, top: &Path, exclude: &Excludes, began: Time) -> Result<(Self, Vec<File>), Doubt> {
        let mut look = Look {
            exclude,
            ignores: &self.ignores,
            objects: &self.objects,
            began,
            device: self.device,
            read: 0,
            fresh: Vec::new(),
        };
        let top = open(CWD, paths::bytes(top))?;
        let root = look.folder(top.as_fd(), b"", &self.root)?.unwrap_or_else(|| Arc::clone(&self.root));
        let (ignores, objects) = (Arc::clone(&self.ignores), self.objects.clone());
        Ok((Self { root, ignores, objects, device: self.device }, look.fresh))
    }
}

/// A folder by its name, and what it is now; `None`: gone.
type Change<'a> = (&'a Name, Option<Arc<Folder>>);

/// One look at the tree.
struct Look<'a> {
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

    /// What has become of these folders, where they are not as they were. Many files are looked at by two
    /// threads.
    fn folders<'b>(
        &mut self,
        at: BorrowedFd<'_>,
        path: &[u8],
        below: &[(&'b Name, &'b Arc<Folder>)],
        many: usize,
    ) -> Result<Vec<Change<'b>>, Doubt> {
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
