//! Opening runs, when their [turn](super::starting) has come. It may wait for other programs, so it is done beside everything else that is asked.

use super::{Asked, Service, Waiting, real};
use crate::adapters::chats;
use crate::adapters::tickets::Places;
use crate::domain::answerer::Answerer;
use crate::domain::chat::ChatWanted;
use crate::domain::planning::PlanAsked;
use crate::domain::request::{LATEST, Refused, Reply, Request};
use crate::domain::ticket::TicketKey;
use crate::runtime::supervisor::{OpenError, Opener, Opening, chat_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;
use tokio::task::{Id, JoinError};

impl Service {
    pub(super) fn start(
        &mut self,
        ticket: TicketKey,
        path: PathBuf,
        asked: Option<String>,
        (by, reply): (Answerer, oneshot::Sender<Reply>),
    ) {
        let is_opening = self.is_opening(&path);
        if self.supervisor.is_ending(&ticket) {
            let starts = |(request, ..): &Asked| matches!(request, Request::Start(_) | Request::Open(_));
            let later = self.later.entry(ticket.clone()).or_default();
            later.retain(|asked| !starts(asked));
            later.push((asked.map_or(Request::Start(ticket), Request::Open), by, reply));
        } else if is_opening || self.queue.has(&path) || self.supervisor.is_open(&ticket) {
            // Nothing failed.
            self.reporter.trouble(&ticket, if is_opening { "is being opened" } else { "is already open" });
            let _ = reply.send(opened(asked, ticket));
        } else {
            self.enqueue(ticket, path, asked, Some(reply));
            self.pump();
        }
    }

    pub(super) fn is_opening(&self, path: &Path) -> bool {
        self.waiting.values().any(|waiting| waiting.path.as_deref() == Some(path))
    }

    /// Opens a run that plans the ticket.
    pub(super) fn plan(
        &mut self,
        path: PathBuf,
        name: String,
        asked: PlanAsked,
        (by, reply): (Answerer, oneshot::Sender<Reply>),
    ) {
        let ticket = self.files.ticket(&path);
        let is_opening = self.is_opening(&path);
        if self.supervisor.is_ending(&ticket) {
            self.later.entry(ticket).or_default().push((Request::Plan(name, asked), by, reply));
        } else if is_opening || self.supervisor.is_open(&ticket) {
            let message = format!("{ticket} is already open: stop its run before it is planned");
            let _ = reply.send(Reply::Refused(Refused { ticket, message, exit_code: 0, asked: Some(name) }));
        } else {
            let asked = PlanAsked { by, ..asked };
            let waiting = Waiting { ticket, path: Some(path.clone()), asked: Some(name), reply: Some(reply) };
            self.open(waiting, move |opener, places| opener.open(&path, &places.folder)?.planning(asked));
        }
    }

    /// Opens the ticket's run again, to resolve the conflict that it ended with.
    pub(super) fn resolve(
        &mut self,
        ticket: TicketKey,
        path: PathBuf,
        (by, reply): (Answerer, oneshot::Sender<Reply>),
    ) {
        if self.supervisor.is_ending(&ticket) {
            self.later.entry(ticket.clone()).or_default().push((Request::Resolve(ticket), by, reply));
        } else if self.is_opening(&path) || self.queue.has(&path) || self.supervisor.is_open(&ticket) {
            self.reporter.trouble(&ticket, "is already open");
            let _ = reply.send(Reply::Done);
        } else {
            let waiting = Waiting { ticket, path: Some(path.clone()), asked: None, reply: Some(reply) };
            self.open(waiting, move |opener, places| opener.open(&path, &places.folder)?.resolving(by));
        }
    }

    /// Opens a chat, or shows the one that is open.
    pub(super) fn chat(&mut self, wanted: ChatWanted, by: Answerer, reply: oneshot::Sender<Reply>) {
        let asked = Some(ChatWanted::NAME.to_owned());
        let store = &self.opener.store;
        let refuse = |message: String| {
            let ticket = TicketKey::unknown("chat");
            Reply::Refused(Refused { ticket, message, exit_code: 1, asked: asked.clone() })
        };
        let found = if wanted.resume {
            let last = chat_of(store, &real(&self.places.folder)).map_err(|error| error.to_string());
            let none = || "no chat in this directory yet; `programmator chat` starts one".to_owned();
            last.and_then(|last| last.map(|last| PathBuf::from(last.ticket_path)).ok_or_else(none))
        } else {
            chats::create(store.folder()).map_err(|error| error.to_string())
        };
        let path = match found {
            Ok(path) => path,
            Err(why) => return drop(reply.send(refuse(why))),
        };
        let ticket = self.files.ticket(&path);
        if self.supervisor.is_open(&ticket) || self.waiting.values().any(|waiting| waiting.path.as_ref() == Some(&path))
        {
            return drop(reply.send(opened(asked, ticket)));
        }
        self.open(Waiting { ticket, path: Some(path.clone()), asked, reply: Some(reply) }, move |opener, places| {
            Ok(opener.open(&path, &places.folder)?.chat(wanted.plain, by))
        });
    }

    pub(super) fn resume(&mut self, run: Option<String>, reply: oneshot::Sender<Reply>) {
        let ticket = TicketKey::unknown(run.as_deref().unwrap_or("run"));
        let asked = Some(run.clone().unwrap_or_else(|| LATEST.to_owned()));
        self.open(Waiting { ticket, path: None, asked, reply: Some(reply) }, move |opener, places| {
            opener.resume(run.as_deref(), places)
        });
    }

    pub(super) fn open(
        &mut self,
        waiting: Waiting,
        open: impl FnOnce(&Opener, &Places) -> Result<Opening, OpenError> + Send + 'static,
    ) {
        let (opener, places) = (self.opener.clone(), self.places.clone());
        let turn = self.offline.turn.clone();
        let task = self.opening.spawn_blocking(move || {
            // What this program is just appending holds the ticket, too.
            drop(turn.blocking_lock());
            open(&opener, &places)
        });
        self.waiting.insert(task.id(), waiting);
        self.count();
    }

    /// What is being opened is this ticket, or may be: of a run that was not named by its ticket that is not known before. It
    /// may be on the screen already, as another program's.
    pub(super) fn may_be_opening(&self, ticket: &TicketKey) -> bool {
        self.waiting.values().any(|waiting| waiting.ticket == *ticket || waiting.path.is_none())
    }

    /// Begins what was opened, and hands on what was asked of it meanwhile.
    pub(super) async fn opened(&mut self, opened: Result<(Id, Result<Opening, OpenError>), JoinError>) {
        self.begin(opened);
        let later = std::mem::take(&mut self.later);
        let waits = |ticket: &TicketKey| self.supervisor.is_ending(ticket) || self.may_be_opening(ticket);
        let (waiting, ready): (BTreeMap<_, _>, BTreeMap<_, _>) =
            later.into_iter().partition(|(ticket, _)| waits(ticket));
        self.later = waiting;
        for (request, by, reply) in ready.into_values().flatten() {
            self.answer(request, by, reply).await;
        }
    }

    /// Begins what was opened, unless all runs are being ended meanwhile.
    fn begin(&mut self, opened: Result<(Id, Result<Opening, OpenError>), JoinError>) {
        let (id, opened) = opened.unwrap_or_else(|crash| {
            (crash.id(), Err(OpenError::Config(format!("internal error: opening a run crashed: {crash}"))))
        });
        let Some(Waiting { ticket, path, asked, reply }) = self.waiting.remove(&id) else {
            return opened.map_or((), Opening::give_up);
        };
        let launched = opened.and_then(|opening| {
            // What was told of it as another program's is over.
            self.others.leave(opening.plan.run);
            self.supervisor.launch(opening)
        });
        let replied = match launched {
            Ok((ticket, path)) => {
                self.files.learn(&ticket, &path);
                self::opened(asked, ticket)
            }
            Err(error) => self.not_opened(ticket, path.as_deref(), &error, asked),
        };
        self.settle(reply, replied);
        self.pump();
    }

    /// Says why a ticket cannot be worked on. Where its breaker is open, the run that opened it is shown: what it
    /// counted, and the key that closes it, are about that one.
    fn not_opened(&self, ticket: TicketKey, path: Option<&Path>, error: &OpenError, asked: Option<String>) -> Reply {
        if let (OpenError::CircuitOpen { .. }, Some(path)) = (error, path) {
            self.files.learn(&ticket, path);
            if let Err(trouble) = self.offline.show_latest(&ticket, path) {
                self.reporter.trouble(&ticket, &trouble.to_string());
            }
        }
        self.outcome(&ticket, error.exit_code());
        Reply::Refused(Refused { ticket, message: error.to_string(), exit_code: error.exit_code(), asked })
    }
}

pub(super) fn opened(asked: Option<String>, ticket: TicketKey) -> Reply {
    asked.map_or(Reply::Done, |asked| Reply::Opened { asked, ticket })
}
