//! Committing what a ticket's runs have done, whoever asks for it: what it would be, a record of what is intended before git
//! is called and one of what came of it, under the locks of ticket and working directory. What a program that was ended
//! between the two has left is finished here.
//!
//! A run that commits from inside has the locks and its own records: it needs [`Place`] alone.

mod free;
mod pruning;

pub use free::Free;
pub use pruning::{Prune, Pruned};

use crate::adapters::clock::fresh_id;
use crate::adapters::git::{PATIENCE, SnapshotId, Try, Work, WorkTree, came_of};
use crate::adapters::store::{Holder, LockError, Store, StoreError, TicketLock, TreeLock};
use crate::base::id::RunId;
use crate::base::time::{Clock, Timestamp};
use crate::domain::answerer::Answerer;
use crate::domain::changes::{RevertIntended, RevertSettled};
use crate::domain::commit::{Agreed, CommitIntended, CommitPlan, CommitSettled, Committed};
use crate::domain::record::{Record, Stored};
use crate::domain::summary::{RunState, RunSummary};
use crate::orchestrator::state::State;
use crate::runtime::offline::{Offline, state_of};
use crate::runtime::reporter::Reporter;
use crate::runtime::restoring::{self, TicketsOf};
use crate::runtime::ticket_runs::runs_of;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{block_in_place, spawn_blocking};
use tokio::time::{Instant, sleep};

/// A run that has just ended holds its locks a moment longer.
const MOMENT: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(50);
/// How often is looked whether git has ended that another program has called.
const AGAIN: Duration = Duration::from_secs(1);

const STILL: &str = "git is still making the last commit (hooks, signing)";

/// What commits are made with.
#[derive(Clone)]
pub struct Commits {
    store: Store,
    clock: Arc<dyn Clock>,
    reporter: Reporter,
    /// The folders of tickets, which are the person's.
    tickets: TicketsOf,
    /// Who appends here waits for each other.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Who writes files for the person, too.
    writing: Arc<tokio::sync::Mutex<()>>,
}

/// Where a run's work is committed, and what of it counts.
pub struct Place {
    pub tree: WorkTree,
    pub work: Work,
    /// What is nobody's work.
    pub exclude: Vec<PathBuf>,
}

/// Nobody else works on the ticket, or in its directory.
struct Locks {
    _ticket: TicketLock,
    _tree: TreeLock,
}

impl Place {
    /// That of a run that is open here and has its locks.
    pub async fn of_open(store: &Store, run: RunId) -> Result<Self, String> {
        let of_run = store.clone();
        let looked = spawn_blocking(move || look_up(&of_run, run, true)).await;
        let (runs, _) = looked.map_err(|error| error.to_string())??;
        let Some(own) = runs.last() else { return Err("the run no longer exists".to_owned()) };
        // Hooks and settings as they were then are those that the person has started it with.
        let since = own.started;
        Self::of(store, &runs, since).await
    }

    /// That of the work of these runs, all of one ticket in one directory and in their order. `since`: hooks and settings
    /// that were changed since then are asked about.
    pub async fn of(store: &Store, runs: &[RunSummary], since: Timestamp) -> Result<Self, String> {
        let Some(last) = runs.last() else { return Err("the run no longer exists".to_owned()) };
        let (folder, keep) = (last.workspace().directory().to_owned(), store.run_folder(last.run));
        if !folder.is_dir() {
            let what = if last.worktree.is_some() { "its worktree" } else { "its directory" };
            return Err(format!(
                "{what} {} is gone, so there is nothing to commit; U still shows and restores its snapshots",
                folder.display()
            ));
        }
        let tree = WorkTree::open(&folder, &keep).await.map_err(|error| error.to_string())?;
        let (store, ids) = (store.clone(), runs.iter().map(|run| run.run).collect::<Vec<_>>());
        let before_git = spawn_blocking(move || before_git(&store, &ids)).await;
        let before_git = before_git.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let runs = runs.iter().map(|run| (run.ticket.clone(), run.run)).collect();
        // Other tickets beside its own are the person's.
        let ticket = Path::new(&last.ticket_path);
        let exclude = restoring::Place::at(tree.clone(), &last.workspace(), ticket, Path::new("")).exclude;
        Ok(Self { tree, work: Work { runs, before_git, since, patience: PATIENCE }, exclude })
    }
}

impl Commits {
    /// `tickets`: the folders that new tickets are made in.
    pub fn new(offline: &Offline, tickets: TicketsOf) -> Self {
        let Offline { store, clock, reporter, turn } = offline.clone();
        Self { store, clock, reporter, tickets, turn, writing: Arc::default() }
    }

    /// What a commit would be; words for the person where none can be made.
    pub async fn plan(&self, run: RunId) -> Result<CommitPlan, String> {
        let (runs, since) = self.look_up(run, false).await?;
        let last = runs.last().filter(|last| last.committing).cloned();
        if let Some(last) = last {
            let locks = self.lock(&last).await?;
            if !self.recover(&last).await? {
                return Err(STILL.to_owned());
            }
            drop(locks);
        }
        let Place { tree, work, exclude } = Place::of(&self.store, &runs, since).await?;
        tree.plan_commit(&work, &exclude).await
    }

