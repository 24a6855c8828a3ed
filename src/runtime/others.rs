//! Runs that this program does not work on: how they stand, and what becomes of one that a front end looks at. Both are
//! read from the store, whichever program writes there.

use crate::adapters::store::{Store, StoreError};
use crate::base::id::RunId;
use crate::domain::news::News;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunSummary;
use crate::runtime::reporter::Reporter;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long one look at all runs stands before the next.
const PACE: Duration = Duration::from_secs(1);

/// What is told of other programs' runs.
pub struct Others {
    store: Store,
    reporter: Reporter,
    /// The one task that tells how runs stand; it begins anew when front ends ask for all of them.
    listing: JoinSet<()>,
    /// One for each run that is looked at.
    shown: BTreeMap<RunId, JoinSet<()>>,
}

impl Others {
    pub fn new(store: Store, reporter: Reporter) -> Self {
        Self { store, reporter, listing: JoinSet::new(), shown: BTreeMap::new() }
    }

    /// Tells how every run stands, and from now on each that changes.
    pub fn list(&mut self) {
        let (store, reporter) = (self.store.clone(), self.reporter.clone());
        self.listing = JoinSet::new();
        self.listing.spawn(async move {
            if let Err(error) = tell_all(&store, &reporter).await {
                tracing::warn!(%error, "it is not told how other programs' runs stand");
            }
        });
    }

    /// Tells everything about a run, and from now on its records. Gives what it is; `None`: there is no such run.
    pub fn show(&mut self, run: RunId) -> Result<Option<RunSummary>, StoreError> {
        let summary = self.store.runs()?.into_iter().find(|summary| summary.run == run);
        let Some(summary) = summary else { return Ok(None) };
        let after = self.store.load(run)?.records.last().map_or(0, |last| last.seq);
        self.reporter.opened(run, &summary.ticket, after, Arc::new(self.store.scrollback(run, classify)?));
        let (store, reporter) = (self.store.clone(), self.reporter.clone());
        let mut telling = JoinSet::new();
        telling.spawn(async move {
            if let Err(error) = tell_one(&store, &reporter, run, after).await {
                tracing::warn!(%error, %run, "the run is not followed");
            }
        });
        self.shown.insert(run, telling);
        Ok(Some(summary))
    }
}

async fn tell_all(store: &Store, reporter: &Reporter) -> Result<(), StoreError> {
    let mut follower = store.follow_runs()?;
    loop {
        for run in follower.next().await? {
            reporter.tell(&News::RunSeen(Arc::new(run)));
        }
        tokio::time::sleep(PACE).await;
    }
}

async fn tell_one(store: &Store, reporter: &Reporter, run: RunId, after: u64) -> Result<(), StoreError> {
    let mut follower = store.follow(run, after)?;
    loop {
        for record in follower.next().await?.records {
            reporter.tell(&News::Recorded(record));
        }
    }
}
