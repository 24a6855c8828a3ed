//! Bringing the run's work into its base: one ticket after the other in a repository, validated as it would be there.

use super::Effects;
use super::lasting::Lasting;
use super::worktree::Making;
use crate::adapters::git::merging::{self, Candidate, Prepared};
use crate::adapters::git::registry;
use crate::adapters::store::{Holder, LockError, Store};
use crate::adapters::validate;
use crate::base::text::clean_line;
use crate::domain::merge::{MergeHow, MergeSettled};
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::workspace::Workspace;
use crate::domain::worktree::Worktree;
use crate::orchestrator::input::Input;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;

/// How often the base may move while a merge is validated.
const TRIES: usize = 3;
/// How often is looked whether a lock has come free, and how long is waited in between.
const LOOKS: usize = 10;
const LOOK: Duration = Duration::from_millis(50);

/// What a merge is made with.
struct Merging {
    store: Store,
    holder: Holder,
    workspace: Workspace,
    worktree: Worktree,
    ticket: PathBuf,
    how: MergeHow,
    message: String,
    commands: Vec<String>,
    making: Making,
    lasting: Lasting,
}

impl Effects {
    pub(super) fn merge_work(&mut self, how: MergeHow, commands: Vec<String>, title: &str, timeout: u64) {
        let Some(worktree) = self.workspace.worktree().cloned() else { return };
        let holder = Holder {
            pid: std::process::id(),
            ticket: self.ticket.clone(),
            run: Some(self.run),
            since: self.clock.now(),
        };
        // The merged tree needs what a new worktree needs.
        let scratch = merging::scratch(&worktree.top);
        let below = worktree.directory.strip_prefix(&worktree.top).unwrap_or(Path::new("")).to_owned();
        let directory = if below.as_os_str().is_empty() { scratch.clone() } else { scratch.join(below) };
        let making = self.making(Worktree { top: scratch, directory, ..worktree.clone() }, timeout, "merge");
        let merging = Merging {
            store: self.store.clone(),
            holder,
            workspace: self.workspace.clone(),
            message: format!("Merge {}: {}\n\nTicket: {}", worktree.branch, clean_line(title, 100), self.ticket),
            worktree,
            ticket: self.ticket_path.clone(),
            how,
            commands,
            making,
            lasting: self.work.lasting.clone(),
        };
        self.answer_with(async move {
            let settled = merging.settle().await;
            Input::MergeSettled(settled.unwrap_or_else(MergeSettled::refused))
        });
    }
}

impl Merging {
    async fn settle(self) -> Result<MergeSettled, String> {
        let common = registry::common(&self.worktree.home_top).await?;
        let turn = self.store.wait_tree(&Workspace::shared(common), &self.holder).await;
        let _turn = turn.map_err(|error| error.to_string())?;
        let copy = self.workspace.copy_of(&self.ticket);
        let copy = copy.as_ref().and_then(|copy| copy.strip_prefix(&self.worktree.top).ok());
        let settled = self.tried(copy).await;
        let cleared = merging::clear(&self.worktree).await;
        if let Err(error) = cleared {
            tracing::warn!(error, "the scratch worktree of a merge is left");
        }
        settled
    }

    async fn tried(&self, copy: Option<&Path>) -> Result<MergeSettled, String> {
        let Worktree { base, .. } = &self.worktree;
        let merged = |commit| MergeSettled { commit: Some(commit), ..MergeSettled::default() };
        for _ in 0..TRIES {
            let candidate =
                match merging::prepare(&self.worktree, self.how, &self.message, copy, &self.making.room).await? {
                    Prepared::Already(commit) => return Ok(merged(commit)),
                    Prepared::Conflict(files) => {
                        return Ok(MergeSettled::conflict(base, self.holder.ticket.as_str(), files));
                    }
                    Prepared::Uncommitted(why) => {
                        return Ok(MergeSettled { is_uncommitted: true, ..MergeSettled::refused(why) });
                    }
                    Prepared::Ready(candidate) => candidate,
                };
            self.validate().await?;
            if self.advance(&candidate).await? {
                return Ok(merged(candidate.commit));
            }
        }
        Err(format!("{base} was moved during each validation of its merge: start the ticket again"))
    }