    /// Makes it as it was agreed to; words for the person where it is not made.
    /// `called` is told when git runs.
    pub async fn make(
        &self,
        run: RunId,
        agreed: &Agreed,
        by: Answerer,
        called: &(dyn Fn() + Send + Sync),
    ) -> Result<Committed, String> {
        let (runs, _) = self.look_up(run, false).await?;
        let Some(last) = runs.last() else { return Err("the run no longer exists".to_owned()) };
        let _locks = self.lock(last).await?;
        // Before the locks another program may have done anything.
        let (runs, since) = self.look_up(run, true).await?;
        if runs.last().is_some_and(|last| last.committing) && !self.recover(last).await? {
            return Err(STILL.to_owned());
        }
        let Place { tree, work, exclude } = Place::of(&self.store, &runs, since).await?;
        let id = fresh_id();
        let intended = CommitIntended::of(id.clone(), agreed, by);
        let stored = self.append(last, Record::CommitIntended(intended)).await;
        stored.map_err(|error| format!("nothing was committed, because it cannot be recorded: {error}"))?;
        let mut made = tree.commit(&work, agreed, &Try { id: &id, called }, &exclude).await;
        let settled = Record::CommitSettled(CommitSettled::of(id, &made));
        if let Err(error) = self.append(last, settled).await {
            tracing::warn!(%error, "the result of a commit could not be recorded");
            if let Ok(made) = &mut made {
                made.trouble.get_or_insert(format!("not recorded yet: {error}"));
            }
        }
        made
    }

    /// Finishes what programs that have ended have left, and goes on with those whose git still works.
    pub fn recover_all(&self) {
        // Taken now: nothing is opened before the first look at all of them.
        let turn = self.turn.clone().try_lock_owned().ok();
        let commits = self.clone();
        tokio::spawn(async move {
            let begun = Instant::now();
            let mut turn = turn;
            while commits.recover_each().await && begun.elapsed() < PATIENCE {
                drop(turn.take());
                sleep(AGAIN).await;
                turn = Some(commits.turn.clone().lock_owned().await);
            }
        });
    }

    /// Whether some are still being made.
    async fn recover_each(&self) -> bool {
        let store = self.store.clone();
        let open = match spawn_blocking(move || store.runs_committing()).await {
            Ok(Ok(open)) => open,
            Ok(Err(error)) => {
                tracing::warn!(%error, "pending commits cannot be read");
                return false;
            }
            Err(_) => return false,
        };
        let mut some = false;
        for run in open {
            // Who holds them works on it.
            let Ok(_locks) = self.try_lock(&run) else { continue };
            match self.recover(&run).await {
                Ok(is_finished) => some |= !is_finished,
                Err(error) => tracing::warn!(run = %run.run, error, "a commit is not finished"),
            }
        }
        some
    }

    /// Finishes what was begun and not settled, a commit or a revert. Under the locks. Whether there is none any more.
    async fn recover(&self, run: &RunSummary) -> Result<bool, String> {
        let (store, id) = (self.store.clone(), run.run);
        let state = spawn_blocking(move || state_of(&store, id)).await.map_err(|error| error.to_string())?;
        let State { commits, reverts, restoring, .. } = state.map_err(|error| error.to_string())?;
        if let Some(open) = restoring {
            let settled = restoring::came_of((&self.store, &self.tickets), run, open).await;
            self.append(run, Record::RestoreSettled(settled)).await?;
        }
        if let Some(open) = reverts.open {
            let trouble = block_in_place(|| came_of(&open)).err();
            let RevertIntended { id, path, saved, .. } = open;
            self.append(run, Record::RevertSettled(RevertSettled { id, path, saved, trouble })).await?;
        }
        let Some(open) = commits.open else { return Ok(true) };
        let tree = WorkTree::open(run.workspace().directory(), &self.store.run_folder(run.run)).await;
        let found = tree.map_err(|error| error.to_string())?.recover_commit(open.head.as_deref(), &open.id).await;
        let Some(made) = found.map_err(|error| error.to_string())? else { return Ok(false) };
        self.append(run, Record::CommitSettled(CommitSettled::of(open.id, &made))).await?;
        Ok(true)
    }

    async fn append(&self, run: &RunSummary, record: Record) -> Result<(), String> {
        let Self { store, clock, reporter, turn, .. } = self.clone();
        Offline { store, clock, reporter, turn }.note(run, record).await.map_err(|error| error.to_string())
    }

    async fn lock(&self, run: &RunSummary) -> Result<Locks, String> {
        let begun = Instant::now();
        loop {
            match self.try_lock(run) {
                Ok(locks) => return Ok(locks),
                Err(LockError::Held { .. }) if begun.elapsed() < MOMENT => sleep(LOOK).await,
                Err(LockError::Held { holder }) => {
                    return Err(format!("{holder} is running in this directory: commit when it has ended"));
                }
                Err(LockError::Store(error)) => return Err(error.to_string()),
            }
        }
    }

