//! The figures of all runs, beside the service.

use super::Service;
use crate::domain::request::Reply;
use crate::domain::stats::lines;
use crate::runtime::stats::stats;
use tokio::sync::oneshot;

impl Service {
    pub(super) fn stats(&self, reply: oneshot::Sender<Reply>) {
        let store = self.opener.store.clone();
        tokio::task::spawn_blocking(move || {
            let told = stats(&store).map(|stats| lines(&stats)).map_err(|error| error.to_string());
            // Nobody may wait any more.
            let _ = reply.send(Reply::Stats(told));
        });
    }
}
