//! Following runs that another program writes, without polling.
//!
//! The writer rewrites one byte of `<state>/bell` after each commit, and followers watch that file. Watching
//! the write-ahead log would not do: its pages are written, and the watcher woken, before the commit can be seen.

use super::bell::hear;
use super::error::StoreError;
use super::handle::Store;
use super::read::Loaded;
use crate::adapters::system_watch::SystemWatch;
use crate::base::id::RunId;
use crate::domain::summary::{RunState, RunSummary};
use std::collections::HashMap;
use tokio::sync::mpsc;

/// A reader of one run's records as they come. Dropping it ends the watch.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    run: RunId,
    after: u64,
    rung: mpsc::Receiver<()>,
    _watch: SystemWatch,
}

/// A reader of how all runs stand. Dropping it ends the watch.
#[derive(Debug)]
pub struct RunsFollower {
    store: Store,
    /// The last record of each run that was told.
    told: HashMap<String, i64>,
    /// Those that were at work when they were told.
    at_work: HashMap<RunId, RunSummary>,
    rung: mpsc::Receiver<()>,
    _watch: SystemWatch,
}

impl Store {
    /// Follows how all runs stand, whichever program writes them.
    pub fn follow_runs(&self) -> Result<RunsFollower, StoreError> {
        let (watch, rung) = hear(&self.inner.bell)?;
        Ok(RunsFollower { store: self.clone(), told: HashMap::new(), at_work: HashMap::new(), rung, _watch: watch })
    }

    /// Follows a run from behind position `after_seq` (0: from its start), whichever program writes it.
    pub fn follow(&self, run: RunId, after_seq: u64) -> Result<Follower, StoreError> {
        let (watch, rung) = hear(&self.inner.bell)?;
        Ok(Follower { store: self.clone(), run, after: after_seq, rung, _watch: watch })
    }
}

impl Follower {
    /// Waits for news and returns it: at least one record, read or skipped. Cancel-safe.
    pub async fn next(&mut self) -> Result<Loaded, StoreError> {
        loop {
            let news = self.store.load_after(self.run, self.after)?;
            let read = news.records.last().map_or(0, |last| last.seq);
            let skipped = news.skipped.last().map_or(0, |last| last.seq);
            if read.max(skipped) > self.after {
                self.after = read.max(skipped);
                return Ok(news);
            }
            self.rung.recv().await.ok_or(StoreError::Closed)?;
        }
    }
}

impl RunsFollower {
    /// The runs that have changed since they were last told, at first all of them; waits for one. Cancel-safe.
    pub async fn next(&mut self) -> Result<Vec<RunSummary>, StoreError> {
        loop {
            let (changed, last) = self.store.runs_changed(&self.told)?;
            if !changed.is_empty() {
                let seen: Vec<RunSummary> =
                    changed.into_iter().map(|run| self.store.as_seen(run)).collect::<Result<_, _>>()?;
                self.told.extend(last);
                for run in &seen {
                    self.at_work.remove(&run.run);
                    if !matches!(run.state, RunState::Ended | RunState::Interrupted) {
                        self.at_work.insert(run.run, run.clone());
                    }
                }
                return Ok(seen);
            }
            self.rung.recv().await.ok_or(StoreError::Closed)?;
        }
    }

    /// The runs that were at work when they were last told.
    pub fn at_work(&self) -> impl Iterator<Item = RunId> {
        self.at_work.keys().copied()
    }

    /// Those of them whose program is gone, which no record says.
    pub fn died(&mut self) -> Result<Vec<RunSummary>, StoreError> {
        let seen = self.at_work.values().map(|run| self.store.as_seen(run.clone()));
        let mut died = seen.collect::<Result<Vec<_>, _>>()?;
        died.retain(|run| run.state == RunState::Interrupted);
        for run in &died {
            self.at_work.remove(&run.run);
        }
        Ok(died)
    }
}
