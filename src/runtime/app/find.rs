//! Searching all runs and tickets, beside the service: one piece at a time, and of those that wait only the last.

use super::{Service, real};
use crate::domain::find::Find;
use crate::domain::request::Reply;
use crate::runtime::find::{PIECE, batch};
use tokio::sync::oneshot;

impl Service {
    pub(super) fn find(&self, find: Find, reply: oneshot::Sender<Reply>) {
        let (store, dir, turn) = (self.opener.store.clone(), real(&self.places.dir()), self.finds.last());
        tokio::spawn(async move {
            let Some(turn) = turn.come().await else { return reply.send(Reply::Done) };
            let wanted = find.clone();
            let found = tokio::task::spawn_blocking(move || {
                // Another one has its turn when this one has ended, whoever waits for it.
                let _turn = turn;
                batch(&store, &dir, &wanted, PIECE).map_err(|error| error.to_string())
            });
            let found = found.await.unwrap_or_else(|error| Err(error.to_string()));
            reply.send(Reply::Found(find, found))
        });
    }
}
