//! What differs in a run's directory. Git is asked beside the service, whichever program the run belongs to.

use super::Service;
use crate::adapters::git::{Revert, SnapshotId, WorkTree};
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::changes::{Changes, Diff, Hunk, Since};
use crate::domain::record::Record;
use crate::domain::request::Reply;
use crate::domain::summary::{RunState, RunSummary};
use crate::runtime::commits::runs_of;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;

/// A tree, what in it is not compared, and what is.
struct Compared {
    tree: WorkTree,
    exclude: Vec<PathBuf>,
    from: SnapshotId,
    /// `None`: the files as they are.
    to: Option<SnapshotId>,
    base: Option<String>,
}

impl Service {
    pub(super) fn changes(&self, run: RunId, since: Since, reply: oneshot::Sender<Reply>) {
        let store = self.opener.store.clone();
        tokio::spawn(async move {
            let changes: Result<Changes, String> = async {
                let Compared { tree, exclude, from, to, base } = open(store, run, since.clone()).await?;
                let changes = tree.changes(&from, to.as_ref(), &exclude).await.map_err(|error| error.to_string())?;
                Ok(Changes { base, ..changes })
            }
            .await;
            reply.send(Reply::Changes(run, since, changes))
        });
    }

    /// One at a time, for each reads the whole tree; of those that wait only the last.
    pub(super) fn diff(&self, run: RunId, since: Since, path: String, reply: oneshot::Sender<Reply>) {
        let (store, turn) = (self.opener.store.clone(), self.diffs.last());
        tokio::spawn(async move {
            let Some(_turn) = turn.come().await else { return reply.send(Reply::Done) };
            let diff: Result<Diff, String> = async {
                let Compared { tree, exclude, from, to, .. } = open(store, run, since.clone()).await?;
                tree.diff(&from, to.as_ref(), &path, &exclude).await.map_err(|error| error.to_string())
            }
            .await;
            reply.send(Reply::Diff(run, since, path, diff))
        });
    }

    /// Between iterations only: nothing is written under Claude's hands.
    pub(super) fn revert(&self, run: RunId, since: Since, (path, hunk): (String, Hunk), reply: oneshot::Sender<Reply>) {
        let (store, commits) = (self.opener.store.clone(), self.commits.clone());
        tokio::spawn(async move {
            let reverted: Result<String, String> = async {
                let free = commits.free(run).await?;
                let ticket = store.run(run).map_err(|error| error.to_string())?.map(|(run, _)| run.ticket);
                let ticket = ticket.ok_or("there is no such run any more")?;
                let Compared { tree, exclude, from, base, .. } = open(store, run, since).await?;
                let (is_commit, may) = (base.is_some(), || free.is_still());
                let wanted = Revert { ticket: &ticket, from: &from, is_commit, path: &path, hunk: &hunk, may: &may };
                tree.revert(&wanted, &exclude).await
            }
            .await;
            reply.send(Reply::Reverted(path, reverted))
        });
    }
}

async fn open(store: Store, run: RunId, since: Since) -> Result<Compared, String> {
    let whole = since == Since::Ticket;
    let looked = tokio::task::spawn_blocking(move || look_up(&store, run, since)).await;
    let (run, from, keep) = looked.map_err(|error| error.to_string())??;
    let folder = run.workspace().directory().to_owned();
    let tree = WorkTree::open(&folder, &keep).await.map_err(|error| error.to_string())?;
    let exclude = tree.excluded(Path::new(&run.ticket_path), &folder);
    let (from, base) = match from {
        Some(from) => (SnapshotId(from), None),
        None => tree.merge_base().await.map(|(base, name)| (base, Some(name)))?,
    };
    // What came after the run is not its work.
    let to = if whole && run.state == RunState::Ended {
        tree.end_of(&run.ticket, run.run).await.map_err(|error| error.to_string())?
    } else {
        None
    };
    Ok(Compared { tree, exclude, from, to, base })
}

/// The run, the snapshot that is meant (`None`: the merge base), and the folder of the run that took it.
fn look_up(store: &Store, run: RunId, since: Since) -> Result<(RunSummary, Option<String>, PathBuf), String> {
    let known = store.run(run).map_err(|error| error.to_string())?;
    let (meant, _) = known.ok_or("there is no such run any more")?;
    let from = match since {
        Since::Snapshot(from) => return Ok((meant, Some(from), store.run_folder(run))),
        Since::Base => return Ok((meant, None, store.run_folder(run))),
        Since::Ticket => {
            let all = store.runs().map_err(|error| error.to_string())?;
            let runs = runs_of(&all, run)?;
            runs.iter().find_map(|run| Some((first_snapshot(store, run.run)?, store.run_folder(run.run))))
        }
    };
    from.map(|(from, keep)| (meant, Some(from), keep)).ok_or_else(|| "there is no snapshot yet".to_owned())
}

fn first_snapshot(store: &Store, run: RunId) -> Option<String> {
    store.load(run).ok()?.records.iter().find_map(|stored| match &stored.record {
        Record::SnapshotTaken { id, .. } => Some(id.clone()),
        _ => None,
    })
}
