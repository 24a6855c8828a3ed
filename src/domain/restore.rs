//! Restoring files from a snapshot: what is wanted, what it would do, and what the journal says of it. Names are raw.

use crate::domain::answerer::Answerer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a person wants restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedFiles {
    /// The snapshot: its git object, or what a person calls it.
    pub snapshot: String,
    /// These files and folders alone; none: all that differ.
    pub only: BTreeSet<String>,
}

impl WantedFiles {
    /// Whether it is about this file.
    pub fn covers(&self, path: &str) -> bool {
        let below =
            |one: &String| path.strip_prefix(one.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
        self.only.is_empty() || self.only.contains(path) || self.only.iter().any(below)
    }
}

/// What a restore would do to the working tree as it is. Paths are relative to its top.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Names the working tree's content: another one makes another plan.
    pub tree: String,
    pub writes: Vec<String>,
    pub removes: Vec<String>,
    /// Files that would stay, though they differ.
    pub keeps: Vec<Kept>,
}

/// What a restore did. Paths are relative to the top of the working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// What a person calls the snapshot of the state before.
    pub saved: String,
    pub written: Vec<String>,
    pub removed: Vec<String>,
    pub kept: Vec<Kept>,
    /// Why some of them are not written, where git failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A file that a restore leaves as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub path: String,
    pub why: String,
}

/// Files are about to be restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreIntended {
    /// Names this try.
    pub id: String,
    pub wanted: WantedFiles,
    /// What a person calls the snapshot that is restored, and that of the files as they were before.
    pub pick: String,
    pub saved: String,
    /// How many files.
    pub files: usize,
    pub by: Answerer,
}

/// They are restored, or it is known how far that came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreSettled {
    /// Which try.
    pub id: String,
    pub pick: String,
    pub saved: String,
    /// How many files were written or removed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Why it is not done, or not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl RestoreSettled {
    /// Of a restore whose program was ended, and nobody can see how far it came.
    pub fn unseen(intended: RestoreIntended, error: &str) -> Self {
        let RestoreIntended { id, pick, saved, .. } = intended;
        let trouble = Some(format!("programmator ended meanwhile; what came of it cannot be seen: {error}"));
        Self { id, pick, saved, files: None, trouble }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_all_that_is_in_it() {
        let wanted = |only: &[&str]| WantedFiles {
            only: only.iter().map(ToString::to_string).collect(),
            ..WantedFiles::default()
        };
        assert!(wanted(&[]).covers("a/b.rs"));
        for (only, path, is_meant) in [
            ("a", "a/b.rs", true),
            ("a/", "a/b.rs", true),
            ("a", "ab.rs", false),
            ("a/b.rs", "a/b.rs", true),
            ("a/b", "a", false),
        ] {
            assert_eq!(wanted(&[only]).covers(path), is_meant, "{only} {path}");
        }
    }
}
