//! Evidence: what changed in the working tree since a snapshot, and snapshots to go back to.
//!
//! Owns [`WorkTree`], which is a git repository (snapshots are commits under hidden refs) or a plain folder (snapshots are
//! manifests). Does not own what a change means (`orchestrator::judge`) nor running the ticket's commands
//! (`adapters::validate`). Names come as they are: clean them to show them.

mod attribution;
mod base;
mod begun;
pub mod branching;
mod changes;
mod command;
mod commit;
mod comparing;
mod error;
mod folder;
mod foretold;
mod forking;
pub mod head;
mod history;
mod ignores;
mod image;
mod imaging;
mod index;
mod init;
mod kept;
mod look;
pub mod merging;
mod objects;
pub mod origin;
mod others;
mod paths;
pub mod person;
mod programs;
mod pruning;
pub mod publishing;
mod refs;
pub mod registry;
mod repository;
pub mod resolving;
mod restore;
mod revert;
mod scratch;
mod seen;
mod settling;
mod snapshot;
mod warm;
pub mod worktree;

pub use attribution::Work;
pub use commit::{PATIENCE, Try};
pub use error::EvidenceError;
pub use folder::Folder;
pub use forking::Beginning;
pub use init::init;
pub use others::IterationWork;
pub use repository::Repository;
pub use restore::{Prepared, ReadyRestore};
pub use revert::{May, Ready, Revert, came_of};
pub use snapshot::{Snapshot, SnapshotId, SnapshotName, Taken};

use crate::base::id::{RunId, TicketId};
use crate::domain::changes::{Changes, Diff, WholeDiff};
use crate::domain::commit::{Agreed, CommitPlan, Committed};
use crate::domain::restore::{OthersWork, Plan, WantedFiles};
use crate::domain::timeline::Changed;
use crate::domain::workspace::Workspace;
use comparing::{compare_each, seen};
use paths::Excludes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warm::Wanted;

/// Removes from a run's folder what programs that were killed have left there.
pub fn sweep(keep: &Path) {
    scratch::sweep(keep);
}

/// Why nothing can be taken back or committed, and what to do.
pub const NO_GIT: &str = "not a git repository: run `git init`, then commit the existing files";

/// Where a run works, and what can be said about it. Cheap to clone.
#[derive(Clone, Debug)]
pub enum WorkTree {
    /// In a git repository: all of its working tree counts, also outside the folder.
    Git(Arc<Repository>),
    /// In none: the folder counts.
    Plain(Arc<Folder>),
}

impl WorkTree {
    /// Opens the working tree that `folder` is in. `keep`: a folder of ours outside it, for manifests and scratch space.
    pub async fn open(folder: &Path, keep: &Path) -> Result<Self, EvidenceError> {
        let folder = std::fs::canonicalize(folder).map_err(|source| EvidenceError::Io {
            what: "opening the working directory".to_owned(),
            path: folder.to_owned(),
            source,
        })?;
        Ok(match Repository::find(&folder, keep).await? {
            Some(repository) => Self::Git(Arc::new(repository)),
            None => Self::Plain(Arc::new(Folder::new(&folder, keep))),
        })
    }

    /// What is never evidence of a run in a workspace: the ticket's own file, a worktree's copy of it, and our folders.
    pub fn excluded(&self, ticket: &Path, workspace: &Workspace) -> Vec<PathBuf> {
        let ours = [workspace.directory(), self.top()].map(|folder| folder.join(".programmator"));
        std::iter::once(ticket.to_owned()).chain(workspace.copy_of(ticket)).chain(ours).collect()
    }

    /// The top: paths in answers are relative to it.
    pub fn top(&self) -> &Path {
        match self {
            Self::Git(repository) => &repository.top,
            Self::Plain(folder) => &folder.root,
        }
    }

