//! Committing what a ticket's runs have done, for front ends. Git and the person's hooks work beside the service.

use super::{Runs, Service};
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::commit::Agreed;
use crate::domain::request::Reply;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{oneshot, watch};

impl Service {
    pub(super) fn plan_commit(&self, run: RunId, reply: oneshot::Sender<Reply>) {
        let commits = self.commits.clone();
        tokio::spawn(async move {
            let plan = commits.plan(run).await;
            reply.send(Reply::CommitPlanned(run, plan.map(Box::new)))
        });
    }

    pub(super) fn commit(&self, run: RunId, agreed: Agreed, by: Answerer, reply: oneshot::Sender<Reply>) {
        let commits = self.commits.clone();
        let making = Making::begin(self.runs.clone());
        tokio::spawn(async move {
            let made = commits.make(run, &agreed, by, &|| making.called()).await;
            drop(making);
            reply.send(Reply::Committed(run, made))
        });
    }

    /// Whoever quits does not wait for git: it ends without this program, and the next one finishes.
    pub(super) fn leave_commits(&self) -> Reply {
        self.runs.send_modify(|runs| runs.leaves_commits = true);
        Reply::Done
    }
}

/// A commit or a revert that is being made: whoever quits waits for it.
pub(super) struct Making {
    runs: watch::Sender<Runs>,
    is_prepared: AtomicBool,
}

impl Making {
    pub(super) fn begin(runs: watch::Sender<Runs>) -> Self {
        runs.send_modify(|runs| (runs.commits, runs.prepared) = (runs.commits + 1, runs.prepared + 1));
        Self { runs, is_prepared: AtomicBool::new(false) }
    }

    /// Git runs.
    fn called(&self) {
        if !self.is_prepared.swap(true, Ordering::Relaxed) {
            self.runs.send_modify(|runs| runs.prepared -= 1);
        }
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.called();
        self.runs.send_modify(|runs| runs.commits -= 1);
    }
}
