//! Runs that this program does not work on: how they stand, and what becomes of those that a front end looks at. Both are
//! read from the store, whichever program writes there.

use crate::adapters::clock::zone;
use crate::adapters::store::{RunScrollback, RunsFollower, Store, StoreError};
use crate::base::id::RunId;
use crate::base::time::Clock;
use crate::domain::news::{News, SpentToday};
use crate::domain::stream::envelope::classify;
use crate::domain::summary::{Owner, RunSummary};
use crate::runtime::own_watch::OwnWatch;
use crate::runtime::reporter::Reporter;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// How long one look at all runs stands before the next.
const PACE: Duration = Duration::from_secs(1);

/// How long after the last change runs at work are looked at again that no front end shows: a program that is killed says nothing.
const ALIVE: Duration = Duration::from_secs(5);

/// What is told of other programs' runs.
pub struct Others {
    follow: Follow,
    /// The one task that tells; it begins anew when front ends ask how all runs stand.
    telling: JoinSet<()>,
    /// The person's own Claude sessions.
    pub own: OwnWatch,
}

#[derive(Clone)]
struct Follow {
    store: Store,
    reporter: Reporter,
    clock: Arc<dyn Clock>,
    /// This program's.
    directory: String,
    /// The runs that are followed: other programs work on them.
    followed: Arc<Mutex<BTreeMap<RunId, Followed>>>,
    /// One more is followed.
    more: Arc<Notify>,
}

/// How much of a run was told.
#[derive(Clone)]
struct Followed {
    /// The last record.
    seq: u64,
    scrollback: RunScrollback,
}

impl Others {
    /// `folder`: this program's directory.
    pub fn new(store: Store, reporter: Reporter, clock: Arc<dyn Clock>, folder: &Path) -> Self {
        let (followed, more, directory) = (Arc::default(), Arc::default(), folder.display().to_string());
        let own = OwnWatch::new(store.clone(), reporter.clone());
        Self { own, follow: Follow { store, reporter, clock, directory, followed, more }, telling: JoinSet::new() }
    }

    /// Tells how every run stands, and from now on each that changes.
    pub fn list(&mut self) {
        self.own.follow();
        self.tell_runs();
    }

    fn tell_runs(&mut self) {
        let follow = self.follow.clone();
        self.telling = JoinSet::new();
        self.telling.spawn(async move {
            loop {
                // What cannot be read now can be read again soon.
                if let Err(error) = follow.tell().await {
                    tracing::warn!(%error, "the state of the runs cannot be read");
                }
                sleep(ALIVE).await;
            }
        });
    }

    /// Tells everything about a run, and while another program works on it what becomes of it. Gives what it is; `None`:
    /// there is no such run.
    pub fn show(&mut self, run: RunId) -> Result<Option<RunSummary>, StoreError> {
        let Follow { store, reporter, .. } = &self.follow;
        let Some((summary, seq)) = store.run(run)? else { return Ok(None) };
        let summary = store.as_seen(summary)?;
        let scrollback = store.scrollback(run, classify)?;
        // What a session of the person's own says is not in the store.
        let own = summary.is_own_session().then(|| self.own.scrollback(run)).flatten().map(|(_, says)| says);
        let (owner, all) = (summary.owner(), own.unwrap_or_else(|| Arc::new(scrollback.clone())));
        reporter.shown(run, (summary.key(), owner), seq, all);
        if owner == Owner::Another {
            self.follow.known().insert(run, Followed { seq, scrollback });
            self.follow.more.notify_one();
            if self.telling.is_empty() {
                self.tell_runs();
            }
        }
        Ok(Some(summary))
    }

    /// This program works on the run now.
    pub fn leave(&self, run: RunId) {
        self.follow.known().remove(&run);
    }
}

impl Follow {
    fn known(&self) -> MutexGuard<'_, BTreeMap<RunId, Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn tell(&self) -> Result<(), StoreError> {
        let mut runs = self.store.follow_runs()?;
        let mut looked = Instant::now();
        loop {
            let mut changed = self.changed(&mut runs).await?;
            // Whoever looks at a run sees soon that nobody works on it.
            let alive = if self.known().is_empty() { ALIVE } else { PACE };
            if looked.elapsed() >= alive {
                changed.extend(runs.died()?);
                looked = Instant::now();
            }
            self.tell_followed()?;
            if !changed.is_empty() {
                self.reporter.tell(&self.spent()?);
            }
            for run in changed {
                if run.owner() == Owner::Nobody {
                    self.known().remove(&run.run);
                }
                self.reporter.tell(&News::RunSeen(Arc::new(run)));
            }
            sleep(PACE).await;
        }
    }

    fn spent(&self) -> Result<News, StoreError> {
        let since = self.clock.now().midnight(&zone());
        let (here, everywhere) = self.store.spent_since(since, &self.directory)?;
        Ok(News::SpentToday(SpentToday { since, here, everywhere }))
    }

    /// Waits for runs that have changed; for a while only where something may have happened that no record says.
    async fn changed(&self, runs: &mut RunsFollower) -> Result<Vec<RunSummary>, StoreError> {
        let patience = if !self.known().is_empty() {
            PACE
        } else if runs.at_work().any(|run| !self.reporter.is_here(run)) {
            ALIVE
        } else {
            // Of our own all is told.
            Duration::MAX
        };
        tokio::select! {
            changed = timeout(patience, runs.next()) => changed.unwrap_or(Ok(Vec::new())),
            () = self.more.notified() => Ok(Vec::new()),
        }
    }

    /// The records of followed runs that have come, and that Claude has printed something.
    fn tell_followed(&self) -> Result<(), StoreError> {
        let followed = self.known().clone();
        for (run, Followed { seq, scrollback }) in followed {
            let records = self.store.load_after(run, seq)?.records;
            if let (Some(last), Some(known)) = (records.last(), self.known().get_mut(&run)) {
                known.seq = last.seq;
            }
            for record in records {
                self.reporter.tell(&News::Recorded(record));
            }
            if scrollback.look_again()? {
                self.reporter.tell(&News::StreamGrew(run));
            }
        }
        Ok(())
    }
}