    /// Saves all tracked and untracked, not ignored files but `exclude` (absolute paths, or relative to
    /// the working directory; a folder stands for all in it). Touches neither HEAD, index, stash nor a
    /// visible reflog. Taking it again under the same name replaces it. It lasts, and has its name, when it is
    /// [`settled`](Self::settled).
    pub async fn snapshot(&self, name: &SnapshotName, exclude: &[PathBuf]) -> Result<Taken, EvidenceError> {
        let exclude = self.excludes(exclude);
        match self {
            Self::Git(repository) => {
                let mut staged = warm::stage(repository, &exclude, Wanted::Lately).await?;
                let reference = format!("{}/{}/{}", history::folder(&name.ticket), name.run, name.n);
                let id = history::keep_early(repository, &mut staged, &reference).await?;
                seen(repository).snapshot(&id.0, &staged.tree);
                let skipped = staged.skipped.clone();
                warm::keep(repository, staged, exclude);
                Ok(Taken { id, skipped })
            }
            Self::Plain(folder) => folder.snapshot(exclude).await,
        }
    }

    /// Waits until all snapshots and ends that were taken here are on the disk and have their names; a power failure may
    /// cost the newest names, which the journal has as well. Words for the person where they cannot be.
    pub async fn settled(&self) -> Result<(), String> {
        match self {
            Self::Git(repository) => repository.settling.settled().await,
            Self::Plain(_) => Ok(()),
        }
    }

    /// For each snapshot the files that differ between it and now, by content, kind or mode, whatever was
    /// committed meanwhile; the tree is read once. Ignored files and `exclude` do not count; removed files do.
    pub async fn changed_since_each(
        &self,
        from: &[&SnapshotId],
        exclude: &[PathBuf],
    ) -> Result<Vec<Vec<String>>, EvidenceError> {
        self.compared(None, from, exclude).await
    }

    /// The same at the end of the iteration that this snapshot was taken before. How the files are then is kept when it is
    /// [`settled`](Self::settled), so that what is changed later is told from the iteration's work.
    pub async fn changed_by(
        &self,
        name: &SnapshotName,
        from: &[&SnapshotId],
        exclude: &[PathBuf],
    ) -> Result<Vec<Vec<String>>, EvidenceError> {
        self.compared(Some(name), from, exclude).await
    }

    async fn compared(
        &self,
        name: Option<&SnapshotName>,
        from: &[&SnapshotId],
        exclude: &[PathBuf],
    ) -> Result<Vec<Vec<String>>, EvidenceError> {
        let exclude = self.excludes(exclude);
        let repository = match self {
            Self::Git(repository) => repository,
            Self::Plain(folder) => return folder.changed(from, exclude).await,
        };
        let Some(name) = name else {
            let staged = scratch::stage(repository, &exclude, scratch::Objects::Passing).await?;
            return compare_each(repository, &staged, from, &exclude).await;
        };
        let mut staged = warm::stage(repository, &exclude, Wanted::Now).await?;
        history::keep_end(repository, &mut staged, name);
        let compared = compare_each(repository, &staged, from, &exclude).await;
        warm::keep(repository, staged, exclude);
        compared
    }

    /// Commands have run here since the last evidence: the next snapshot looks at everything.
    pub fn commands_ran(&self) {
        if let Self::Git(repository) = self {
            warm::stir(repository);
        }
    }

    /// What differs between a snapshot and another one, or now, for people.
    pub async fn changes(
        &self,
        from: &SnapshotId,
        to: Option<&SnapshotId>,
        exclude: &[PathBuf],
    ) -> Result<Changes, EvidenceError> {
        let exclude = self.excludes(exclude);
        match self {
            Self::Git(repository) => changes::changes(repository, from, to, &exclude).await,
            Self::Plain(folder) => folder.changes(from, exclude).await,
        }
    }

