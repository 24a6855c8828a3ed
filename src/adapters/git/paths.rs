//! Paths as git has them (bytes, relative to the top, `/` between) and what is left out of evidence.
//!
//! Owns the one place where such bytes become paths of the system and back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// A path of the system from git's bytes.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// A path for people; what is no UTF-8 is replaced.
pub(super) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `path` between double quotes, as git's config and alternates files take it.
pub(super) fn quoted(path: &Path) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in bytes(path) {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(*b"\\n"),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

/// What the name of a file ends with that is to take another one's place, until it does.
pub(super) const STAGED: &str = ".programmator-revert";

/// What editors put beside a file that is open in them, as patterns of git: vim's swap and probe, backups, Emacs' locks and
/// saves.
const OF_EDITORS: [&str; 5] = [".*.sw?", "*~", "#*#", ".#*", "4913"];

/// A file of this name is one of [`OF_EDITORS`].
fn is_of_editor(name: &[u8]) -> bool {
    let is_swap = name.len() > 5 && name[0] == b'.' && name[..name.len() - 1].ends_with(b".sw");
    let is_saved = name.len() > 1 && name.starts_with(b"#") && name.ends_with(b"#");
    is_swap || is_saved || name.ends_with(b"~") || name.starts_with(b".#") || name == b"4913"
}

/// The folder, with `/` behind it where it is not the top, and the name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    path.split_at(path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1))
}

/// What neither counts as a change nor is saved or restored: the ticket and what an editor puts beside it, programmator's own
/// folder, and files that are [`STAGED`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Excludes {
    below_top: Vec<Vec<u8>>,
}

impl Excludes {
    /// From absolute paths and paths relative to the working directory or the top. A folder stands for all in
    /// it. Both the path as named and what it leads to (a ticket may be a symbolic link) are left out;
    /// what lies outside the tree needs no exclusion.
    pub(super) fn new(top: &Path, folder: &Path, exclude: &[PathBuf]) -> Self {
        let mut below_top: Vec<Vec<u8>> = exclude
            .iter()
            .flat_map(|path| [folder.join(path), top.join(path)])
            .flat_map(|path| [named(&path), std::fs::canonicalize(&path).ok()])
            .flatten()
            .filter_map(|path| Some(bytes(path.strip_prefix(top).ok()?).to_vec()))
            .filter(|path| !path.is_empty())
            .collect();
        below_top.sort();
        below_top.dedup();
        Self { below_top }
    }

    /// `path` is left out.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        let is_staged = path.ends_with(STAGED.as_bytes());
        let (folder, name) = split(path);
        is_staged
            || is_of_editor(name) && self.ticket_folders().any(|tickets| tickets == folder)
            || self.below_top.iter().any(|left_out| {
                path.strip_prefix(left_out.as_slice()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
            })
    }

    /// Where the person edits tickets, as [`split`] gives it.
    fn ticket_folders(&self) -> impl Iterator<Item = &[u8]> {
        let tickets = self.below_top.iter().filter(|path| path.ends_with(b".md"));
        tickets.map(|path| split(path).0)
    }

    /// Patterns of git's for what editors put beside tickets, relative to the top.
    pub(super) fn patterns(&self) -> impl Iterator<Item = Vec<u8>> {
        self.ticket_folders().flat_map(|folder| {
            OF_EDITORS.map(|pattern| {
                let mut out = Vec::new();
                for &byte in folder {
                    out.extend(b"*?[\\".contains(&byte).then_some(b'\\'));
                    out.push(byte);
                }
                out.extend(pattern.as_bytes());
                out
            })
        })
    }

    /// The paths, relative to the top.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.below_top.iter().map(Vec::as_slice)
    }
}

/// The path with its folder resolved but its last part as it is.
fn named(path: &Path) -> Option<PathBuf> {
    let parent = std::fs::canonicalize(path.parent()?).ok()?;
    Some(parent.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_a_folder_and_what_is_in_it_but_not_its_namesakes() {
        let tree = tempfile::tempdir().unwrap();
        let top = tree.path().canonicalize().unwrap();
        let folder = top.join("app");
        std::fs::create_dir_all(folder.join(".tickets")).unwrap();
        std::fs::create_dir_all(folder.join(".programmator")).unwrap();
        let excludes = Excludes::new(
            &top,
            &folder,
            &[folder.join(".tickets/tk-1.md"), PathBuf::from(".programmator"), PathBuf::from("/elsewhere/x.md")],
        );
        for covered in ["app/.tickets/tk-1.md", "app/.programmator/a/b", ".programmator"] {
            assert!(excludes.covers(covered.as_bytes()), "{covered}");
        }
        let of_editors = [".tk-1.md.swp", ".tk-2.md.swo", "tk-1.md~", "#tk-1.md#", ".#tk-1.md", "4913"];
        for name in of_editors {
            assert!(excludes.covers(format!("app/.tickets/{name}").as_bytes()), "{name}");
            assert!(!excludes.covers(format!("app/{name}").as_bytes()), "{name} elsewhere");
        }
        assert!(excludes.patterns().any(|pattern| pattern == b"app/.tickets/.*.sw?"));
        for counted in [
            "app/.tickets/tk-1.md.bak", "app/.tickets/#", "app/.tickets/a.sw", "app/.tickets/tk-2.md",
            "app/.programmatorx", "app", "x.md",
        ] {
            assert!(!excludes.covers(counted.as_bytes()), "{counted}");
        }
    }

    #[test]
    fn quotes_what_would_end_the_line() {
        assert_eq!(quoted(Path::new("/a\"b\\c\nd")), b"\"/a\\\"b\\\\c\\nd\"");
    }
}
