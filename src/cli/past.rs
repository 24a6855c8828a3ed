//! What a screen without a service behind it may still ask, in a replay: to search all runs, and to see another one.

use crate::adapters::store::Store;
use crate::domain::request::{Refused, Reply, Request};
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunSummary;
use crate::domain::ticket::TicketKey;
use crate::runtime::app::real;
use crate::runtime::find::{PIECE, batch};
use crate::runtime::reporter::Reporter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The runs of the past.
pub struct Past {
    store: Store,
    tickets: PathBuf,
    reporter: Reporter,
}

impl Past {
    pub fn new(store: Store, tickets: &Path) -> Self {
        Self { reporter: Reporter::new(store.clone()), store, tickets: real(tickets) }
    }

    /// Whoever subscribes is told of the runs that are opened.
    pub fn reporter(&self) -> &Reporter {
        &self.reporter
    }

    /// Opens a run.
    pub fn open(&self, run: &RunSummary) -> Result<(), String> {
        let scrollback = self.store.scrollback(run.run, classify).map_err(|error| error.to_string())?;
        self.reporter.opened(run.run, &run.key(), 0, Arc::new(scrollback));
        Ok(())
    }

    /// Does what is asked, where that can be done without a service. Gives back what cannot.
    pub fn ask(&self, request: Request, reply: &UnboundedSender<Reply>) -> Result<(), Box<Request>> {
        match request {
            Request::Find(find) => {
                let (store, tickets, reply) = (self.store.clone(), self.tickets.clone(), reply.clone());
                tokio::task::spawn_blocking(move || {
                    let found = batch(&store, &tickets, &find, PIECE).map_err(|error| error.to_string());
                    // Nobody waits for it once the screen is left.
                    let _ = reply.send(Reply::Found(find, found));
                });
            }
            Request::Show(run) => {
                let found = self.store.run(run).map_err(|error| error.to_string());
                let opened = match found {
                    Ok(Some((found, _))) => self.open(&found),
                    Ok(None) => Err("the run no longer exists".to_owned()),
                    Err(why) => Err(why),
                };
                let _ = reply.send(opened.map_or_else(
                    |message| {
                        let ticket = TicketKey::unknown(&run.short());
                        Reply::Refused(Refused { ticket, message, exit_code: 1, asked: None })
                    },
                    |()| Reply::Done,
                ));
            }
            other => return Err(Box::new(other)),
        }
        Ok(())
    }
}
