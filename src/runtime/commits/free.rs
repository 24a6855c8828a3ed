//! That nobody works in a run's directory while a file is written for the person, and the run's journal meanwhile.

use super::{Commits, LOOK, MOMENT, shares_directory};
use crate::adapters::clock::fresh_id;
use crate::adapters::git::Prepared;
use crate::adapters::store::{LockError, Store, StoreError, TicketLock, TreeLock};
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::record::Record;
use crate::domain::restore::{RestoreIntended, RestoreSettled, Restored, WantedFiles};
use crate::domain::summary::{RunState, RunSummary};
use crate::runtime::restoring::{Place, here, taken_back_by};
use crate::runtime::supervisor::Journal;
use std::path::Path;
use tokio::sync::OwnedMutexGuard;
use tokio::task::{block_in_place, spawn_blocking};
use tokio::time::{Instant, sleep};

/// Nobody else writes in a run's directory as long as this is kept.
pub struct Free {
    commits: Commits,
    pub run: RunSummary,
    /// `None`: a run of this program that is paused has it.
    tree: Option<TreeLock>,
    /// That of the run, which is open in this program; else its ticket is locked, and it is appended to.
    journal: Result<Journal, TicketLock>,
    _turn: OwnedMutexGuard<()>,
}

impl Free {
    /// That it is still so, to be asked last before something is written. Words for the person where it is not.
    pub fn is_still(&self) -> Result<(), String> {
        if self.tree.is_some() {
            return Ok(());
        }
        block_in_place(|| at_rest(&self.commits.store, self.run.run)).map(drop)
    }

    /// Stores a record of the run.
    pub async fn record(&self, record: Record) -> Result<(), String> {
        if let Ok(journal) = &self.journal {
            return journal.record(record).await;
        }
        let _turn = self.commits.turn.lock().await;
        self.commits.append(&self.run, record).await
    }

    /// Restores files, with a record before and one after it. `agreed`: the directory's content as the person has seen it.
    /// Words for the person where nothing was restored.
    pub async fn restore(
        &self,
        place: &Place,
        wanted: WantedFiles,
        agreed: Option<&str>,
        by: Answerer,
    ) -> Result<Restored, String> {
        let ready = match place.prepare((&self.run.ticket, &self.run.ticket_path), &wanted, agreed).await? {
            Prepared::Ready(ready) => ready,
            Prepared::Nothing(restored) => return Ok(restored),
        };
        let (id, pick, saved, files) = (fresh_id(), ready.pick.clone(), ready.saved.clone(), ready.files());
        // What the person calls it is another one's name later.
        let wanted = WantedFiles { snapshot: ready.snapshot().to_owned(), ..wanted };
        let (target, meant) = (ready.of.clone(), wanted.clone());
        let intended = RestoreIntended { id: id.clone(), wanted, pick: pick.clone(), saved: saved.clone(), files, by };
        self.is_still()?;
        let recorded = self.record(Record::RestoreIntended(intended)).await;
        recorded.map_err(|error| format!("nothing was restored, because it cannot be recorded: {error}"))?;
        let mut restored = match self.is_still() {
            Ok(()) => ready.write().await,
            Err(why) => Err(why),
        };
        let files = restored.as_ref().ok().map(|done| done.written.len() + done.removed.len());
        let trouble = restored.as_ref().map_or_else(|why| Some(why.clone()), |done| done.trouble.clone());
        let store = &self.commits.store;
        let taken = |done| block_in_place(|| taken_back_by(store, &self.run.ticket_path, &target, (&meant, done)));
        let taken_back = restored.as_ref().ok().and_then(taken);
        let removed = restored.as_ref().ok().map(|done| done.removed.len());
        if let Ok(done) = &mut restored {
            done.taken_back = taken_back.clone().unwrap_or_default();
        }
        let settled = RestoreSettled { id, pick, saved, files, removed, taken_back, trouble };
        if let Err(error) = self.record(Record::RestoreSettled(settled)).await {
            tracing::warn!(%error, "the result of a restore could not be recorded");
        }
        restored
    }
}

impl Commits {
    /// The run, in whose directory Claude is not at work now; words for the person where it is.
    pub async fn at_rest(&self, run: RunId) -> Result<RunSummary, String> {
        let store = self.store.clone();
        let looked = spawn_blocking(move || at_rest(&store, run)).await;
        looked.map_err(|error| error.to_string())?.map(|(run, _)| run)
    }

    /// That nobody else writes in the run's directory, as long as what is given is kept; a run of this program that is
    /// paused there may have it. `journal`: the run's, where it is open in this program. Words for the person where somebody
    /// does.
    pub async fn free(&self, run: RunId, journal: Option<Journal>) -> Result<Free, String> {
        let turn = self.writing.clone().lock_owned().await;
        let store = self.store.clone();
        let looked = spawn_blocking(move || at_rest(&store, run)).await;
        let (meant, is_paused) = looked.map_err(|error| error.to_string())??;
        let workspace = here(meant.clone()).workspace();
        let begun = Instant::now();
        let held = |holder: &str| format!("{holder} is running in this directory: try again when it has ended");
        let tree = loop {
            match block_in_place(|| self.store.lock_tree(&workspace, &self.holder(&meant))) {
                Ok(tree) => break Some(tree),
                Err(LockError::Store(error)) => return Err(error.to_string()),
                Err(LockError::Held { holder }) => {
                    let who =
                        block_in_place(|| self.store.tree_holder(&workspace)).map_err(|error| error.to_string())?;
                    if is_paused && who.is_some_and(|who| who.pid == std::process::id()) {
                        break None;
                    }
                    if begun.elapsed() >= MOMENT {
                        return Err(held(&holder));
                    }
                }
            }
            sleep(LOOK).await;
        };
        let journal = match journal {
            Some(journal) => Ok(journal),
            None => loop {
                match block_in_place(|| self.store.lock_ticket(Path::new(&meant.ticket_path), &self.holder(&meant))) {
                    Ok(lock) => break Err(lock),
                    Err(LockError::Held { .. }) if begun.elapsed() < MOMENT => sleep(LOOK).await,
                    Err(LockError::Held { holder }) => return Err(held(&holder)),
                    Err(LockError::Store(error)) => return Err(error.to_string()),
                }
            },
        };
        Ok(Free { commits: self.clone(), run: meant, tree, journal, _turn: turn })
    }
}

/// The run, and whether an open one is paused in its directory; words for the person where one is at work there.
fn at_rest(store: &Store, run: RunId) -> Result<(RunSummary, bool), String> {
    let words = |error: StoreError| error.to_string();
    let (meant, _) = store.run(run).map_err(words)?.ok_or("the run no longer exists")?;
    // That its worktree is gone is said by whoever restores.
    let place = here(meant.clone());
    let mut is_paused = false;
    for open in store.runs().map_err(words)? {
        if open.state == RunState::Ended || !shares_directory(&open, &place) {
            continue;
        }
        let open = store.as_seen(open).map_err(words)?;
        if open.state == RunState::Running {
            return Err(format!("Claude is working on {} in this directory: pause the run first", open.ticket));
        }
        is_paused |= open.state != RunState::Interrupted;
    }
    Ok((meant, is_paused))
}
