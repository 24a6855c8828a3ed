//! Opening runs. It may wait for other programs, so it is done beside everything else that is asked.

use super::{Service, Waiting, real, refused};
use crate::adapters::store::StoreError;
use crate::base::id::TicketId;
use crate::domain::request::Reply;
use crate::domain::stream::envelope::classify;
use crate::runtime::supervisor::{OpenError, Opener, Opening};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::{Id, JoinError};

impl Service {
    pub(super) fn start(&mut self, ticket: TicketId, path: PathBuf, reply: oneshot::Sender<Reply>) {
        let is_opening = self.waiting.values().any(|waiting| waiting.path.as_ref() == Some(&path));
        if self.supervisor.is_ending(&ticket) {
            self.again.insert(ticket, reply);
        } else if is_opening || self.supervisor.open_tickets().any(|open| *open == ticket) {
            // Nothing failed.
            self.reporter.trouble(&ticket, if is_opening { "is being opened" } else { "is open already" });
            let _ = reply.send(Reply::Done);
        } else {
            let waiting = Waiting { ticket, path: Some(path.clone()), reply };
            self.open(waiting, move |opener, here| opener.open(&path, here));
        }
    }

    pub(super) fn resume(&mut self, run: Option<String>, reply: oneshot::Sender<Reply>) {
        let ticket = TicketId::from_file_name(run.as_deref().unwrap_or("run"));
        self.open(Waiting { ticket, path: None, reply }, move |opener, here| opener.resume(run.as_deref(), here));
    }

    fn open(
        &mut self,
        waiting: Waiting,
        open: impl FnOnce(&Opener, &Path) -> Result<Opening, OpenError> + Send + 'static,
    ) {
        let (opener, here) = (self.opener.clone(), self.places.folder.clone());
        let task = self.opening.spawn_blocking(move || open(&opener, &here));
        self.waiting.insert(task.id(), waiting);
    }

    /// Begins what was opened, unless all runs are being ended meanwhile.
    pub(super) fn opened(&mut self, opened: Result<(Id, Result<Opening, OpenError>), JoinError>) {
        let (id, opened) = opened.unwrap_or_else(|crash| {
            (crash.id(), Err(OpenError::Config(format!("internal error: opening a run crashed: {crash}"))))
        });
        let Some(Waiting { ticket, path, reply }) = self.waiting.remove(&id) else {
            return opened.map_or((), Opening::give_up);
        };
        let replied = match opened.and_then(|opening| self.supervisor.launch(opening)) {
            Ok((ticket, path)) => {
                self.files.learn(&ticket, &path);
                self.count();
                Reply::Done
            }
            Err(error) => self.not_opened(ticket, path.as_deref(), &error),
        };
        let _ = reply.send(replied);
    }

    /// Says why a ticket cannot be worked on. Where its breaker is open, the run that opened it is shown: what it
    /// counted, and the key that closes it, are about that one.
    fn not_opened(&self, mut id: TicketId, path: Option<&Path>, error: &OpenError) -> Reply {
        if let (OpenError::CircuitOpen { ticket, .. }, Some(path)) = (error, path) {
            self.files.learn(ticket, path);
            if let Err(trouble) = self.show_latest(ticket, path) {
                self.reporter.trouble(ticket, &trouble.to_string());
            }
            id = ticket.clone();
        }
        self.outcome(&id, error.exit_code());
        refused(&id, error.to_string(), error.exit_code())
    }

    fn show_latest(&self, ticket: &TicketId, path: &Path) -> Result<(), StoreError> {
        if let Some(latest) = self.store.latest_for(&real(path).display().to_string())? {
            let (run, earlier) = (latest.run, self.store.load(latest.run)?.records.last().map_or(0, |last| last.seq));
            self.reporter.opened(run, ticket, earlier, Arc::new(self.store.scrollback(run, classify)?));
        }
        Ok(())
    }
}
