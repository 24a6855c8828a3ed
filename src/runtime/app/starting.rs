//! Starting tickets: what may start is opened, one after the other; the others wait in the [queue](super::queue).

use super::opening::opened;
use super::queue::{Around, Entry};
use super::{Service, Waiting};
use crate::adapters::tickets;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::queue::{self, Next, Queued, Slots};
use crate::domain::request::{Refused, Reply};
use crate::domain::ticket::TicketKey;
use std::path::PathBuf;
use tokio::sync::oneshot;

impl Service {
    /// Takes a ticket into the queue; the next [`pump`](Self::pump) may start it.
    pub(super) fn enqueue(
        &mut self,
        ticket: TicketKey,
        path: PathBuf,
        asked: Option<String>,
        reply: Option<oneshot::Sender<Reply>>,
    ) {
        self.queue.given += 1;
        let given = self.queue.given;
        self.queue.entries.push(Entry { ticket, path, given, asked, reply, told: None });
    }

    /// Starts several tickets, which wait for each other where they depend on each other. What comes of each is news.
    pub(super) fn start_all(&mut self, names: Vec<String>) -> Reply {
        for name in names {
            match tickets::find(&name, &self.places) {
                Ok(path) => {
                    let ticket = self.files.ticket(&path);
                    let is_at_work = self.supervisor.is_open(&ticket) && !self.supervisor.is_ending(&ticket);
                    if self.queue.has(&path) || self.is_opening(&path) || is_at_work {
                        self.reporter.trouble(&ticket, "is already open");
                    } else {
                        self.enqueue(ticket, path, None, None);
                    }
                }
                Err(error) => {
                    let ticket = TicketKey::unknown(&name);
                    let message = error.to_string();
                    let refused = Refused { ticket: ticket.clone(), message, exit_code: 2, asked: Some(name) };
                    self.reporter.tell(&News::NotStarted(refused));
                    self.outcome(&ticket, 2);
                }
            }
        }
        self.pump();
        Reply::Done
    }

    /// Starts what may start, and says of the others why they wait. One is opened after the other: whoever is first has
    /// the directory.
    pub(super) fn pump(&mut self) {
        if self.queue.halts && self.runs.borrow().codes.values().any(|code| *code != 0) {
            self.halt();
        }
        while self.waiting.is_empty() && self.queue.len() > 0 {
            let queued = self.looked_at();
            let slots = self.supervisor.slots(self.queue.most);
            match queue::next(&queued, slots) {
                Some(Next::Start(ticket)) => {
                    let Some(Entry { ticket, path, asked, reply, told, .. }) = self.queue.take(&ticket) else { break };
                    self.tell_queued(&ticket, told.as_deref(), None);
                    let waiting = Waiting { ticket, path: Some(path.clone()), asked, reply };
                    self.open(waiting, move |opener, places| opener.open(&path, &places.folder)?.working());
                }
                Some(Next::Leave(all)) => {
                    for (ticket, why) in all {
                        self.leave(&ticket, format!("{ticket} is not started: {why}"));
                    }
                }
                None => {
                    for queued in &queued {
                        self.say_why(queued, slots);
                    }
                    break;
                }
            }
        }
        if self.queue.len() == 0 {
            self.queue.rest();
        }
        self.count();
    }

    /// What waits is not started. It has not failed itself: it makes no exit code.
    fn halt(&mut self) {
        for entry in std::mem::take(&mut self.queue.entries) {
            self.tell_queued(&entry.ticket, entry.told.as_deref(), None);
            let message = format!("{} is not started: another ticket has failed", entry.ticket);
            let refused = Refused {
                ticket: entry.ticket,
                message,
                exit_code: ExitReason::Blocked.exit_code(),
                asked: entry.asked,
            };
            self.settle(entry.reply, Reply::Refused(refused));
        }
    }

    fn say_why(&mut self, queued: &Queued, slots: Slots) {
        let why = queue::reason(queued, slots);
        let entry = self.queue.entries.iter_mut().find(|entry| entry.ticket == queued.ticket);
        let before = entry.and_then(|entry| entry.told.replace(why.clone()));
        self.tell_queued(&queued.ticket, before.as_deref(), Some(why));
    }

    fn tell_queued(&self, ticket: &TicketKey, before: Option<&str>, now: Option<String>) {
        if before != now.as_deref() {
            self.reporter.tell(&News::Queued(ticket.clone(), now));
        }
    }

    /// It is not started. Before it has waited, that is a start that was wrong; later others have let it down.
    fn leave(&mut self, ticket: &TicketKey, message: String) {
        let Some(entry) = self.queue.take(ticket) else { return };
        self.tell_queued(ticket, entry.told.as_deref(), None);
        let exit_code = if entry.told.is_some() { ExitReason::Blocked.exit_code() } else { 2 };
        self.outcome(ticket, exit_code);
        let refused = Refused { ticket: entry.ticket, message, exit_code, asked: entry.asked };
        self.settle(entry.reply, Reply::Refused(refused));
    }

    /// Takes tickets out of the queue: all of them before the others are looked at, which may depend on them.
    pub(super) fn unqueue(&mut self, tickets: &[TicketKey]) -> Reply {
        let entries: Vec<Entry> = tickets.iter().filter_map(|ticket| self.queue.take(ticket)).collect();
        for entry in entries {
            self.tell_queued(&entry.ticket, entry.told.as_deref(), None);
            self.settle(entry.reply, opened(entry.asked, entry.ticket));
        }
        self.pump();
        Reply::Done
    }

    /// Nothing more is started: gives whoever waits.
    pub(super) fn close_queue(&mut self) -> Vec<(TicketKey, Option<oneshot::Sender<Reply>>)> {
        let entries = std::mem::take(&mut self.queue.entries);
        for entry in &entries {
            self.tell_queued(&entry.ticket, entry.told.as_deref(), None);
        }
        entries.into_iter().map(|entry| (entry.ticket, entry.reply)).collect()
    }

    /// Tells what came of a start whoever waits for it, else everybody.
    pub(super) fn settle(&self, reply: Option<oneshot::Sender<Reply>>, replied: Reply) {
        match (reply, replied) {
            (Some(reply), replied) => drop(reply.send(replied)),
            (None, Reply::Refused(refused)) => self.reporter.tell(&News::NotStarted(refused)),
            (None, _) => {}
        }
    }

    fn looked_at(&mut self) -> Vec<Queued> {
        let (files, supervisor, store) = (&self.files, &self.supervisor, &self.opener.store);
        self.queue.looked_at(&Around {
            ticket: &|path| files.ticket(path),
            is_at_work: &|ticket, path| {
                supervisor.is_open(ticket) || store.ticket_holder(path).is_ok_and(|who| who.is_some())
            },
            is_ending: &|ticket| supervisor.is_ending(ticket),
        })
    }

    /// Says how a ticket came out. Who asked is answered after this, and what happened is told, before it is
    /// [counted](Self::count): a program without a screen ends when nothing is open.
    pub(super) fn outcome(&self, ticket: &TicketKey, code: u8) {
        self.runs.send_modify(|runs| {
            runs.codes.insert(ticket.clone(), code);
        });
    }

    /// Says how many runs are open.
    pub(super) fn count(&self) {
        self.runs.send_modify(|runs| (runs.open, runs.opening) = (self.all_open(), self.waiting.len()));
    }

    /// Those that are being opened and those that wait for it, too.
    fn all_open(&self) -> usize {
        self.supervisor.open_tickets().count() + self.waiting.len() + self.queue.len()
    }
}
