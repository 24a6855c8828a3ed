//! What differs in a run's directory. Git is asked beside the service, whichever program the run belongs to.

use super::Service;
use crate::adapters::git::{SnapshotId, WorkTree};
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::changes::{Changes, Diff, Since};
use crate::domain::record::Record;
use crate::domain::request::Reply;
use crate::domain::summary::RunSummary;
use crate::runtime::commits::runs_of;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;

/// A tree, what in it is not compared, and the snapshot that it is compared with.
struct Compared {
    tree: WorkTree,
    exclude: Vec<PathBuf>,
    from: SnapshotId,
}

impl Service {
    pub(super) fn changes(&self, run: RunId, since: Since, reply: oneshot::Sender<Reply>) {
        let store = self.opener.store.clone();
        tokio::spawn(async move {
            let changes: Result<Changes, String> = async {
                let Compared { tree, exclude, from } = open(store, run, since.clone()).await?;
                tree.changes(&from, &exclude).await.map_err(|error| error.to_string())
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
                let Compared { tree, exclude, from } = open(store, run, since.clone()).await?;
                tree.diff(&from, &path, &exclude).await.map_err(|error| error.to_string())
            }
            .await;
            reply.send(Reply::Diff(run, since, path, diff))
        });
    }
}

async fn open(store: Store, run: RunId, since: Since) -> Result<Compared, String> {
    let looked = tokio::task::spawn_blocking(move || look_up(&store, run, since)).await;
    let (run, from, keep) = looked.map_err(|error| error.to_string())??;
    let folder = run.workspace().directory().to_owned();
    let tree = WorkTree::open(&folder, &keep).await.map_err(|error| error.to_string())?;
    let exclude = tree.excluded(Path::new(&run.ticket_path), &folder);
    Ok(Compared { tree, exclude, from: SnapshotId(from) })
}

/// The run, the snapshot that is meant, and the folder of the run that took it.
fn look_up(store: &Store, run: RunId, since: Since) -> Result<(RunSummary, String, PathBuf), String> {
    let known = store.run(run).map_err(|error| error.to_string())?;
    let (meant, _) = known.ok_or("there is no such run any more")?;
    let from = match since {
        Since::Snapshot(from) => return Ok((meant, from, store.run_folder(run))),
        Since::Ticket => {
            let all = store.runs().map_err(|error| error.to_string())?;
            let runs = runs_of(&all, run)?;
            runs.iter().find_map(|run| Some((first_snapshot(store, run.run)?, store.run_folder(run.run))))
        }
    };
    from.map(|(from, keep)| (meant, from, keep)).ok_or_else(|| "there is no snapshot yet".to_owned())
}

fn first_snapshot(store: &Store, run: RunId) -> Option<String> {
    store.load(run).ok()?.records.iter().find_map(|stored| match &stored.record {
        Record::SnapshotTaken { id, .. } => Some(id.clone()),
        _ => None,
    })
}
