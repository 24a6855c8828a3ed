//! Following runs that another program writes, without polling.
//!
//! The writer rewrites one byte of `<state>/bell` after each commit, and followers watch that file. Watching
//! the write-ahead log would not do: its pages are written, and the watcher woken, before the commit can be seen.

use super::bell::hear;
use super::error::StoreError;
use super::handle::Store;
use super::read::Loaded;
use crate::base::id::RunId;
use crate::domain::summary::RunSummary;
use notify::RecommendedWatcher;
use std::collections::HashMap;
use tokio::sync::mpsc;

/// A reader of one run's records as they come. Dropping it ends the watch.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    run: RunId,
    after: u64,
    rung: mpsc::Receiver<()>,
    _watch: RecommendedWatcher,
}

/// A reader of how all runs stand. Dropping it ends the watch.
#[derive(Debug)]
pub struct RunsFollower {
    store: Store,
    /// The last record of each run that was told.
    told: HashMap<String, i64>,
    rung: mpsc::Receiver<()>,
    _watch: RecommendedWatcher,
}

impl Store {
    /// Follows how all runs stand, whichever program writes them.
    pub fn follow_runs(&self) -> Result<RunsFollower, StoreError> {
        let (watch, rung) = hear(&self.inner.bell)?;
        Ok(RunsFollower { store: self.clone(), told: HashMap::new(), rung, _watch: watch })
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
            let changed = self.store.runs_changed(&mut self.told)?;
            if !changed.is_empty() {
                return changed.into_iter().map(|run| self.store.as_seen(run)).collect();
            }
            self.rung.recv().await.ok_or(StoreError::Closed)?;
        }
    }
}
