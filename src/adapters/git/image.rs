//! The working tree as it was seen last, kept in memory: a look at it again reads only what has changed, starts no
//! process, and comes to the tree that git would write. The look itself is `look`'s, the first image `imaging`'s.

use super::objects::{ObjectId, Objects};
use rustix::fs::{FileType, Mode, Stat};
use std::collections::BTreeMap;
use std::sync::Arc;

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
pub(super) enum Node {
    Leaf(Leaf),
    Folder(Arc<Folder>),
}

pub(super) type Name = Box<[u8]>;

/// A folder that is not ignored.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    /// Its tree; `None`: it holds nothing that git keeps.
    pub(super) id: Option<ObjectId>,
    /// As it was before its names were read; `None`: they have to be read again.
    pub(super) looks: Option<Looks>,
    pub(super) there: BTreeMap<Name, Node>,
    /// Files in it and below, as they were first counted.
    pub(super) many: usize,
    /// Names in it that are ignored, and whether each is a folder.
    pub(super) ignored: BTreeMap<Name, bool>,
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

    pub(super) fn of(stat: &Stat) -> Option<Self> {
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
    pub(super) fn body(&self) -> Option<Vec<u8>> {
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
