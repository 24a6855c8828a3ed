//! What the runs have come to, beside the service.

use super::Service;
use crate::adapters::clock::zone;
use crate::base::time::Timestamp;
use crate::domain::report::lines;
use crate::domain::request::Reply;
use crate::runtime::report::report;
use tokio::sync::oneshot;

impl Service {
    pub(super) fn report(&self, since: Timestamp, reply: oneshot::Sender<Reply>) {
        let (store, now) = (self.opener.store.clone(), self.opener.clock.now());
        tokio::task::spawn_blocking(move || {
            let told = report(&store, since, now).map(|told| lines(&told, &zone())).map_err(|error| error.to_string());
            // Nobody may wait any more.
            let _ = reply.send(Reply::Report(told));
        });
    }
}
