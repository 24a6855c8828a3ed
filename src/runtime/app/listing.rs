//! Which tickets and runs there are: telling of them, and writing a new ticket.

use super::{Service, refused};
use crate::adapters::file_watch::FileWatch;
use crate::adapters::tickets::{self, NewTicket};
use crate::base::id::{RunId, TicketId};
use crate::domain::news::News;
use crate::domain::request::Reply;
use crate::domain::summary::RunSummary;
use crate::domain::ticket::draft::Draft;
use crate::runtime::reporter::Reporter;
use std::path::Path;
use std::sync::Arc;

impl Service {
    /// Tells about every ticket of the tickets folder, and how every run stands.
    pub(super) fn list(&mut self) -> Reply {
        for listed in tickets::list(&self.places.dir()).unwrap_or_default() {
            if let Ok(ticket) = listed.ticket {
                self.known(Arc::new(ticket), &listed.path);
            }
        }
        self.others.list();
        Reply::Done
    }

    /// Writes a new ticket, and tells of it.
    pub(super) fn create(&mut self, draft: &Draft) -> Result<TicketId, String> {
        let user = self.user.clone();
        let new =
            NewTicket { draft, project: &self.places.folder, assignee: user.as_deref(), now: self.opener.clock.now() };
        let path = tickets::create(&new, &self.places.dir()).map_err(|error| error.to_string())?;
        let ticket = Arc::new(tickets::load(&path).map_err(|error| error.to_string())?);
        self.known(ticket.clone(), &path);
        Ok(ticket.id.clone())
    }

    /// Tells of a ticket, and from now on of every change of its file.
    fn known(&mut self, ticket: Arc<crate::domain::ticket::Ticket>, path: &Path) {
        self.files.learn(&ticket.id, path);
        self.watch = self.watch.take().or_else(|| follow_tickets(self.reporter.clone()));
        if let Some(Err(error)) = self.watch.as_mut().map(|watch| watch.add(path)) {
            tracing::warn!(%error, "a ticket cannot be watched");
        }
        self.reporter.tell(&News::TicketRead(ticket));
    }

    /// Tells a front end about a run, whoever works on it.
    pub(super) fn show(&mut self, run: RunId) -> Reply {
        let why = match self.others.show(run) {
            Ok(Some(RunSummary { ticket, ticket_path, .. })) => {
                self.files.learn(&ticket, Path::new(&ticket_path));
                return Reply::Done;
            }
            Ok(None) => "there is no such run any more".to_owned(),
            Err(error) => error.to_string(),
        };
        refused(&TicketId::from_file_name(&run.short()), why, 1)
    }
}

/// Tells what a listed ticket says when its file is saved, with a run or without.
fn follow_tickets(reporter: Reporter) -> Option<FileWatch> {
    let watch = FileWatch::new(move |path| {
        if let Ok(ticket) = tickets::load(&path) {
            reporter.tell(&News::TicketRead(Arc::new(ticket)));
        }
    });
    watch.inspect_err(|error| tracing::warn!(%error, "the tickets folder cannot be watched")).ok()
}
