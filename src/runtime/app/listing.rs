//! Which tickets and runs there are: telling of them, and writing a new ticket.

use super::files::Files;
use super::{Service, real, refused};
use crate::adapters::file_watch::{FileWatch, WatchError};
use crate::adapters::store::Store;
use crate::adapters::tickets::{self, NewTicket};
use crate::base::id::RunId;
use crate::domain::news::News;
use crate::domain::request::Reply;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::{Ticket, TicketKey};
use crate::runtime::reporter::Reporter;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::task;

impl Service {
    /// Tells about every ticket of the tickets folder, and how every run stands. Ten thousand files take their time: they
    /// are read beside everything else.
    pub(super) fn list(&mut self, reply: oneshot::Sender<Reply>) {
        let (dir, known, store) = (self.places.dir(), self.known(), self.opener.store.clone());
        self.others.list();
        task::spawn_blocking(move || {
            known.tell_archived(&store);
            known.list(&dir);
            // Whoever asked may be gone.
            let _ = reply.send(Reply::Listed(real(&dir).display().to_string()));
        });
    }

    /// Writes a new ticket, and tells of it.
    pub(super) fn create(&mut self, draft: &Draft) -> Result<TicketKey, String> {
        if let Some(why) = draft.hidden() {
            return Err(why.to_owned());
        }
        let user = self.user.clone();
        let new = NewTicket {
            draft,
            project: &self.places.folder,
            assignee: user.as_deref(),
            now: self.opener.clock.now(),
            origin: None,
            parent: None,
            deps: &[],
        };
        let path = tickets::create(&new, &self.places.dir()).map_err(|error| error.to_string())?;
        let path = real(&path);
        let ticket = tickets::load(&path).map_err(|error| error.to_string())?;
        Ok(self.known().learn(ticket, &path))
    }

    /// Archives tickets, or takes them back.
    pub(super) fn archive(&self, tickets: &[TicketKey], archived: bool) -> Reply {
        let files: Vec<String> = tickets.iter().map(|ticket| ticket.file().to_owned()).collect();
        let done = self.opener.store.archive(&files, archived);
        self.known().tell_archived(&self.opener.store);
        match (done, tickets) {
            (Err(error), [first, ..]) => refused(first, error.to_string(), 0),
            _ => Reply::Done,
        }
    }

    pub(super) fn known(&self) -> Known {
        Known { files: self.files.clone(), reporter: self.reporter.clone(), watch: self.watch.clone() }
    }

    /// Tells a front end about a run, whoever works on it.
    pub(super) fn show(&mut self, run: RunId) -> Reply {
        if self.supervisor.works_on(run) {
            // All of it is told anyway.
            return Reply::Done;
        }
        let why = match self.others.show(run) {
            Ok(Some(run)) => {
                // A plan of this directory can be started from there; that of another is not worked on here.
                let is_here = Path::new(&run.folder) == self.places.folder && !run.is_own_session();
                if is_here && self.files.of(&run.key()).is_none() {
                    self.files.learn(&run.key(), Path::new(&run.ticket_path));
                }
                return Reply::Done;
            }
            // A session of the person's own has a run once it asks something.
            Ok(None) if self.others.own.show(run) => return Reply::Done,
            Ok(None) => "the run no longer exists".to_owned(),
            Err(error) => error.to_string(),
        };
        refused(&TicketKey::unknown(&run.short()), why, 1)
    }
}

/// What it takes to make tickets known.
#[derive(Clone)]
pub(super) struct Known {
    files: Files,
    reporter: Reporter,
    watch: Arc<Mutex<Option<FileWatch>>>,
}

impl Known {
    fn tell_archived(&self, store: &Store) {
        match store.archived() {
            Ok(archived) => self.reporter.tell(&News::ArchivedSeen(Arc::new(archived))),
            Err(error) => tracing::warn!(%error, "it is not known which tickets are archived"),
        }
    }

    /// Tells of every ticket of the folder, and of those that are gone; from now on also of files that come and go.
    pub(super) fn list(&self, dir: &Path) {
        let dir = real(dir);
        self.watched(|watch| watch.add_folder(&dir));
        let before = self.files.in_folder(&dir);
        let (mut there, mut unread) = (BTreeSet::new(), BTreeMap::new());
        let all = tickets::list_each(&dir, |listed| match listed.ticket {
            Ok(ticket) => drop(there.insert(self.learn(ticket, &listed.path))),
            Err(why) => drop(unread.insert(listed.path.display().to_string(), why.to_string())),
        });
        // Where one thing cannot be read now, nothing is known to be gone.
        let whole = all.is_ok() && unread.is_empty();
        self.reporter.tell(&News::UnreadSeen(Arc::new(unread)));
        for gone in before.difference(&there).filter(|_| whole) {
            self.files.forget(gone);
            self.reporter.tell(&News::TicketGone(gone.clone()));
        }
    }

    /// Tells of a ticket, and from now on of every change of its file.
    fn learn(&self, ticket: Ticket, path: &Path) -> TicketKey {
        let key = TicketKey::new(ticket.id.clone(), path);
        self.files.learn(&key, path);
        self.watched(|watch| watch.add(path));
        self.reporter.tell(&News::TicketRead(key.clone(), Arc::new(ticket)));
        key
    }

    fn watched(&self, add: impl FnOnce(&mut FileWatch) -> Result<(), WatchError>) {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        *watch = watch.take().or_else(|| self.follow());
        if let Some(Err(error)) = watch.as_mut().map(add) {
            tracing::warn!(%error, "tickets cannot be watched");
        }
    }

    /// Tells what a listed ticket says when its file is saved, with a run or without, and which files come and go.
    fn follow(&self) -> Option<FileWatch> {
        let (files, reporter, watch) = (self.files.clone(), self.reporter.clone(), Arc::downgrade(&self.watch));
        let watch = FileWatch::new(move |path| {
            let Some(watch) = watch.upgrade() else { return };
            let known = Self { files: files.clone(), reporter: reporter.clone(), watch };
            match tickets::load(&path) {
                Ok(ticket) => {
                    let key = TicketKey::new(ticket.id.clone(), &path);
                    known.reporter.tell(&News::TicketRead(key, Arc::new(ticket)));
                }
                Err(_) if path.is_dir() => known.list(&path),
                // Between two versions, or gone: that is told of its folder.
                Err(_) => {}
            }
        });
        watch.inspect_err(|error| tracing::warn!(%error, "the tickets folder cannot be watched")).ok()
    }
}
