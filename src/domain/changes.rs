//! What differs between the working tree and a snapshot of a run, for front ends. Names and lines are raw.

use crate::base::hex::hex;
use crate::domain::answerer::Answerer;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Since when.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Since {
    /// Since this snapshot was taken.
    Snapshot(String),
    /// From this snapshot to that one.
    Between(String, String),
    /// From this snapshot to the files as they are, also of a run that has ended.
    Now(String),
    /// Each run of the ticket from its first snapshot to its end, this one to now while its end is not known.
    Ticket,
    /// Since the branch began: the merge base with its upstream or the default branch.
    Base,
}

/// All that differs, as a patch of a size that Claude can be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeDiff {
    /// It says at its end what was left out.
    pub text: String,
    /// Files that it does not show to their end.
    pub left_out: Vec<String>,
}

/// The files that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// What their names are relative to.
    pub top: PathBuf,
    /// In order of name; the first of them.
    pub files: Vec<ChangedFile>,
    /// All of them.
    pub total: usize,
    /// Lines, in all of them.
    pub added: u64,
    pub removed: u64,
    /// There is no git: nothing is known of their lines.
    pub plain: bool,
    /// They are compared with how they were at the run's end, not with how they are now.
    #[serde(default)]
    pub at_end: bool,
    /// The commit that they are compared with, in words, where it is the one that the branch began at.
    #[serde(default)]
    pub base: Option<String>,
    /// Files that the runs of other tickets have changed since, and which tickets.
    #[serde(default)]
    pub others: BTreeMap<String, BTreeSet<String>>,
}

impl Changes {
    /// With what was changed later, apart from these; a file that both have counts once, its lines both times.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        let untold = (self.total - self.files.len()) + (later.total - later.files.len());
        for file in later.files {
            let before = if let Change::Renamed(from) = &file.change { from } else { &file.path };
            let known = self.files.iter().position(|known| known.path == *before);
            let known = known.or_else(|| self.files.iter().position(|known| known.path == file.path));
            match known {
                Some(at) => self.files[at] = std::mem::take(&mut self.files[at]).and(file),
                None => self.files.push(file),
            }
        }
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        self.total = self.files.len() + untold;
        (self.added, self.removed) = (self.added + later.added, self.removed + later.removed);
        (self.plain, self.at_end, self.base) = (self.plain || later.plain, later.at_end, later.base);
        self
    }
}

/// A file that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    pub change: Change,
    pub lines: Lines,
}

impl ChangedFile {
    /// Changed once more.
    fn and(self, later: Self) -> Self {
        let change = match (self.change, later.change) {
            (Change::Added, Change::Modified | Change::Renamed(_)) => Change::Added,
            (Change::Deleted, Change::Added) => Change::Modified,
            (Change::Renamed(from), Change::Modified | Change::Renamed(_)) => Change::Renamed(from),
            (_, change) => change,
        };
        let lines = match (self.lines, later.lines) {
            (Lines::Counted { added, removed }, Lines::Counted { added: more, removed: less }) => {
                Lines::Counted { added: added + more, removed: removed + less }
            }
            (_, lines) => lines,
        };
        Self { path: later.path, change, lines }
    }
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    Added,
    #[default]
    Modified,
    Deleted,
    /// It had this name.
    Renamed(String),
}

impl Change {
    pub fn letter(&self) -> &'static str {
        match self {
            Self::Added => "A",
            Self::Modified => "M",
            Self::Deleted => "D",
            Self::Renamed(_) => "R",
        }
    }
}

/// How many lines of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lines {
    Counted {
        added: u64,
        removed: u64,
    },
    /// No text, or too large to be compared.
    Binary,
    /// A repository of its own: its commit differs.
    Submodule,
    #[default]
    Unknown,
}

/// A file, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    pub hunks: Vec<Hunk>,
    /// There is more than was sent.
    pub cut: bool,
}

/// Lines that changed, with some around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The number of its first line before, and now.
    pub old: u64,
    pub new: u64,
    pub lines: Vec<(Side, String)>,
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    Both,
    Old,
    New,
}

impl Hunk {
    /// Names the change by its lines, in hexadecimal: the same in every comparison that shows it alike.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for (side, text) in &self.lines {
            hasher.update([*side as u8]);
            hasher.update(text.len().to_le_bytes());
            hasher.update(text);
        }
        hex(&hasher.finalize())
    }
}

/// A hunk of a file is about to be reverted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertIntended {
    /// Names this try.
    pub id: String,
    /// As the changes call it, and where it is.
    pub path: String,
    pub file: PathBuf,
    /// [`Hunk::digest`].
    pub hunk: String,
    /// What a person calls the snapshot of the files as they were before.
    pub saved: String,
    /// SHA-256 of the file's content before and after, in hexadecimal.
    pub before: String,
    pub after: String,
    pub by: Answerer,
}

/// It is reverted, or it is known that it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertSettled {
    /// Which try.
    pub id: String,
    pub path: String,
    pub saved: String,
    /// Why it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The hunks of a run's work that were reverted, as its records tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reverts {
    /// It was begun, and its end is not known yet.
    pub open: Option<RevertIntended>,
    /// Path and digest of each.
    done: BTreeSet<(String, String)>,
}

impl Reverts {
    pub fn begin(&mut self, intended: &RevertIntended) {
        self.open = Some(intended.clone());
    }

    pub fn settle(&mut self, settled: &RevertSettled) {
        if let Some(open) = self.open.take_if(|open| open.id == settled.id)
            && settled.trouble.is_none()
        {
            self.done.insert((open.path, open.hunk));
        }
    }

    pub fn has(&self, path: &str, hunk: &str) -> bool {
        self.done.contains(&(path.to_owned(), hunk.to_owned()))
    }

    /// How many hunks of this file.
    pub fn of(&self, path: &str) -> usize {
        self.done.iter().filter(|(reverted, _)| reverted == path).count()
    }
}
