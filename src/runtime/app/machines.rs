//! What is at work on the person's other machines, asked beside the service: it may take a minute.

use super::Service;
use crate::domain::machine::Machine;
use crate::domain::request::Reply;
use crate::domain::workspace::Workspace;
use crate::runtime::machines::ask_all;
use tokio::sync::oneshot;

impl Service {
    pub(super) fn machines(&self, reply: oneshot::Sender<Reply>) {
        let config = (self.opener.rules)(&Workspace::shared(self.places.folder.display().to_string()));
        tokio::spawn(async move {
            let told = match config {
                Ok((config, _)) => {
                    let all = ask_all(&config.hosts).await;
                    Ok(all.into_iter().map(|(name, runs)| Machine::of(Some(name), &runs)).collect())
                }
                Err(why) => Err(why),
            };
            // Nobody may wait any more.
            reply.send(Reply::Machines(told))
        });
    }
}
