//! Removing snapshots that have become old, of each ticket under its lock, with a record of what was removed. A ref that is
//! gone already is only not found again: who is killed in between has left nothing half done.

use super::{Commits, LOOK, MOMENT};
use crate::adapters::git::WorkTree;
use crate::adapters::store::{LockError, TicketLock};
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::outcome::DoneHow;
use crate::domain::pruning::{Keep, KeptRef, OfRun, SnapshotsPruned, outdated};
use crate::domain::record::Record;
use crate::domain::summary::{RunState, RunSummary};
use crate::runtime::ticket_runs::{is_finished, of_ticket};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

/// What became of a ticket's old snapshots. `snapshots prune --json`: add, never rename.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pruned {
    pub ticket: String,
    /// How many were removed, or would be.
    pub snapshots: usize,
    /// What git frees of the disk when it next collects its garbage.
    pub bytes: Option<u64>,
    /// Why they are still there.
    pub skipped: Option<String>,
}

/// How it is done.
#[derive(Clone, Copy, Debug)]
pub struct Prune<'a> {
    pub keep: Keep,
    /// Nothing is removed.
    pub is_tried: bool,
    /// The file of a ticket whose run has just ended: its lock is waited for.
    pub ended: Option<&'a Path>,
}

impl Commits {
    /// Removes the old snapshots of all tickets in the repository that `folder` is in. Tickets with nothing to remove are not
    /// told.
    pub async fn prune(&self, folder: &Path, how: Prune<'_>, by: &Answerer) -> Result<Vec<Pruned>, String> {
        let runs = block_in_place(|| self.store.runs()).map_err(|error| error.to_string())?;
        let Some(first) = runs.first() else { return Ok(Vec::new()) };
        let tree =
            WorkTree::open(folder, &self.store.run_folder(first.run)).await.map_err(|error| error.to_string())?;
        let all = tree.kept_refs().await.map_err(|error| error.to_string())?;
        let mut told = Vec::new();
        for refs in all.values() {
            let has: BTreeSet<RunId> = refs.iter().filter_map(|one| one.run).collect();
            let paths: BTreeSet<&str> =
                runs.iter().filter(|run| has.contains(&run.run)).map(|run| run.ticket_path.as_str()).collect();
            for path in &paths {
                let own: BTreeSet<RunId> =
                    runs.iter().filter(|run| run.ticket_path == *path).map(|run| run.run).collect();
                // Of two tickets with one id it is not known for which one something was saved.
                let is_own = |one: &&KeptRef| one.run.map_or(paths.len() == 1, |run| own.contains(&run));
                let refs: Vec<&KeptRef> = refs.iter().filter(is_own).collect();
                // What is wrong with one ticket keeps nothing of the others.
                told.extend(self.prune_ticket(&tree, path, &refs, how, by).await.unwrap_or_else(|why| {
                    let ticket = runs.iter().find(|run| run.ticket_path == *path)?.ticket.to_string();
                    Some(Pruned { ticket, snapshots: refs.len(), bytes: None, skipped: Some(why) })
                }));
            }
        }
        Ok(told)
    }

    async fn prune_ticket(
        &self,
        tree: &WorkTree,
        path: &str,
        refs: &[&KeptRef],
        how: Prune<'_>,
        by: &Answerer,
    ) -> Result<Option<Pruned>, String> {
        let now = self.clock.now();
        let old = |runs: &[RunSummary], is_closed| self.old(runs, refs, is_closed, how.keep, now);
        let runs = block_in_place(|| self.store.runs()).map_err(|error| error.to_string())?;
        let runs = of_ticket(runs, path);
        // As if nothing of it was needed: most tickets have nothing old.
        let (Some(latest), false) = (runs.last(), old(&runs, true)?.is_empty()) else { return Ok(None) };
        let ticket = latest.ticket.to_string();
        let skipped =
            |snapshots, why| Some(Pruned { ticket: ticket.clone(), snapshots, bytes: None, skipped: Some(why) });
        let _lock = match self.lock_of(latest, how.ended).await {
            Ok(lock) => lock,
            Err(why) => return Ok(skipped(0, why)),
        };
        // Before the lock another program may have done anything.
        let runs = block_in_place(|| self.store.runs()).map_err(|error| error.to_string())?;
        let runs = of_ticket(runs, path);
        let Some(latest) = runs.last() else { return Ok(None) };
        let old = old(&runs, is_finished(path))?;
        if old.is_empty() {
            return Ok(None);
        }
        if runs.iter().any(|run| run.committing) {
            return Ok(skipped(old.len(), "a restore, revert or commit of it is pending".to_owned()));
        }
        if how.is_tried {
            return Ok(Some(Pruned { ticket, snapshots: old.len(), bytes: None, skipped: None }));
        }
        let bytes = match tree.forget(&old).await {
            Ok(bytes) => bytes,
            Err(error) => return Ok(skipped(old.len(), error.to_string())),
        };
        let record = SnapshotsPruned { removed: old.len(), bytes, by: by.clone() };
        let _turn = self.turn.lock().await;
        if let Err(error) = self.append(latest, Record::SnapshotsPruned(record)).await {
            tracing::warn!(%error, "the journal does not say that old snapshots were removed");
        }
        Ok(Some(Pruned { ticket, snapshots: old.len(), bytes, skipped: None }))
    }

    /// Those that go.
    fn old<'a>(
        &self,
        runs: &[RunSummary],
        refs: &[&'a KeptRef],
        is_closed: bool,
        keep: Keep,
        now: crate::base::time::Timestamp,
    ) -> Result<Vec<&'a KeptRef>, String> {
        let mut of = Vec::new();
        for run in runs {
            let verified = if is_closed { None } else { self.verified(run.run)? };
            of.push(OfRun {
                run: run.run,
                started: run.started,
                updated: run.updated,
                is_over: run.state == RunState::Ended,
                is_committed: run.commit.is_some(),
                verified,
            });
        }
        Ok(outdated(refs, &of, !is_closed, keep, now))
    }

    /// The last iteration of a run whose phase commands have verified.
    fn verified(&self, run: RunId) -> Result<Option<u32>, String> {
        let loaded = block_in_place(|| self.store.load(run)).map_err(|error| error.to_string())?;
        Ok(loaded.records.iter().rev().find_map(|stored| match &stored.record {
            Record::PhaseDone { n: n @ 1.., how: DoneHow::Verified, .. } => Some(*n),
            _ => None,
        }))
    }

    async fn lock_of(&self, run: &RunSummary, ended: Option<&Path>) -> Result<TicketLock, String> {
        let (path, begun) = (Path::new(&run.ticket_path), Instant::now());
        loop {
            match block_in_place(|| self.store.lock_ticket(path, &self.holder(run))) {
                Ok(lock) => return Ok(lock),
                Err(LockError::Held { .. }) if ended == Some(path) && begun.elapsed() < MOMENT => sleep(LOOK).await,
                Err(LockError::Held { holder }) => return Err(format!("in use by {holder}")),
                Err(LockError::Store(error)) => return Err(error.to_string()),
            }
        }
    }
}
