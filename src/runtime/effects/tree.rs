//! Effects on the working directory: getting it, saving it, comparing it.

use super::{Effects, Tree};
use crate::adapters::git::branching;
use crate::adapters::git::{EvidenceError, SnapshotId, SnapshotName, Taken, WorkTree};
use crate::adapters::store::{Holder, LockError};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::branching::{BranchSwitch, SwitchSettled};
use crate::domain::critique::shown_hunks;
use crate::domain::workspace::Workspace;
use crate::orchestrator::input::Input;
use crate::orchestrator::prompt::branch_name;
use crate::orchestrator::state::State;
use crate::runtime::restoring;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OnceCell, oneshot};

/// Longest file name in evidence, in columns.
const NAME: usize = 300;
/// The phase began in another clone, or its snapshot was removed.
const BASELINE_GONE: &str = "the snapshot from the start of the phase is missing, perhaps because this is another clone: only changes of this iteration count";

const BEFORE_UNKNOWN: &str = "the files from before the work are unknown here: read the current files";

/// The end of a run waits so long for the number of changed lines.
const COUNTING: Duration = Duration::from_secs(2);

/// Said once a run, at its first snapshot.
const NO_GIT: &str = "not a git repository: changes are found by comparing files, and cannot be undone or restored; `git init` enables snapshots";

/// The branch that the person wants the run on, if it works where they do. `works`: it is neither a chat nor a plan.
pub fn branch_of(ticket: &TicketId, workspace: &Workspace, state: &State, works: bool) -> Option<String> {
    // What was begun is ended, whatever is set by now.
    if let Some(begun) = &state.switching {
        return Some(begun.to.clone());
    }
    let git = &state.settings.git;
    let is_switched = git.switches && works && workspace.worktree().is_none();
    branch_name(&git.branch, ticket.as_str()).ok().filter(|_| is_switched)
}

impl Effects {
    /// One run at a time works in a workspace, whichever program it belongs to. A run that was paused while it waited
    /// waits on: there is one answer for each time that the folder is got.
    pub(super) fn acquire_tree(&mut self, state: &State) {
        let busy = match &*super::lock(&self.work.tree) {
            Tree::Free => None,
            Tree::Awaited(holder) => Some(holder.clone()),
            Tree::Held(_) => return,
        };
        if let Some(holder) = busy {
            return self.answer_now(Input::TreeBusy { holder });
        }
        let (store, workspace, inputs) = (self.store.clone(), self.workspace.clone(), self.inputs.clone());
        let holder = Holder {
            pid: std::process::id(),
            ticket: self.ticket.clone(),
            run: Some(self.run),
            since: self.clock.now(),
        };
        let (place, git) = (self.work.tree.clone(), state.settings.git.clone());
        let branch = branch_of(&self.ticket, &self.workspace, state, self.works);
        self.answer_with(async move {
            let lock = match store.lock_tree(&workspace, &holder) {
                Ok(lock) => Ok(lock),
                Err(LockError::Held { holder: other }) => {
                    *super::lock(&place) = Tree::Awaited(other.clone());
                    let _ = inputs.send(Input::TreeBusy { holder: other }).await;
                    store.wait_tree(&workspace, &holder).await
                }
                Err(LockError::Store(error)) => Err(error),
            };
            match lock {
                Ok(lock) => {
                    let due = match branch {
                        Some(branch) => branching::due(workspace.directory(), &branch, git.base.as_deref()).await,
                        None => Ok(None),
                    };
                    let (tree, input) = match due {
                        Ok(None) => (Tree::Held(lock), Input::TreeGranted),
                        Ok(Some(switch)) => (Tree::Held(lock), Input::SwitchDue(switch)),
                        Err(why) => (Tree::Free, Input::WorktreeFailed { why }),
                    };
                    *super::lock(&place) = tree;
                    input
                }
                Err(error) => Input::Faulted { message: error.to_string() },
            }
        });
    }

    /// Switches the directory, which the run has, to another branch.
    pub(super) fn switch_branch(&mut self, switch: BranchSwitch) {
        let (directory, place) = (self.workspace.directory().to_owned(), self.work.tree.clone());
        self.answer_at_last(async move {
            let trouble = branching::make(&directory, &switch).await.err();
            if trouble.is_some() {
                *super::lock(&place) = Tree::Free;
            }
            Input::Switched(SwitchSettled { switch, trouble })
        });
    }

    fn place(&self) -> Place {
        Place {
            workspace: self.workspace.clone(),
            keep: self.run_dir(),
            ticket_path: self.ticket_path.clone(),
            opened: self.work.evidence.clone(),
        }
    }

    /// `shown_since`: what differs from this snapshot is kept for the next prompt; empty: it is not known which.
    pub(super) fn take_snapshot(&mut self, n: u32, shown_since: Option<String>) {
        let name = SnapshotName { ticket: self.ticket.clone(), run: self.run, n };
        let (place, inputs, shown) = (self.place(), self.inputs.clone(), self.work.shown.clone());
        self.answer_with(async move {
            let taken = async {
                let tree = place.open().await?;
                if n == 1 && matches!(tree, WorkTree::Plain(_)) {
                    let _ = inputs.send(Input::Warned { text: NO_GIT.to_owned() }).await;
                }
                let exclude = place.excluded(&tree);
                let taken = tree.snapshot(&name, &exclude).await?;
                let diff = match shown_since.map(SnapshotId) {
                    None => String::new(),
                    Some(since) if since.0.is_empty() => BEFORE_UNKNOWN.to_owned(),
                    Some(since) => match tree.patch(&since, Some(&taken.id), &exclude).await {
                        Err(EvidenceError::UnknownSnapshot { .. }) => BASELINE_GONE.to_owned(),
                        diff => diff?.text,
                    },
                };
                let files = shown_hunks(&diff);
                if !files.is_empty() {
                    let _ = inputs.send(Input::ChangesShown { n, files }).await;
                }
                *super::lock(&shown) = diff;
                Ok::<_, EvidenceError>(taken)
            };
            match taken.await {
                Ok(Taken { id: SnapshotId(id), skipped }) => {
                    if !skipped.is_empty() {
                        let text = format!("not in the snapshot (unreadable): {}", skipped.join(", "));
                        let _ = inputs.send(Input::Warned { text: clean_line(&text, NAME) }).await;
                    }
                    Input::SnapshotTaken { n, id }
                }
                Err(error) => Input::SnapshotFailed { n, message: error.to_string() },
            }
        });
    }

