//! Committing what a ticket's runs have done. Git and the person's hooks work beside the service.

use super::changes::runs_of;
use super::{Runs, Service};
use crate::adapters::git::{PATIENCE, Work, WorkTree};
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::commit::{Agreed, CommitPlan, Committed};
use crate::domain::request::Reply;
use crate::domain::summary::{RunState, RunSummary};
use std::path::{Path, PathBuf};
use tokio::sync::{oneshot, watch};

impl Service {
    pub(super) fn plan_commit(&self, run: RunId, reply: oneshot::Sender<Reply>) {
        let store = self.opener.store.clone();
        tokio::spawn(async move {
            let plan: Result<CommitPlan, String> = async {
                let (tree, work, exclude) = open(store, run).await?;
                tree.plan_commit(&work, &exclude).await
            }
            .await;
            reply.send(Reply::CommitPlanned(run, plan.map(Box::new)))
        });
    }

    pub(super) fn commit(&self, run: RunId, agreed: Agreed, reply: oneshot::Sender<Reply>) {
        let store = self.opener.store.clone();
        let making = Making::begin(self.runs.clone());
        tokio::spawn(async move {
            let _making = making;
            let made: Result<Committed, String> = async {
                let (tree, work, exclude) = open(store, run).await?;
                tree.commit(&work, &agreed, &exclude).await
            }
            .await;
            reply.send(Reply::Committed(run, made))
        });
    }
}

/// A commit that is being made: whoever quits waits for it.
struct Making(watch::Sender<Runs>);

impl Making {
    fn begin(runs: watch::Sender<Runs>) -> Self {
        runs.send_modify(|runs| runs.commits += 1);
        Self(runs)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.0.send_modify(|runs| runs.commits -= 1);
    }
}

/// A run that is open in this directory, above or below it, of whichever program.
fn at_work(store: &Store, meant: &RunSummary) -> Result<Option<RunSummary>, String> {
    let (all, workspace) = (store.runs().map_err(|error| error.to_string())?, meant.workspace());
    let here = workspace.directory();
    for run in all.into_iter().filter(|run| run.state != RunState::Ended) {
        let workspace = run.workspace();
        let there = workspace.directory();
        if there.starts_with(here) || here.starts_with(there) {
            let run = store.as_seen(run).map_err(|error| error.to_string())?;
            if run.state != RunState::Interrupted {
                return Ok(Some(run));
            }
        }
    }
    Ok(None)
}

async fn open(store: Store, run: RunId) -> Result<(WorkTree, Work, Vec<PathBuf>), String> {
    let looked = tokio::task::spawn_blocking(move || {
        let runs = runs_of(&store, run)?;
        let keep = store.run_folder(run);
        let meant = runs.iter().find(|known| known.run == run);
        if let Some(open) = meant.map(|meant| at_work(&store, meant)).transpose()?.flatten() {
            let ticket = open.ticket;
            return Err(format!("{ticket} is running in this directory: commit when its run has ended"));
        }
        Ok::<_, String>((runs, keep))
    })
    .await;
    let (runs, keep) = looked.map_err(|error| error.to_string())??;
    let Some(meant) = runs.iter().find(|known| known.run == run) else {
        return Err("there is no such run any more".into());
    };
    let tree = WorkTree::open(meant.workspace().directory(), &keep).await.map_err(|error| error.to_string())?;
    let work = Work {
        ticket: meant.ticket.clone(),
        since: runs.iter().map(|run| run.started).min().unwrap_or(meant.started),
        runs: runs.iter().map(|run| run.run).collect(),
        patience: PATIENCE,
    };
    let exclude = tree.excluded(Path::new(&meant.ticket_path), meant.workspace().directory());
    Ok((tree, work, exclude))
}
