//! Restoring files from a snapshot: what is wanted, what it would do, and what the journal says of it. Names are raw.

use crate::base::amount::counted;
use crate::domain::answerer::Answerer;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

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

    /// Whether the person has named this file itself, not only a folder that it is in.
    fn names(&self, path: &str) -> bool {
        self.only.contains(path)
    }
}

/// What the runs of other tickets have changed in the same working tree since a snapshot was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OthersWork {
    /// The tickets that have changed each file. Paths are relative to the top.
    pub files: BTreeMap<String, BTreeSet<String>>,
    /// Tickets of which it is not known which files they have changed.
    pub unknown: BTreeSet<String>,
}

impl OthersWork {
    /// The tickets that have changed a file which is not to be restored, because the person has not named it.
    pub fn keeps_back(&self, wanted: &WantedFiles, path: &str) -> Option<Spared> {
        self.of(path).filter(|_| !wanted.names(path))
    }

    /// Who has changed the file.
    pub fn of(&self, path: &str) -> Option<Spared> {
        let tickets = self.files.get(path)?.clone();
        Some(Spared { path: path.to_owned(), tickets })
    }
}

/// A file that the runs of other tickets have changed since the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spared {
    pub path: String,
    pub tickets: BTreeSet<String>,
}

impl Spared {
    /// The tickets of these files, in words; nothing: there are none.
    pub fn tickets(all: &[Self]) -> String {
        let tickets: BTreeSet<&str> = all.iter().flat_map(|one| one.tickets.iter().map(String::as_str)).collect();
        listed(tickets.into_iter())
    }
}

/// Which work of other tickets a restore of these files takes back, in words; their own journals do not say so.
pub fn others_work(all: &[Spared]) -> String {
    let files = counted(all.len(), "file");
    format!("what {} changed since in {files}; its phases stay ticked", Spared::tickets(all))
}

/// Names in a list: `a, b and c`.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match &names[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
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
    /// Files that stay because other tickets' runs have changed them since, and the person has not named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spares: Vec<Spared>,
    /// Of those that are written or removed, the ones that other tickets' runs have changed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Spared>,
    /// Tickets of which it is not known what they have changed since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unknown: BTreeSet<String>,
    /// Where the files would be written, where the worktree that the snapshots were taken in is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<PathBuf>,
}

/// What a restore did. Paths are relative to the top of the working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// What a person calls the snapshot of the state before; empty: nothing differed, and none was taken.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub saved: String,
    pub written: Vec<String>,
    pub removed: Vec<String>,
    pub kept: Vec<Kept>,
    /// Files that other tickets' runs have changed since, and that were left as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spared: Vec<Spared>,
    /// Of the files that were written or removed, those that other tickets' runs have changed since: taken back, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Spared>,
    /// Phases that were found done and whose work is not in the files now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_back: Vec<String>,
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
    /// How many of them were removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// Phases that were found done and whose work is not in the files any more; `None`: that is as it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<Vec<String>>,
    /// Why it is not done, or not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl RestoreSettled {
    /// Of a restore whose program was ended, and nobody can see how far it came.
    pub fn unseen(intended: RestoreIntended, error: &str) -> Self {
        let RestoreIntended { id, pick, saved, .. } = intended;
        let trouble = Some(format!("programmator exited in between; the result is unknown: {error}"));
        Self { id, pick, saved, trouble, ..Self::default() }
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
