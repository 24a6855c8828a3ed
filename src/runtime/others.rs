//! Runs that this program does not work on: how they stand, and what becomes of one that a front end looks at. Both are
//! read from the store, whichever program writes there.

use crate::adapters::store::{RunScrollback, Store, StoreError};
use crate::base::id::RunId;
use crate::domain::news::News;
use crate::domain::record::Record;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::{RunState, RunSummary};
use crate::runtime::reporter::Reporter;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long one look at all runs stands before the next.
const PACE: Duration = Duration::from_secs(1);

/// How long after the last change runs at work are looked at again: a program that is killed says nothing.
const ALIVE: Duration = Duration::from_secs(5);

/// Runs that are followed at once, those shown last; each has a watch.
const MOST: usize = 8;

/// What is told of other programs' runs.
pub struct Others {
    store: Store,
    reporter: Reporter,
    /// The one task that tells how runs stand; it begins anew when front ends ask for all of them.
    listing: JoinSet<()>,
    /// One for each run that is followed, the latest last.
    shown: VecDeque<(RunId, JoinSet<()>)>,
}

impl Others {
    pub fn new(store: Store, reporter: Reporter) -> Self {
        Self { store, reporter, listing: JoinSet::new(), shown: VecDeque::new() }
    }

    /// Tells how every run stands, and from now on each that changes.
    pub fn list(&mut self) {
        let (store, reporter) = (self.store.clone(), self.reporter.clone());
        self.listing = JoinSet::new();
        self.listing.spawn(async move {
            loop {
                // What cannot be read now can be read again soon.
                if let Err(error) = tell_all(&store, &reporter).await {
                    tracing::warn!(%error, "it cannot be told how runs stand");
                }
                tokio::time::sleep(ALIVE).await;
            }
        });
    }

    /// Tells everything about a run, and while it is at work what becomes of it. Gives what it is; `None`: there is no such run.
    pub fn show(&mut self, run: RunId) -> Result<Option<RunSummary>, StoreError> {
        let Some((summary, last)) = self.store.run(run)? else { return Ok(None) };
        let scrollback = self.store.scrollback(run, classify)?;
        self.reporter.shown(run, &summary.ticket, last, Arc::new(scrollback.clone()));
        self.shown.retain(|(shown, _)| *shown != run);
        if summary.state != RunState::Ended {
            let (store, reporter) = (self.store.clone(), self.reporter.clone());
            let mut telling = JoinSet::new();
            telling.spawn(async move {
                if let Err(error) = tell_one(&store, &reporter, run, last, &scrollback).await {
                    tracing::warn!(%error, %run, "the run is not followed");
                }
            });
            self.shown.push_back((run, telling));
        }
        if self.shown.len() > MOST {
            self.shown.pop_front();
        }
        Ok(Some(summary))
    }
}

async fn tell_all(store: &Store, reporter: &Reporter) -> Result<(), StoreError> {
    let mut follower = store.follow_runs()?;
    loop {
        let changed = if follower.at_work() == 0 {
            follower.next().await?
        } else {
            match tokio::time::timeout(ALIVE, follower.next()).await {
                Ok(changed) => changed?,
                Err(_) => follower.died()?,
            }
        };
        for run in changed {
            reporter.tell(&News::RunSeen(Arc::new(run)));
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Until the run ends: its records as they come, and once a [`PACE`] what Claude has printed.
async fn tell_one(
    store: &Store,
    reporter: &Reporter,
    run: RunId,
    after: u64,
    scrollback: &RunScrollback,
) -> Result<(), StoreError> {
    let mut follower = store.follow(run, after)?;
    let grown = reporter.growth(run);
    loop {
        let news = tokio::time::timeout(PACE, follower.next()).await;
        scrollback.look_again()?;
        grown();
        let Ok(news) = news else { continue };
        for record in news?.records {
            let ends = matches!(record.record, Record::RunEnded { .. });
            reporter.tell(&News::Recorded(record));
            if ends {
                return Ok(());
            }
        }
    }
}