    /// Compares, and reads the ticket once more before: a tick that Claude made in its last moment must be known.
    pub(super) fn gather_evidence(&mut self, n: u32, iteration_base: String, phase_base: String) {
        let name = SnapshotName { ticket: self.ticket.clone(), run: self.run, n };
        let (place, inputs, file) = (self.place(), self.inputs.clone(), self.ticket_file.clone());
        let (place_of_lines, name_of_lines, told) = (self.place(), name.clone(), self.inputs.clone());
        let (count, counts) = oneshot::channel();
        self.answer_with(async move {
            let reading = file.read().await;
            let (iteration, phase) = (SnapshotId(iteration_base), SnapshotId(phase_base));
            match place.compare(&name, &iteration, &phase).await {
                Err(EvidenceError::UnknownSnapshot { .. }) if phase != iteration => {
                    // The iteration's own may still be there: less to go by, and never less than there is.
                    let (text, again) = (BASELINE_GONE.to_owned(), place.compare(&name, &iteration, &iteration).await);
                    if again.is_ok() {
                        let _ = inputs.send(Input::Warned { text }).await;
                    }
                    evidence(n, again, reading)
                }
                compared => {
                    let changed = matches!(&compared, Ok([files, _]) if !files.is_empty());
                    // Nobody waits for it.
                    let _ = count.send(changed);
                    evidence(n, compared, reading)
                }
            }
        });
        self.work.lines = Some(tokio::spawn(async move {
            if !counts.await.unwrap_or(false) {
                return None;
            }
            let lines = place_of_lines.lines(&name_of_lines).await?;
            let (added, removed) = lines;
            let _ = told.send(Input::LinesCounted { added, removed }).await;
            Some(lines)
        }));
    }

    /// Lines are being counted, or nobody has asked since.
    pub fn is_counting(&self) -> bool {
        self.work.lines.is_some()
    }

    /// What was counted last; it is waited for, but not without end.
    pub async fn lines(&mut self) -> Option<(u64, u64)> {
        tokio::time::timeout(COUNTING, self.work.lines.take()?).await.ok()?.ok().flatten()
    }

    /// Snapshots are on the disk.
    pub(super) async fn settle_tree(tree: &OnceCell<WorkTree>) -> Result<(), String> {
        match tree.get() {
            Some(tree) => tree.settled().await,
            None => Ok(()),
        }
    }
}

/// What a comparison says; one that failed says nothing, not that nothing has changed.
fn evidence(n: u32, compared: Result<[Vec<String>; 2], EvidenceError>, reading: u64) -> Input {
    match compared {
        Ok([iteration_files, phase_files]) => Input::EvidenceGathered { n, iteration_files, phase_files, reading },
        Err(error) => Input::EvidenceFailed { n, message: error.to_string() },
    }
}

struct Place {
    workspace: Workspace,
    keep: PathBuf,
    ticket_path: PathBuf,
    opened: Arc<OnceCell<WorkTree>>,
}

impl Place {
    /// The working tree, opened once for the run: git is asked half a dozen questions for it, and what Claude does to
    /// the repository's settings must not change the answers.
    async fn open(&self) -> Result<WorkTree, EvidenceError> {
        self.opened.get_or_try_init(|| WorkTree::open(self.workspace.directory(), &self.keep)).await.cloned()
    }

    fn excluded(&self, tree: &WorkTree) -> Vec<PathBuf> {
        tree.excluded(&self.ticket_path, &self.workspace)
    }

    /// Lines that the run has changed so far, where they can be counted.
    async fn lines(&self, name: &SnapshotName) -> Option<(u64, u64)> {
        let tree = self.open().await.ok()?;
        // Other tickets are the person's, as in Changes.
        let exclude = restoring::Place::at(tree.clone(), &self.workspace, &self.ticket_path, Path::new("")).exclude;
        tree.lines(name, &exclude).await.ok()?
    }

    /// The files that differ from each snapshot, their names clean. How the files are now is kept beside the snapshot of
    /// this name.
    async fn compare(
        &self,
        name: &SnapshotName,
        first: &SnapshotId,
        second: &SnapshotId,
    ) -> Result<[Vec<String>; 2], EvidenceError> {
        let tree = self.open().await?;
        let each = tree.changed_by(name, &[first, second], &self.excluded(&tree)).await?;
        let clean = |files: &Vec<String>| files.iter().map(|file| clean_line(file, NAME)).collect();
        let each: Vec<Vec<String>> = each.iter().map(clean).collect();
        each.try_into().map_err(|_| EvidenceError::Io {
            what: "comparing with two snapshots".to_owned(),
            path: self.workspace.directory().to_owned(),
            source: std::io::Error::other("an answer is missing"),
        })
    }
}
