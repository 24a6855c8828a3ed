//! Forking a run's ticket from a snapshot, for front ends. Git works beside the service.

use super::Service;
use super::commit::Making;
use crate::base::id::RunId;
use crate::domain::request::Reply;
use crate::runtime::forking::{Forking, Origin};
use crate::runtime::restoring::Place;
use std::path::Path;
use tokio::sync::oneshot;
use tokio::task::block_in_place;

impl Service {
    /// Whatever the run does meanwhile: nothing of it is touched.
    pub(super) fn fork(&self, run: RunId, (snapshot, id): (String, String), reply: oneshot::Sender<Reply>) {
        let (store, rules, clock) = (self.opener.store.clone(), self.opener.rules.clone(), self.opener.clock.clone());
        let (tickets, making) = (self.tickets.clone(), Making::begin(self.runs.clone()));
        tokio::spawn(async move {
            let forked = async {
                let known = block_in_place(|| store.run(run)).map_err(|error| error.to_string())?;
                let (known, _) = known.ok_or("the run no longer exists")?;
                let place = Place::of(&store, &known, &tickets).await?;
                let origin = Origin {
                    ticket: &known.ticket,
                    path: Path::new(&known.ticket_path),
                    home: Path::new(&known.folder),
                    tree: &place.tree,
                    base: known.worktree.as_ref().map(|worktree| worktree.base.clone()),
                    tickets: tickets(&known.workspace()),
                };
                Forking { store, clock, rules }.fork(origin, &snapshot, &id).await.map(Box::new)
            };
            let forked = forked.await;
            drop(making);
            reply.send(Reply::Forked(run, forked))
        });
    }
}
