//! What differs between the working tree and a snapshot of a run, for front ends. Names and lines are raw.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Since when.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Since {
    /// Since this snapshot was taken.
    Snapshot(String),
    /// From the first snapshot of the ticket's first run to the end of this run, or to now while that is not known.
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
    /// The branch whose merge base they are compared with.
    #[serde(default)]
    pub base: Option<String>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    pub change: Change,
    pub lines: Lines,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    Added,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lines {
    Counted {
        added: u64,
        removed: u64,
    },
    /// No text, or too large to be compared.
    Binary,
    /// A repository of its own: its commit differs.
    Submodule,
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
