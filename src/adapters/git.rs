//! Evidence: what changed in the working tree since a snapshot, and snapshots to go back to.
//!
//! Owns [`WorkTree`], which is a git repository (snapshots are commits under hidden refs) or a plain
//! folder (snapshots are manifests). Does not own what a change means (`orchestrator::judge`) nor
//! running the ticket's commands (`adapters::validate`). Names come as they are: clean them to show them.

mod changes;
mod command;
mod error;
mod folder;
mod history;
mod paths;
mod repository;
mod restore;
mod scratch;
mod snapshot;

pub use error::EvidenceError;
pub use folder::Folder;
pub use repository::Repository;
pub use snapshot::{Kept, Plan, Restored, Snapshot, SnapshotId, SnapshotName, Taken};

use crate::base::id::TicketId;
use crate::domain::changes::{Changes, Diff};
use paths::Excludes;
use scratch::Objects;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a run works, and what can be said about it. Cheap to clone.
#[derive(Clone, Debug)]
pub enum WorkTree {
    /// In a git repository: all of its working tree counts, also outside the folder.
    Git(Arc<Repository>),
    /// In none: the folder counts.
    Plain(Arc<Folder>),
}

impl WorkTree {
    /// Opens the working tree that `folder` is in. `keep` is a folder of ours outside the working tree: for
    /// manifests of plain folders and for scratch space.
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

    /// The top: paths in answers are relative to it.
    pub fn top(&self) -> &Path {
        match self {
            Self::Git(repository) => &repository.top,
            Self::Plain(folder) => &folder.root,
        }
    }

    /// Saves all tracked and untracked, not ignored files but `exclude` (absolute paths, or relative to
    /// the working directory; a folder stands for all in it). Touches neither HEAD, index, stash nor a
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

    /// What differs between a snapshot and now, for people.
    pub async fn changes(&self, from: &SnapshotId, exclude: &[PathBuf]) -> Result<Changes, EvidenceError> {
        let exclude = self.excludes(exclude);
        match self {
            Self::Git(repository) => changes::changes(repository, from, &exclude).await,
            Self::Plain(folder) => folder.changes(from, exclude).await,
        }
    }

    /// One of these files, line by line; nothing for a plain folder, of which no contents are kept.
    pub async fn diff(&self, from: &SnapshotId, path: &str, exclude: &[PathBuf]) -> Result<Diff, EvidenceError> {
        match self {
            Self::Git(repository) => changes::diff(repository, from, path, &self.excludes(exclude)).await,
            Self::Plain(_) => Ok(Diff::default()),
        }
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
