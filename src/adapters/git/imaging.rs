//! Makes the image of a tree that git has just read: from its index, from the names in all folders, and from git's word on
//! which of those are ignored. It takes its time beside the path; nothing is lost where none can be made.

use super::ignores::Ignores;
use super::image::{Folder, Kind, Leaf, Looks, Time};
use super::index;
use super::look::{Image, is_of_git, joined, open};
use super::objects::ObjectId;
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::scratch::{git_in, listing};
use rustix::fs::{AtFlags, CWD, Dir, FileType, fstat, statat};
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders in folders of which nothing is kept.
const DEEPEST: usize = 16;

/// What an image is made from.
pub(super) struct Read {
    /// The scratch folder, whose index holds what git has read.
    pub(super) scratch: PathBuf,
    pub(super) exclude: Excludes,
    /// The tree that git made of it.
    pub(super) tree: String,
    /// A moment before, and the file system whose clock that was.
    pub(super) began: (Time, u64),
    /// Lists of what is ignored that are in no folder of the tree.
    pub(super) lists: Vec<PathBuf>,
}

/// `None`: there is something that only git can be asked about.
pub(super) async fn make(repository: Arc<Repository>, read: Read) -> Option<Image> {
    let runtime = tokio::runtime::Handle::current();
    let work = move || {
        let ignored = |asked: Vec<u8>| runtime.block_on(ignored(&repository, &read.scratch, asked));
        read.image(&repository, ignored)
    };
    tokio::task::spawn_blocking(work).await.ok().flatten()
}

/// Which of the paths are ignored, whether or not they are in an index.
async fn ignored(repository: &Repository, scratch: &Path, asked: Vec<u8>) -> Option<HashSet<Vec<u8>>> {
    let call = git_in(scratch, repository, &repository.common_dir.join("objects"), "check-ignore");
    let call = call.args(["--no-index", "--stdin", "-z", "-v"]).input(asked).thorough();
    let said = call.run().await.ok().filter(|said| matches!(said.code, Some(0 | 1)))?;
    // Source, line, pattern, path.
    let words: Vec<&[u8]> = said.stdout.split(|&byte| byte == 0).collect();
    Some(words.chunks_exact(4).filter(|words| !words[2].starts_with(b"!")).map(|words| words[3].to_vec()).collect())
}

impl Read {
    fn image(&self, repository: &Repository, ignored: impl Fn(Vec<u8>) -> Option<HashSet<Vec<u8>>>) -> Option<Image> {
        let objects = repository.objects();
        let id = if repository.object_format == "sha256" { 32 } else { 20 };
        let index = fs::read(self.scratch.join("git/index")).ok()?;
        let (mut root, mut lists) = (Folder::default(), Ignores::default());
        for list in &self.lists {
            match fs::read(list) {
                Ok(list) => lists.take(&list),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => return None,
            }
        }
        let mut todo = vec![Vec::new()];
        for entry in index::entries(&index, id)? {
            let kind = match entry.mode {
                0o100_644 => Kind::File,
                0o100_755 => Kind::Program,
                0o120_000 => Kind::Link,
                _ => return None,
            };
            let (above, name) = entry.path.split_at(memchr::memrchr(b'/', &entry.path).map_or(0, |at| at + 1));
            if name == b".gitignore" {
                lists.take(&fs::read(repository.top.join(paths::path(&entry.path))).ok()?);
            }
            let above = above.strip_suffix(b"/").unwrap_or(above);
            if todo.last().map(Vec::as_slice) != Some(above) {
                // Each folder above it as well.
                todo.extend((0..above.len()).filter(|&at| above[at] == b'/').map(|at| above[..at].to_vec()));
                todo.push(above.to_vec());
            }
            let looks = entry.looks.before(self.began.0);
            root.below(above)?.put(name, Leaf { kind, id: ObjectId::new(entry.id)?, looks });
        }
        todo.sort();
        todo.dedup();
        for _ in 0..DEEPEST {
            if todo.is_empty() {
                break;
            }
            todo = self.names(&repository.top, &mut root, &todo, &ignored)?;
        }
        root.name(&objects);
        let image = Image { root: Arc::new(root), ignores: Arc::new(lists), objects, device: self.began.1 };
        (todo.is_empty() && image.tree() == self.tree).then_some(image)
    }

    /// Reads the names in these folders. Gives those of folders that git has seen nothing in.
    fn names(
        &self,
        top: &Path,
        root: &mut Folder,
        todo: &[Vec<u8>],
        ignored: &impl Fn(Vec<u8>) -> Option<HashSet<Vec<u8>>>,
    ) -> Option<Vec<Vec<u8>>> {
        let mut unknown = Vec::new();
        for path in todo {
            let fd = open(CWD, paths::bytes(&top.join(paths::path(path)))).ok()?;
            let folder = root.below(path)?;
            folder.looks = Looks::of(&fstat(&fd).ok()?).before(self.began.0);
            for entry in Dir::read_from(&fd).ok()? {
                let entry = entry.ok()?;
                let name = entry.file_name().to_bytes();
                if matches!(name, b"." | b"..") || (path.is_empty() && name == b".git") || folder.has(name) {
                    continue;
                }
                let full = joined(path, name);
                if self.exclude.covers(&full) {
                    continue;
                }
                if is_of_git(name) {
                    return None;
                }
                let stat = statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
                match FileType::from_raw_mode(stat.st_mode) {
                    FileType::Directory => unknown.push((path, name.to_vec(), true)),
                    FileType::RegularFile | FileType::Symlink => unknown.push((path, name.to_vec(), false)),
                    _ => {}
                }
            }
        }
        let paths: Vec<Vec<u8>> = unknown.iter().map(|(path, name, _)| joined(path, name)).collect();
        let asked = todo.iter().filter(|path| !path.is_empty()).chain(&paths).map(Vec::as_slice);
        let asked = listing(asked);
        let ignored = if asked.is_empty() { HashSet::new() } else { ignored(asked)? };
        // Of what is in there, only what somebody has added counts.
        if todo.iter().any(|path| ignored.contains(path)) {
            return None;
        }
        let mut more = Vec::new();
        for ((path, name, is_folder), full) in unknown.iter().zip(paths) {
            if ignored.contains(&full) {
                root.below(path)?.ignored.insert(name.as_slice().into(), *is_folder);
            } else if *is_folder {
                root.below(&full)?;
                more.push(full);
            } else {
                // It came after git had looked.
                root.below(path)?.looks = None;
            }
        }
        Some(more)
    }
}
