//! What differs between the working tree and a snapshot of a run, for front ends. Names and lines are raw.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Since when.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Since {
    /// Since this snapshot was taken.
    Snapshot(String),
    /// Each run of the ticket from its first snapshot to its end, this one to now while its end is not known.
    Ticket,
    /// Since the branch began: the merge base with its upstream or the default branch.
    Base,
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