    /// The ticket's commands pass on the merged tree.
    async fn validate(&self) -> Result<(), String> {
        self.making.fill().await?;
        self.making.set_up().await?;
        let Making { worktree, log_dir, .. } = &self.making;
        let ran = validate::run(0, &self.commands, &self.making.place(&worktree.directory, log_dir)).await;
        match ran.iter().find(|ran| !ran.passed()) {
            None => Ok(()),
            Some(failed) => Err(format!(
                "`{}` fails on the tree merged into {}, which was not changed; output in {}\n{}",
                clean_line(&failed.command, 100),
                self.worktree.base,
                failed.log,
                failed.tail
            )),
        }
    }

    /// Nobody works where the base is checked out while its files go forward.
    async fn advance(&self, to: &Candidate) -> Result<bool, String> {
        let (mut locks, mut files) = (Vec::new(), None);
        if let Some(place) = merging::checked_out(&self.worktree).await? {
            let held = |folder: &Path, error| match error {
                LockError::Held { holder } => self.held(&holder, folder),
                LockError::Store(error) => error.to_string(),
            };
            // First, so that a run that begins meanwhile waits, in whichever folder.
            let lock = patiently(|| self.store.lock_files(&place, &self.holder)).await;
            files = Some(lock.map_err(|error| held(&place, error))?);
            for folder in self.worked_in(&place)? {
                let lock = patiently(|| self.store.lock_within(&Workspace::shared(&folder), &self.holder)).await;
                locks.push(lock.map_err(|error| held(&folder, error))?);
            }
        }
        // Beside a ticket in the repository's top there is all of the work.
        let top = &self.worktree.home_top;
        let tickets = self.ticket.parent().filter(|folder| !top.starts_with(folder)).unwrap_or(&self.ticket);
        let begun = self.lasting.begin();
        let moved = merging::advance(&self.worktree, to, tickets, &self.making.room).await;
        drop((begun, locks, files));
        moved
    }

    /// Who has a directory in which files would go forward, and what to do about it.
    fn held(&self, holder: &str, folder: &Path) -> String {
        let who = self.store.tree_holder(&Workspace::shared(folder)).ok().flatten();
        let is_it = |run: &&RunSummary| who.as_ref().is_some_and(|who| who.run == Some(run.run));
        let state = self.store.runs().unwrap_or_default().iter().find(is_it).map(|run| run.state);
        let (does, until) = match state {
            Some(RunState::Paused) => ("paused", "resume or stop it, then start this ticket again"),
            Some(RunState::Parked) => ("parked", "stop it, or start this ticket again when it is done"),
            _ => ("running", "start this ticket again when it is done"),
        };
        format!("{holder} is {does} in {}: {until}", folder.display())
    }

    /// The directories of this working tree that runs may be at work in.
    fn worked_in(&self, place: &Path) -> Result<BTreeSet<PathBuf>, String> {
        let runs = self.store.runs().map_err(|error| error.to_string())?;
        let open = runs.iter().filter(|run| run.state != RunState::Ended);
        let mut folders: Vec<PathBuf> = open.map(|run| run.workspace().directory().to_owned()).collect();
        folders.retain(|folder| folder.starts_with(place) && folder.is_dir());
        folders.extend([place.to_owned(), self.workspace.home().to_owned()]);
        // Locked twice, one would wait for the other.
        Ok(folders.into_iter().map(|folder| fs::canonicalize(&folder).unwrap_or(folder)).collect())
    }
}

/// A lock that may be held for a moment only: whoever begins in a folder and finds its files locked lets go of it again.
async fn patiently<T>(mut lock: impl FnMut() -> Result<T, LockError>) -> Result<T, LockError> {
    for _ in 1..LOOKS {
        match lock() {
            Err(LockError::Held { .. }) => sleep(LOOK).await,
            taken => return taken,
        }
    }
    lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lock_that_is_held_for_a_moment_is_waited_for_and_one_that_stays_is_not() {
        let held = || LockError::Held { holder: "pid 2".to_owned() };
        let mut asked = 0;
        let mut until = async |free: usize| {
            asked = 0;
            let lock = || {
                asked += 1;
                if asked > free { Ok(()) } else { Err(held()) }
            };
            patiently(lock).await.map(|()| asked)
        };
        assert_eq!(until(2).await.unwrap(), 3);
        assert!(matches!(until(LOOKS).await, Err(LockError::Held { .. })));
    }
}
