//! Snapshots of a working tree, and what going back to one does.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::timeline::contents::end_key;
use std::fmt;

/// Names a snapshot: `refs/programmator/<ticket>/<run>/<n>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotName {
    pub ticket: TicketId,
    pub run: RunId,
    /// The iteration that the snapshot was taken before, from 1.
    pub n: u32,
}

/// A snapshot: the id of a git commit, or `manifest-<sha256>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SnapshotId(pub String);

/// What the name of one begins with that is of a folder in no repository.
pub(super) const MANIFEST: &str = "manifest-";

impl SnapshotId {
    /// It is of a folder that was in no repository then.
    pub fn is_plain(&self) -> bool {
        self.0.starts_with(MANIFEST)
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What taking a snapshot gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub id: SnapshotId,
    /// What could not be read and is not in it, one clean line each.
    pub skipped: Vec<String>,
}

/// A stored snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The run; `None` for what `restore` saved before it began.
    pub run: Option<RunId>,
    /// The iteration it was taken before, or the number of the restore.
    pub n: u32,
    /// It was taken after that iteration, the last one of the run.
    pub is_end: bool,
    /// A commit; of an end a tree.
    pub id: SnapshotId,
    pub tree: String,
    /// When, to the second.
    pub time: Timestamp,
    /// What a person calls it: `3` in the newest run, `9b1c22d0/3` in an earlier one, `end` and `9b1c22d0/end` after the
    /// last iteration, `restore/1`.
    pub pick: String,
}

impl Snapshot {
    /// What the journals of the ticket's runs know it by.
    pub fn key(&self) -> String {
        match self.run {
            None => self.pick.clone(),
            Some(run) if self.is_end => end_key(run, self.n),
            Some(_) => self.id.0.clone(),
        }
    }
}
