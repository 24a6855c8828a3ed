//! Evidence: what changed in the work tree since a snapshot, and snapshots to go back to.
//!
//! Owns [`WorkTree`], which is a git repository (snapshots are commits under hidden refs) or a plain
//! folder (snapshots are manifests). Does not own what a change means (`orchestrator::judge`) nor
//! running the ticket's commands (`adapters::validate`). Names come as they are: clean them to show them.

mod command;
mod folder;
mod history;
mod paths;
mod repository;
mod restore;
mod scratch;

pub use folder::Folder;
pub use repository::Repository;

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use paths::Excludes;
use scratch::Objects;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a run works, and what can be said about it. Cheap to clone.
#[derive(Clone, Debug)]
pub enum WorkTree {
    /// In a git repository: all of its work tree counts, also outside the folder.
    Git(Arc<Repository>),
    /// In none: the folder counts.
    Plain(Arc<Folder>),
}

/// Names a snapshot: `refs/programmator/<ticket>/<run>/<n>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotName {
    /// The ticket.
    pub ticket: TicketId,
    /// The run.
    pub run: RunId,
    /// The iteration that the snapshot was taken before, from 1.
    pub n: u32,
}

/// A snapshot: the id of a git commit, or `manifest-<sha256>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SnapshotId(pub String);

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What taking a snapshot gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its id.
    pub id: SnapshotId,
    /// What could not be read and is not in it, one clean line each.
    pub skipped: Vec<String>,
}

/// A stored snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The run; `None` for what `restore` saved before it began.
    pub run: Option<RunId>,
    /// The iteration it was taken before, or the number of the restore.
    pub n: u32,
    /// Its commit.
    pub id: SnapshotId,
    /// When, to the second.
    pub time: Timestamp,
    /// What a person calls it: `3` in the newest run, `9b1c22d0/3` in an earlier one, `restore/1`.
    pub pick: String,
}

/// What a restore would do to the work tree as it is. Paths are relative to its top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Names the work tree's content: another one makes another plan.
    pub tree: String,
    /// Files that would be written.
    pub writes: Vec<String>,
    /// Files that would be removed.
    pub removes: Vec<String>,
    /// Files that would stay, though they differ.
    pub keeps: Vec<Kept>,
}

/// What a restore did. Paths are relative to the top of the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// What a person calls the snapshot of the state before.
    pub saved: String,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Files that differ still.
    pub kept: Vec<Kept>,
}

/// A file that a restore left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Which.
    pub path: String,
    /// Why.
    pub why: String,
}

/// Why the work tree could not be saved, compared or restored.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The folder needs git and there is none.
    #[error("`git` was not found, but {} is in a git repository: install git or put it on PATH", folder.display())]
    GitMissing {
        /// The folder.
        folder: PathBuf,
    },
    /// Git said no.
    #[error("git {verb} failed in {}: {said}", folder.display())]
    Failed {
        /// The git command.
        verb: &'static str,
        /// Where.
        folder: PathBuf,
        /// Git's own words, which name the cure where there is one.
        said: String,
    },
    /// Git took too long.
    #[error("git {verb} did not end within {seconds} s in {}: list in .gitignore what does not matter, or work in a smaller repository", folder.display())]
    TimedOut {
        /// The git command.
        verb: &'static str,
        /// Where.
        folder: PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// What is compared with is gone.
    #[error("{what} {} was deleted or moved while the run worked: put it back, then `programmator resume`", path.display())]
    Gone {
        /// What it was.
        what: &'static str,
        /// Where it was.
        path: PathBuf,
    },
    /// The system said no.
    #[error("{what} failed at {}: {source}", path.display())]
    Io {
        /// What was being done.
        what: String,
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The snapshot to compare with is not there.
    #[error("snapshot {id} is not there any more: it was removed, or it belongs to another work tree")]
    UnknownSnapshot {
        /// Its id.
        id: String,
    },
    /// No snapshot of that name.
    #[error("{ticket} has no snapshot `{wanted}`; there are: {known}")]
    NoSuchSnapshot {
        /// The ticket.
        ticket: TicketId,
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: String,
    },
    /// A plain folder has nothing to go back to.
    #[error(
        "{} is in no git repository: there programmator notes what changed but keeps no copies, so nothing can be restored. Run `git init` there before the next run",
        folder.display()
    )]
    NotRestorable {
        /// The folder.
        folder: PathBuf,
    },
}

