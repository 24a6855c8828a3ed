//! A ticket that was forked from a snapshot of another one. Plain data.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The new ticket, and where it is worked on. `fork --json`: add, never rename.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forked {
    pub ticket: String,
    /// Its file.
    pub path: PathBuf,
    /// The top of its worktree.
    pub worktree: PathBuf,
    pub branch: String,
    /// The commit that the branch begins at: what the snapshot has besides is uncommitted there.
    pub base: String,
    /// The ticket that it comes from, and the snapshot.
    pub of: String,
    pub snapshot: String,
    /// Phases that are open again; `None`: it is not known which were done then, and all boxes are as they are now.
    pub reopened: Option<Vec<String>>,
}
