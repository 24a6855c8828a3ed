//! A commit of what a ticket's runs have done: what would go in, what stays out and why, what came of it. Plain data for
//! front ends; names of files are raw.

use crate::domain::changes::ChangedFile;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a commit would be, as things stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitPlan {
    /// What the names of files are relative to.
    pub top: PathBuf,
    /// The commit that it would stand on; `None`: it would be the first.
    pub head: Option<String>,
    /// The branch that it would go on; `None`: HEAD is detached.
    pub branch: Option<String>,
    /// Names the content of the working tree: another one makes another plan.
    pub tree: String,
    /// What goes in.
    pub files: Vec<ChangedFile>,
    /// Lines, in all of them.
    pub added: u64,
    pub removed: u64,
    pub left_out: Vec<LeftOut>,
    /// Hooks and settings of the repository that were changed since the ticket began: git would run what they say.
    pub programs: Vec<String>,
}

/// A file that the runs have changed and that stays out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub path: String,
    pub why: Why,
}

/// Why a file stays out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// It had uncommitted changes before.
    Before,
    /// Somebody else has changed it, between iterations or after the last one.
    Since,
    /// An iteration was cut off before its changes were seen.
    Unseen,
    /// What it holds was moved there from a file that stays out.
    Moved,
    /// The index holds another version of it.
    Staged,
    /// A repository of its own.
    Repository,
}

impl Why {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Before => "had uncommitted changes before the run",
            Self::Since => "was also changed outside the run",
            Self::Unseen => "changed in an iteration that was cut off",
            Self::Moved => "was moved from a file that stays out",
            Self::Staged => "another version of it is staged",
            Self::Repository => "a repository of its own",
        }
    }
}

/// What the person has agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    pub message: String,
    pub head: Option<String>,
    pub tree: String,
    /// The changed hooks and settings that they have been shown.
    pub programs: Vec<String>,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committed {
    pub id: String,
    pub files: usize,
    /// What did not work out after it was made.
    pub trouble: Option<String>,
}