    /// One of these files, line by line; nothing for a plain folder, of which no contents are kept.
    pub async fn diff(
        &self,
        from: &SnapshotId,
        to: Option<&SnapshotId>,
        path: &str,
        exclude: &[PathBuf],
    ) -> Result<Diff, EvidenceError> {
        match self {
            Self::Git(repository) => changes::diff(repository, from, to, path, &self.excludes(exclude)).await,
            Self::Plain(_) => Ok(Diff::default()),
        }
    }

    /// All that differs between a snapshot and another one, or now, as a patch of at most 200 KB that says what it leaves
    /// out; of a plain folder, of which no contents are kept, the names.
    pub async fn patch(
        &self,
        from: &SnapshotId,
        to: Option<&SnapshotId>,
        exclude: &[PathBuf],
    ) -> Result<WholeDiff, EvidenceError> {
        match self {
            Self::Git(repository) => changes::whole(repository, from, to, &self.excludes(exclude)).await,
            Self::Plain(folder) => {
                let changed = folder.changed(&[from], self.excludes(exclude)).await?;
                let names: Vec<String> = changed.into_iter().flatten().collect();
                let head = "no contents stored; changed files:";
                let text = if names.is_empty() { String::new() } else { format!("{head}\n{}", names.join("\n")) };
                Ok(WholeDiff { text, left_out: Vec::new() })
            }
        }
    }

    /// Saves the present, so that a hunk of a file that was shown by [`diff`](Self::diff) can be taken back. `may` is asked
    /// before. Words for the person where it cannot, and then nothing is saved.
    pub async fn prepare_revert(
        &self,
        wanted: &Revert<'_>,
        exclude: &[PathBuf],
        may: May<'_>,
    ) -> Result<Ready, String> {
        match self {
            Self::Git(repository) => revert::prepare(repository, wanted, &self.excludes(exclude), may).await,
            Self::Plain(_) => Err(NO_GIT.to_owned()),
        }
    }

    /// How the files were when they were last seen in this run, and whether that is at the end of its last iteration;
    /// `None`: they were not seen, or there is no git.
    pub async fn left_by(&self, ticket: &TicketId, run: RunId) -> Result<Option<(SnapshotId, bool)>, EvidenceError> {
        match self {
            Self::Git(repository) => {
                let points = history::points(repository, &[(ticket.clone(), run)]).await?;
                let last = points.into_iter().next_back();
                Ok(last.map(|last| match last.after {
                    Some(end) => (SnapshotId(end), true),
                    None => (SnapshotId(last.before), false),
                }))
            }
            Self::Plain(_) => Ok(None),
        }
    }

    /// The commit that the branch began at, and what that is in words; words for the person where there is none.
    pub async fn merge_base(&self) -> Result<(SnapshotId, String), String> {
        match self {
            Self::Git(repository) => {
                base::base(repository).await.map_err(|error| error.to_string())?.ok_or_else(|| {
                    "nothing to compare with: this branch has no upstream, and no common commit with main or master"
                        .to_owned()
                })
            }
            Self::Plain(_) => Err(NO_GIT.to_owned()),
        }
    }

    /// The commit that the branch was at when it left `base`, a branch or commit; words for the person where there is none.
    pub async fn merge_base_with(&self, base: &str) -> Result<SnapshotId, String> {
        match self {
            Self::Git(repository) => base::with(repository, base).await,
            Self::Plain(_) => Err(NO_GIT.to_owned()),
        }
    }

    /// Lines that a run has added and removed, from its first snapshot to the end of this iteration, but in `exclude`.
    pub async fn lines(&self, name: &SnapshotName, exclude: &[PathBuf]) -> Result<Option<(u64, u64)>, EvidenceError> {
        match self {
            Self::Git(repository) => {
                // An end that has no name is not there to be counted to.
                repository.settling.ended().await;
                history::lines(repository, name, &self.excludes(exclude)).await
            }
            Self::Plain(_) => Ok(None),
        }
    }

