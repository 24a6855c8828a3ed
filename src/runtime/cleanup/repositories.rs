//! Leftovers in the person's repositories: old snapshots, which are refs of ours alone, and worktrees of tickets that are
//! finished. A repository that is gone has neither.

use super::{Cleanup, Cleared, Kind, Wanted};
use crate::adapters::disk_use::bytes_of;
use crate::adapters::git::worktree;
use crate::adapters::store::{StoreError, newest_of_each};
use crate::base::amount::counted;
use crate::domain::pruning::Keep;
use crate::domain::summary::RunState;
use crate::domain::workspace::Workspace;
use crate::runtime::commits::{Commits, Prune, Pruned};
use crate::runtime::ticket_runs::is_finished;
use crate::runtime::worktrees::{self, Own, RemoveError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tokio::task::block_in_place;

impl Cleanup {
    /// Those that `snapshots.keep_days` and `snapshots.keep_runs` do not keep, in every repository that a run has worked in.
    pub(super) async fn snapshots(&self, wanted: &Wanted) -> Result<Vec<Cleared>, StoreError> {
        let commits = Commits::new(&self.offline, self.tickets.clone());
        let mut all = Vec::new();
        for (top, folder) in block_in_place(|| self.repositories())? {
            let keep = (self.rules)(&Workspace::shared(folder))
                .map_or_else(|_| Keep::default(), |(config, _)| config.keep_snapshots);
            if keep == Keep::default() {
                continue;
            }
            let how = Prune { keep, is_tried: wanted.is_tried, ended: None };
            match commits.prune(&top, how, &wanted.by).await {
                Ok(pruned) => all.extend(pruned.into_iter().map(|Pruned { ticket, snapshots, bytes, skipped }| {
                    let what = match snapshots {
                        0 => format!("snapshots of {ticket}"),
                        n => format!("{} of {ticket}", counted(n, "snapshot")),
                    };
                    Cleared { kind: Kind::Snapshots, what, bytes, skipped }
                })),
                Err(why) => {
                    let what = format!("snapshots in {}", top.display());
                    all.push(Cleared { kind: Kind::Snapshots, what, bytes: None, skipped: Some(why) });
                }
            }
        }
        Ok(all)
    }

    /// The repositories that runs have worked in: the main working tree of each, and a directory of runs there.
    fn repositories(&self) -> Result<Vec<(PathBuf, PathBuf)>, StoreError> {
        let mut seen = BTreeSet::new();
        let folders: BTreeSet<String> = self.offline.store.runs()?.into_iter().map(|run| run.folder).collect();
        let found = folders.into_iter().map(PathBuf::from).filter_map(|folder| {
            let top = folder.ancestors().find(|above| above.join(".git").exists())?;
            let top = worktree::main_tree(top);
            Some((top.canonicalize().ok()?, folder))
        });
        Ok(found.filter(|(top, folder)| folder.is_dir() && seen.insert(top.clone())).collect())
    }

    /// Those of finished tickets that have rested long enough, and that hold no work.
    pub(super) async fn worktrees(&self, wanted: &Wanted) -> Result<Vec<Cleared>, StoreError> {
        let now = self.offline.clock.now();
        let mut all = Vec::new();
        for run in newest_of_each(block_in_place(|| self.offline.store.runs())?) {
            let Some(own) = run.worktree.as_ref().filter(|own| own.top.is_dir()) else { continue };
            let rests = run.state == RunState::Ended && !run.committing && wanted.keep.is_late(run.updated, now);
            if !rests || !block_in_place(|| is_finished(&run.ticket_path)) {
                continue;
            }
            if !worktree::held(own).await.is_ok_and(|held| held.is_nothing()) {
                continue;
            }
            let bytes = Some(block_in_place(|| bytes_of(&own.top)));
            let what = format!("{} of {}", own.top.display(), run.ticket);
            let of = Own { ticket: &run.ticket, path: Path::new(&run.ticket_path), worktree: own, has_run: true };
            let skipped = if wanted.is_tried {
                None
            } else {
                match worktrees::remove(&self.offline, of, wanted.by.clone()).await {
                    Ok(None) => None,
                    Ok(Some(error)) => {
                        tracing::warn!(error, "the journal does not say that a worktree is removed");
                        None
                    }
                    Err(RemoveError::Held(holder)) => Some(format!("in use by {holder}")),
                    Err(RemoveError::Store(error)) => Some(error.to_string()),
                    Err(RemoveError::Stays(why)) => Some(why),
                }
            };
            all.push(Cleared { kind: Kind::Worktree, what, bytes, skipped });
        }
        Ok(all)
    }
}
