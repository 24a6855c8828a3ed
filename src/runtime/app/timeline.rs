//! The snapshots of a run's ticket, and restoring files from them, for front ends. Git works beside the service.

use super::Service;
use super::commit::Making;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::request::Reply;
use crate::domain::restore::{Restored, WantedFiles};
use crate::domain::summary::RunSummary;
use crate::domain::timeline::Moment;
use crate::runtime::restoring::{Place, TicketsOf};
use crate::runtime::timeline::{journals, moments};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

impl Service {
    pub(super) fn timeline(&self, run: RunId, reply: oneshot::Sender<Reply>) {
        let (store, tickets) = (self.opener.store.clone(), self.tickets.clone());
        tokio::spawn(async move { reply.send(Reply::Timeline(run, told(store, run, &tickets).await)) });
    }

    pub(super) fn plan_restore(&self, run: RunId, wanted: WantedFiles, reply: oneshot::Sender<Reply>) {
        let (store, commits, tickets) = (self.opener.store.clone(), self.commits.clone(), self.tickets.clone());
        tokio::spawn(async move {
            let plan = async {
                let known = commits.at_rest(run).await?;
                let place = Place::of(&store, &known, &tickets).await?;
                place.plan((&known.ticket, &known.ticket_path), &wanted).await
            };
            let plan = plan.await;
            reply.send(Reply::RestorePlanned(run, wanted, plan))
        });
    }

    /// Between iterations only: nothing is written under Claude's hands.
    pub(super) fn restore(
        &self,
        (run, wanted): (RunId, WantedFiles),
        tree: String,
        by: Answerer,
        reply: oneshot::Sender<Reply>,
    ) {
        let (store, commits, tickets) = (self.opener.store.clone(), self.commits.clone(), self.tickets.clone());
        let journal = self.supervisor.journal(run);
        let restoring = Making::begin(self.runs.clone());
        tokio::spawn(async move {
            let restored: Result<Restored, String> = async {
                let free = commits.free(run, journal).await?;
                let place = Place::of(&store, &free.run, &tickets).await?;
                free.restore(&place, wanted, Some(&tree), by).await
            }
            .await;
            drop(restoring);
            reply.send(Reply::Restored(run, restored))
        });
    }
}

async fn told(store: Store, run: RunId, tickets: &TicketsOf) -> Result<Vec<Moment>, String> {
    let of = store.clone();
    let looked = spawn_blocking(move || {
        let (known, _): (RunSummary, _) =
            of.run(run).map_err(|error| error.to_string())?.ok_or("the run no longer exists")?;
        let journals = journals(&of, &known.ticket_path).map_err(|error| error.to_string())?;
        Ok::<_, String>((known, journals))
    });
    let (known, journals) = looked.await.map_err(|error| error.to_string())??;
    let place = Place::of(&store, &known, tickets).await?;
    moments((&place.tree, &place.exclude), &known.ticket, &journals).await
}
