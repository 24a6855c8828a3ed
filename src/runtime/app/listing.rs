//! Which tickets and runs there are: telling of them, and writing a new ticket.

use super::files::Files;
use super::{Service, refused};
use crate::adapters::file_watch::FileWatch;
use crate::adapters::tickets::{self, NewTicket};
use crate::base::id::{RunId, TicketId};
use crate::domain::news::News;
use crate::domain::request::Reply;
use crate::domain::ticket::Ticket;
use crate::domain::ticket::draft::Draft;
use crate::runtime::reporter::Reporter;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::task;

impl Service {
    /// Tells about every ticket of the tickets folder, and how every run stands. Ten thousand files take their time: they
    /// are read beside everything else.
    pub(super) fn list(&mut self, reply: oneshot::Sender<Reply>) {
        let (dir, known) = (self.places.dir(), self.known());
        self.others.list();
        task::spawn_blocking(move || {
            let all = tickets::list(&dir);
            // Where one thing cannot be read now, nothing is known to be gone.
            let whole = all.as_ref().is_ok_and(|all| all.iter().all(|listed| listed.ticket.is_ok()));
            let before = if whole { known.files.in_folder(&dir) } else { BTreeSet::new() };
            let mut there = BTreeSet::new();
            for listed in all.unwrap_or_default() {
                if let Ok(ticket) = listed.ticket {
                    there.insert(ticket.id.clone());
                    known.learn(Arc::new(ticket), &listed.path);
                }
            }
            for gone in before.difference(&there) {
                known.reporter.tell(&News::TicketGone(gone.clone()));
            }
            // Whoever asked may be gone.
            let _ = reply.send(Reply::Done);
        });
    }

    /// Writes a new ticket, and tells of it.
    pub(super) fn create(&mut self, draft: &Draft) -> Result<TicketId, String> {
        if let Some(why) = draft.hidden() {
            return Err(why.to_owned());
        }
        let user = self.user.clone();
        let new =
            NewTicket { draft, project: &self.places.folder, assignee: user.as_deref(), now: self.opener.clock.now() };
        let path = tickets::create(&new, &self.places.dir()).map_err(|error| error.to_string())?;
        let ticket = Arc::new(tickets::load(&path).map_err(|error| error.to_string())?);
        self.known().learn(ticket.clone(), &path);
        Ok(ticket.id.clone())
    }

    fn known(&self) -> Known {
        Known { files: self.files.clone(), reporter: self.reporter.clone(), watch: self.watch.clone() }
    }

    /// Tells a front end about a run, whoever works on it.
    pub(super) fn show(&mut self, run: RunId) -> Reply {
        let why = match self.others.show(run) {
            Ok(Some(run)) => {
                // A plan of this directory can be started from there; that of another is not worked on here.
                if Path::new(&run.folder) == self.places.folder && self.files.of(&run.ticket).is_none() {
                    self.files.learn(&run.ticket, Path::new(&run.ticket_path));
                }
                return Reply::Done;
            }
            Ok(None) => "there is no such run any more".to_owned(),
            Err(error) => error.to_string(),
        };
        refused(&TicketId::from_file_name(&run.short()), why, 1)
    }
}

/// What it takes to make a ticket known.
struct Known {
    files: Files,
    reporter: Reporter,
    watch: Arc<Mutex<Option<FileWatch>>>,
}

impl Known {
    /// Tells of a ticket, and from now on of every change of its file.
    fn learn(&self, ticket: Arc<Ticket>, path: &Path) {
        self.files.learn(&ticket.id, path);
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        *watch = watch.take().or_else(|| follow_tickets(self.reporter.clone()));
        if let Some(Err(error)) = watch.as_mut().map(|watch| watch.add(path)) {
            tracing::warn!(%error, "a ticket cannot be watched");
        }
        drop(watch);
        self.reporter.tell(&News::TicketRead(ticket));
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
