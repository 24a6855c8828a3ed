//! The snapshots of a run's ticket, for front ends. Git is asked beside the service.

use super::Service;
use crate::adapters::git::WorkTree;
use crate::base::id::RunId;
use crate::domain::request::Reply;
use crate::runtime::timeline::{journals, moments};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

impl Service {
    pub(super) fn timeline(&self, run: RunId, reply: oneshot::Sender<Reply>) {
        let store = self.opener.store.clone();
        tokio::spawn(async move {
            let told = async {
                let looked = spawn_blocking(move || {
                    let (known, _) = store.run(run)?.unzip();
                    let journals = known.as_ref().map(|run| journals(&store, &run.ticket_path)).transpose()?;
                    Ok::<_, crate::adapters::store::StoreError>((known, journals, store.run_folder(run)))
                });
                let looked = looked.await.map_err(|error| error.to_string())?;
                let (known, journals, keep) = looked.map_err(|error| error.to_string())?;
                let known = known.ok_or("there is no such run any more")?;
                let tree = WorkTree::open(known.workspace().directory(), &keep).await;
                let tree = tree.map_err(|error| error.to_string())?;
                moments(&tree, &known.ticket, &journals.unwrap_or_default()).await
            };
            reply.send(Reply::Timeline(run, told.await))
        });
    }
}