impl WorkTree {
    /// Opens the work tree that `folder` is in. `keep` is a folder of ours outside the work tree: for
    /// manifests of plain folders and for scratch space.
    pub async fn open(folder: &Path, keep: &Path) -> Result<Self, EvidenceError> {
        let folder = std::fs::canonicalize(folder).map_err(|source| EvidenceError::Io {
            what: "opening the work folder".to_owned(),
            path: folder.to_owned(),
            source,
        })?;
        Ok(match Repository::find(&folder, keep).await? {
            Some(repository) => Self::Git(Arc::new(repository)),
            None => Self::Plain(Arc::new(Folder::new(&folder, keep))),
        })
    }

    /// The top: paths in answers are relative to it.
    pub fn top(&self) -> &Path {
        match self {
            Self::Git(repository) => &repository.top,
            Self::Plain(folder) => &folder.root,
        }
    }

    /// Saves all tracked and untracked, not ignored files but `exclude` (absolute paths, or relative to
    /// the work folder; a folder stands for all in it). Touches neither HEAD, index, stash nor a
    /// visible reflog. Taking it again under the same name replaces it.
    pub async fn snapshot(&self, name: &SnapshotName, exclude: &[PathBuf]) -> Result<Taken, EvidenceError> {
        let exclude = self.excludes(exclude);
        match self {
            Self::Git(repository) => {
                let staged = scratch::stage(repository, &exclude, Objects::Kept).await?;
                let reference = format!("{}/{}/{}", history::folder(&name.ticket), name.run, name.n);
                let id = history::keep(repository, &staged, &reference).await?;
                Ok(Taken { id, skipped: staged.skipped })
            }
            Self::Plain(folder) => folder.snapshot(exclude).await,
        }
    }

    /// For each snapshot the files that differ between it and now, by content, kind or mode, whatever was
    /// committed meanwhile; the tree is read once. Ignored files and `exclude` do not count; removed files do.
    pub async fn changed_since_each(
        &self,
        from: &[&SnapshotId],
        exclude: &[PathBuf],
    ) -> Result<Vec<Vec<String>>, EvidenceError> {
        let exclude = self.excludes(exclude);
        let repository = match self {
            Self::Git(repository) => repository,
            Self::Plain(folder) => return folder.changed(from, exclude).await,
        };
        let staged = scratch::stage(repository, &exclude, Objects::Passing).await?;
        let mut each: Vec<Vec<String>> = Vec::with_capacity(from.len());
        for (i, id) in from.iter().enumerate() {
            // The first iteration of a phase begins at the same snapshot as the phase.
            if let Some(same) = from[..i].iter().position(|earlier| earlier == id) {
                each.push(each[same].clone());
                continue;
            }
            let differences = history::differences(&staged.scratch, id, &staged.tree, &exclude).await?;
            let counted = differences.iter().filter(|difference| {
                // Gone from the tree but not from the disk: ignored or unreadable since. No work.
                let there = std::fs::symlink_metadata(repository.top.join(paths::path(&difference.path)));
                difference.status != b'D' || there.map_or(true, |data| data.is_dir())
            });
            each.push(counted.map(|difference| paths::shown(&difference.path)).collect());
        }
        Ok(each)
    }

    /// The ticket's snapshots in this repository, oldest first; none for a plain folder.
    pub async fn list_snapshots(&self, ticket: &TicketId) -> Result<Vec<Snapshot>, EvidenceError> {
        match self {
            Self::Git(repository) => history::list(repository, ticket).await,
            Self::Plain(_) => Ok(Vec::new()),
        }
    }

    /// What [`restore`](Self::restore) would do now. Changes nothing.
    pub async fn restore_plan(
        &self,
        ticket: &TicketId,
        pick: &str,
        exclude: &[PathBuf],
    ) -> Result<Plan, EvidenceError> {
        match self {
            Self::Git(repository) => restore::plan(repository, ticket, pick, &self.excludes(exclude)).await,
            Self::Plain(folder) => Err(EvidenceError::NotRestorable { folder: folder.root.clone() }),
        }
    }

    /// Saves the present, then writes and removes the files that differ from the snapshot called `pick`
    /// (see [`Snapshot::pick`]). Ignored files and `exclude` stay as they are.
    pub async fn restore(&self, ticket: &TicketId, pick: &str, exclude: &[PathBuf]) -> Result<Restored, EvidenceError> {
        match self {
            Self::Git(repository) => restore::restore(repository, ticket, pick, &self.excludes(exclude)).await,
            Self::Plain(folder) => Err(EvidenceError::NotRestorable { folder: folder.root.clone() }),
        }
    }

    fn excludes(&self, exclude: &[PathBuf]) -> Excludes {
        match self {
            Self::Git(repository) => Excludes::new(&repository.top, &repository.folder, exclude),
            Self::Plain(folder) => Excludes::new(&folder.root, &folder.root, exclude),
        }
    }
}