    /// What a commit of these runs' work would be; words for the person where none can be made.
    pub async fn plan_commit(&self, work: &Work, exclude: &[PathBuf]) -> Result<CommitPlan, String> {
        match self {
            Self::Git(repository) => commit::plan(repository, work, &self.excludes(exclude)).await,
            Self::Plain(_) => Err(NO_GIT.to_owned()),
        }
    }

    /// Makes it as it was agreed to; words for the person where it is not made. A call of git outlives this program:
    /// [`recover_commit`](Self::recover_commit) finishes then.
    pub async fn commit(
        &self,
        work: &Work,
        agreed: &Agreed,
        attempt: &Try<'_>,
        exclude: &[PathBuf],
    ) -> Result<Committed, String> {
        match self {
            Self::Git(repository) => commit::commit(repository, work, agreed, attempt, &self.excludes(exclude)).await,
            Self::Plain(_) => Err(NO_GIT.to_owned()),
        }
    }

    /// What became of a commit under this id, upon this one, whose program has ended meanwhile: where it is made, the
    /// person's index follows now. `None`: git still works on it. The tree must be opened with the same `keep`.
    pub async fn recover_commit(
        &self,
        head: Option<&str>,
        id: &str,
    ) -> Result<Option<Result<Committed, String>>, EvidenceError> {
        match self {
            Self::Git(repository) => commit::recover(repository, head, id).await,
            Self::Plain(_) => Ok(Some(Err(NO_GIT.to_owned()))),
        }
    }

    /// The ticket's snapshots, oldest first, with how much each differs from the one before, but for `exclude`.
    pub async fn timeline(
        &self,
        ticket: &TicketId,
        exclude: &[PathBuf],
    ) -> Result<Vec<(Snapshot, Option<Changed>)>, EvidenceError> {
        let Self::Git(repository) = self else { return Ok(Vec::new()) };
        let all = history::list(repository, ticket).await?;
        let trees: Vec<&str> = all.iter().map(|snapshot| snapshot.tree.as_str()).collect();
        let unknown = |error: EvidenceError| {
            tracing::warn!(%error, "how much snapshots differ is not known");
            vec![None; trees.len().saturating_sub(1)]
        };
        let counts = history::counts(repository, &trees, &self.excludes(exclude)).await.unwrap_or_else(unknown);
        Ok(all.into_iter().zip(std::iter::once(None).chain(counts)).collect())
    }

    /// What a restore would do now. Changes nothing.
    pub async fn restore_plan(
        &self,
        ticket: &TicketId,
        wanted: &WantedFiles,
        others: &OthersWork,
        exclude: &[PathBuf],
    ) -> Result<Plan, EvidenceError> {
        match self {
            Self::Git(repository) => restore::plan(repository, ticket, wanted, others, &self.excludes(exclude)).await,
            Self::Plain(folder) => Err(EvidenceError::NotRestorable { folder: folder.root.clone() }),
        }
    }

    /// Saves the present, so that the files that differ from a snapshot can be written and removed. `agreed`: the
    /// [`Plan::tree`] that the person has seen. Words for the person where it cannot be.
    pub async fn prepare_restore(
        &self,
        ticket: &TicketId,
        wanted: &WantedFiles,
        agreed: Option<&str>,
        others: &OthersWork,
        exclude: &[PathBuf],
    ) -> Result<Prepared, String> {
        match self {
            Self::Git(repository) => {
                restore::prepare(repository, ticket, wanted, agreed, others, &self.excludes(exclude)).await
            }
            Self::Plain(folder) => Err(EvidenceError::NotRestorable { folder: folder.root.clone() }.to_string()),
        }
    }

    fn excludes(&self, exclude: &[PathBuf]) -> Excludes {
        match self {
            Self::Git(repository) => Excludes::new(&repository.top, &repository.folder, exclude),
            Self::Plain(folder) => Excludes::new(&folder.root, &folder.root, exclude),
        }
    }
}
