//! Clears away what old runs have left: what was printed in them, old snapshots, worktrees of finished tickets, rotated logs.
//! The journal stays. `outputs` chooses in the state folder, `repositories` among snapshots and worktrees.
//!
//! Each thing goes by itself, under the lock of its ticket, and what is gone is not found again: who is killed in between has
//! left nothing that the next one does not finish.

mod outputs;
mod repositories;

use crate::adapters::private_file;
use crate::adapters::store::StoreError;
use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use crate::domain::leftovers::KeepLeftovers;
use crate::runtime::offline::Offline;
use crate::runtime::restoring::TicketsOf;
use crate::runtime::supervisor::Rules;
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How often it is done without being asked for.
const DAILY: Duration = Duration::from_secs(86_400);
/// The file whose age tells when it was done last.
const STAMP: &str = "cleaned-up";

/// What it is done with.
pub struct Cleanup {
    pub offline: Offline,
    pub rules: Rules,
    pub tickets: TicketsOf,
}

/// How it is done.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub keep: KeepLeftovers,
    /// Nothing is removed.
    pub is_tried: bool,
    pub by: Answerer,
}

/// A kind of what is cleared away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What was printed in a run.
    Output,
    Log,
    /// Of another machine's run.
    Copy,
    /// Snapshots of a ticket.
    Snapshots,
    Worktree,
}

/// What became of one thing. `gc --json`: add, never rename.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cleared {
    pub kind: Kind,
    /// What it is, for people.
    pub what: String,
    /// Of the disk. Of snapshots: what git frees when it next collects its garbage, where that is known.
    pub bytes: Option<u64>,
    /// Why it is still there.
    pub skipped: Option<String>,
}

/// Why nothing was cleared away.
#[derive(Debug, thiserror::Error)]
pub enum CleanupError {
    #[error("another cleanup is running")]
    Held,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Cleanup {
    /// Clears away what is old, or finds out what would be.
    pub async fn run(&self, wanted: &Wanted) -> Result<Vec<Cleared>, CleanupError> {
        let store = &self.offline.store;
        let Some(_lock) = store.lock_cleanup()? else { return Err(CleanupError::Held) };
        let mut all = self.outputs(wanted).await?;
        all.extend(self.snapshots(wanted).await?);
        // With a worktree go files that git ignores, which nobody can bring back: a person says so.
        if wanted.by != Answerer::CONFIGURATION {
            all.extend(self.worktrees(wanted).await?);
        }
        // Whoever is stopped before has not done it.
        if !wanted.is_tried
            && let Err(error) = private_file::write(&store.folder().join(STAMP), "")
        {
            tracing::warn!(%error, "it is not noted that old runs were cleared up");
        }
        Ok(all)
    }
}

/// It was not done for a day.
pub fn is_due(state: &Path, now: Timestamp) -> bool {
    let done = fs::symlink_metadata(state.join(STAMP)).and_then(|data| data.modified());
    // A time that is still to come is none.
    done.map_or(true, |done| written_at(done) > now || now.since(written_at(done)) > DAILY)
}

/// The bytes that all of it frees at once.
pub fn total(all: &[Cleared]) -> u64 {
    let freed = all.iter().filter(|one| one.skipped.is_none() && one.kind != Kind::Snapshots);
    freed.filter_map(|one| one.bytes).sum()
}

fn written_at(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