    fn holder(&self, run: &RunSummary) -> Holder {
        Holder { pid: std::process::id(), ticket: run.ticket.clone(), run: None, since: self.clock.now() }
    }

    fn try_lock(&self, run: &RunSummary) -> Result<Locks, LockError> {
        let holder = self.holder(run);
        block_in_place(|| {
            let ticket = self.store.lock_ticket(Path::new(&run.ticket_path), &holder)?;
            Ok(Locks { _ticket: ticket, _tree: self.store.lock_tree(&run.workspace(), &holder)? })
        })
    }

    /// The runs of the ticket of this one in its directory, and since when hooks are looked at.
    /// `is_ours`: its locks are.
    async fn look_up(&self, run: RunId, is_ours: bool) -> Result<(Vec<RunSummary>, Timestamp), String> {
        let store = self.store.clone();
        let looked = spawn_blocking(move || look_up(&store, run, is_ours)).await;
        looked.map_err(|error| error.to_string())?
    }
}

fn look_up(store: &Store, run: RunId, is_ours: bool) -> Result<(Vec<RunSummary>, Timestamp), String> {
    let all = store.runs().map_err(|error| error.to_string())?;
    let runs = runs_of(&all, run)?;
    let Some(last) = runs.last() else { return Err("the run no longer exists".to_owned()) };
    if last.run != run {
        return Err(format!("{} has a later run: open it from Home, and commit there", last.ticket));
    }
    let here: Vec<&RunSummary> = all.iter().filter(|other| shares_directory(other, last)).collect();
    // Who holds the lock of the directory knows that nobody else works there; what waits for it does not.
    let rests = |run: &RunSummary| matches!(run.state, RunState::Ended | RunState::Waiting);
    for open in here.iter().filter(|open| !rests(open) && !is_ours) {
        let open = store.as_seen((*open).clone()).map_err(|error| error.to_string())?;
        if open.state != RunState::Interrupted {
            return Err(format!("{} is running in this directory: commit when its run has ended", open.ticket));
        }
    }
    let since = since(store, &here).map_err(|error| error.to_string())?;
    Ok((runs, since))
}

fn shares_directory(one: &RunSummary, other: &RunSummary) -> bool {
    let (one, other) = (one.workspace(), other.workspace());
    let (one, other) = (one.directory(), other.directory());
    one.starts_with(other) || other.starts_with(one)
}

/// Since when a changed hook may be Claude's and was not asked about: since the last commit, at which it would have been,
/// or the first run here, of whichever ticket.
fn since(store: &Store, here: &[&RunSummary]) -> Result<Timestamp, StoreError> {
    let first = here.iter().map(|run| run.started).min().unwrap_or(Timestamp::from_millis(0));
    let Some(last) = here.iter().filter(|run| run.commit.is_some()).max_by_key(|run| run.updated) else {
        return Ok(first);
    };
    Ok(asked(&store.load(last.run)?.records).unwrap_or(first))
}

/// The files that these runs have changed while there was no repository.
fn before_git(store: &Store, runs: &[RunId]) -> Result<Vec<String>, StoreError> {
    let mut files = Vec::new();
    for run in runs {
        let mut plain = false;
        for stored in store.load(*run)?.records {
            match &stored.record {
                Record::SnapshotTaken { id, .. } => plain = SnapshotId(id.clone()).is_plain(),
                Record::EvidenceGathered { iteration_files, .. } if plain => files.extend_from_slice(iteration_files),
                _ => {}
            }
        }
    }
    Ok(files)
}

/// When the last commit that was made was agreed to.
fn asked(records: &[Arc<Stored>]) -> Option<Timestamp> {
    let mut made: HashSet<&str> = HashSet::new();
    records.iter().rev().find_map(|stored| match &stored.record {
        Record::CommitSettled(CommitSettled { id, commit: Some(_), .. }) => {
            made.insert(id);
            None
        }
        Record::CommitIntended(intended) if made.contains(intended.id.as_str()) => Some(stored.time),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::clock::fresh_run_id;
    use crate::base::id::TicketId;
    use crate::domain::record::FORMAT;

    #[test]
    fn a_commit_that_was_refused_was_not_asked_about() {
        let intended = |id: &str| Record::CommitIntended(CommitIntended { id: id.into(), ..CommitIntended::default() });
        let settled = |id: &str, commit: Option<&str>| {
            let commit = commit.map(str::to_owned);
            Record::CommitSettled(CommitSettled { id: id.into(), commit, ..CommitSettled::default() })
        };
        let (run, ticket) = (fresh_run_id(), TicketId::parse("tk-1").unwrap());
        let records = [intended("a"), settled("a", Some("made")), intended("b"), settled("b", None), intended("c")];
        let stored = |(seq, record): (u64, Record)| {
            let time = Timestamp::from_millis(seq.cast_signed());
            Arc::new(Stored { v: FORMAT, seq, time, run, ticket: ticket.clone(), record })
        };
        let stored: Vec<Arc<Stored>> = (1..).zip(records).map(stored).collect();
        assert_eq!(asked(&stored), Some(Timestamp::from_millis(1)));
        assert_eq!(asked(&stored[2..]), None);
    }
}
