//! Git's index file, as far as it says which paths there are.

use super::image::Looks;
use std::borrow::Cow;

/// Beyond so many paths nothing is remembered of them.
const MOST: usize = 200_000;

/// What an entry begins with, before the object's id: times, device, inode, mode, owner, size.
const STAT: usize = 40;
const INODE: usize = 20;
const MODE: usize = 24;
const SIZE: usize = 36;
const UNCHANGED: u8 = 0x80;
const EXTENDED: u8 = 0x40;
const STAGE: u8 = 0x30;

/// A file or link in an index.
pub(super) struct Entry<'a> {
    pub(super) path: Vec<u8>,
    pub(super) mode: u32,
    pub(super) id: &'a [u8],
    /// As it was when it was read.
    pub(super) looks: Looks,
}

/// The paths of an index with ids of so many bytes. `None`: it is of a kind that we do not read, or has other things than
/// files and links, or not all of them: submodules, conflicts, paths that are not checked out.
pub(super) fn paths(index: &[u8], id: usize) -> Option<Vec<Vec<u8>>> {
    Some(entries(index, id)?.into_iter().map(|entry| entry.path).collect())
}

/// The same with what is known of them. `None` also where somebody has told git to take one for unchanged.
pub(super) fn entries(index: &[u8], id: usize) -> Option<Vec<Entry<'_>>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let (version, count) = (number(4)?, usize::try_from(number(8)?).ok()?);
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) || count > MOST {
        return None;
    }
    let mut at = 12;
    let mut entries: Vec<Entry<'_>> = Vec::with_capacity(count);
    for _ in 0..count {
        let began = at;
        let flags = at + STAT + id;
        let kind = number(at + MODE)? >> 12;
        if !matches!(kind, 0o10 | 0o12) || index.get(flags)? & (UNCHANGED | EXTENDED | STAGE) != 0 {
            return None;
        }
        let mut name = flags + 2;
        let mut path = Cow::Borrowed(&[][..]);
        if version == 4 {
            let (dropped, read) = varint(index.get(name..)?)?;
            let before = entries.last().map_or(&[][..], |entry| entry.path.as_slice());
            path = Cow::Borrowed(before.get(..before.len().checked_sub(dropped)?)?);
            name += read;
        }
        let length = memchr::memchr(0, index.get(name..)?)?;
        path.to_mut().extend_from_slice(&index[name..name + length]);
        // Older versions fill up with one to eight zeros.
        let end = name + length + 1;
        at = if version == 4 { end } else { at + (end - at).next_multiple_of(8) };
        let time = |from: usize| Some((i64::from(number(from)?), i64::from(number(from + 4)?)));
        entries.push(Entry {
            path: path.into_owned(),
            mode: number(began + MODE)?,
            id: index.get(began + STAT..flags)?,
            looks: Looks {
                inode: number(began + INODE)?,
                size: number(began + SIZE)?,
                modified: time(began + 8)?,
                changed: time(began)?,
            },
        });
    }
    // Extensions, before a hash of it all. One that may not be passed over says that the paths are not all of them: most
    // may be in another file.
    let mut rest = index.get(at..index.len().checked_sub(id)?)?;
    while !rest.is_empty() {
        let (head, after) = rest.split_at_checked(8)?;
        let (optional, length) = (head[0].is_ascii_uppercase(), u32::from_be_bytes(head[4..].try_into().ok()?));
        rest = after.get(usize::try_from(length).ok()?..).filter(|_| optional)?;
    }
    Some(entries)
}

/// Git's number of one or more bytes, and how many they are.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.first()? & 0x7f);
    let mut read = 1;
    while bytes[read - 1] & 0x80 != 0 {
        value = value.checked_add(1)?.checked_shl(7)? | usize::from(bytes.get(read)? & 0x7f);
        read += 1;
        if read > 8 {
            return None;
        }
    }
    Some((value, read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What git itself lists is what is read, for every version of the file.
    #[test]
    fn the_paths_of_every_version_are_those_that_git_lists_and_a_torn_file_gives_none() {
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let said = Command::new("git").current_dir(folder.path()).args(args).output().unwrap();
            assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
            said.stdout
        };
        git(&["init", "-q", "."]);
        for path in ["a", "ab/c", "ab/cd", "ab/cde/f.rs", "x/long name with blanks", "z"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        }
        std::fs::write(folder.path().join(format!("y{}", "y".repeat(200))), "").unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        git(&["add", "-A"]);
        for version in ["2", "4"] {
            git(&["update-index", "--index-version", version]);
            let listed = git(&["ls-files", "-z"]);
            let listed: Vec<&[u8]> = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
            let index = std::fs::read(folder.path().join(".git/index")).unwrap();
            assert_eq!(index[7], version.as_bytes()[0] - b'0');
            assert_eq!(paths(&index, 20).unwrap(), listed, "version {version}");
            for cut in 0..200 {
                assert_eq!(paths(&index[..cut], 20), None, "cut at {cut}");
            }
        }
        git(&["update-index", "--split-index"]);
        assert_eq!(paths(&std::fs::read(folder.path().join(".git/index")).unwrap(), 20), None, "a split index");
        git(&["update-index", "--no-split-index"]);
        // Marked as not checked out: more flags than we read.
        git(&["update-index", "--skip-worktree", "a"]);
        assert_eq!(paths(&std::fs::read(folder.path().join(".git/index")).unwrap(), 20), None);
    }

    #[test]
    fn a_folder_may_have_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let git = Command::new("git").current_dir(folder.path()).args(args).status().unwrap();
            assert!(git.success(), "{args:?}");
        };
        git(&["init", "-q", "."]);
        std::fs::create_dir(folder.path().join("links")).unwrap();
        std::fs::write(folder.path().join("links/a"), "text").unwrap();
        git(&["add", "-A"]);
        // Its trees are remembered in the index, with their names.
        git(&["write-tree"]);
        let index = std::fs::read(folder.path().join(".git/index")).unwrap();
        let trees = memchr::memmem::find(&index, b"TREE").unwrap();
        assert!(memchr::memmem::find(&index[trees..], b"links").is_some());
        assert_eq!(paths(&index, 20).unwrap(), [b"links/a".to_vec()]);
        assert_eq!(paths(&index[..trees + 6], 20), None, "torn");
    }

    #[test]
    fn an_index_with_another_repository_in_it_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join(".git/index");
        let git = |args: &[&str]| {
            assert!(Command::new("git").current_dir(folder.path()).args(args).status().unwrap().success(), "{args:?}");
        };
        git(&["init", "-q", "."]);
        git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},sub", "1".repeat(40))]);
        assert_eq!(paths(&std::fs::read(index).unwrap(), 20), None);
    }
}
