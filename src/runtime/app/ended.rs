//! The end of a run, and a ticket whose run is not open: what it makes of the exit code, and commands to it that can be appended all the same.

use super::refusals::HAS_ENDED;
use super::{App, Service, beside, not_decided, real, refused};
use crate::adapters::chats;
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::outcome::ExitReason;
use crate::domain::request::{BoxOutcome, Reply};
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::runtime::heard::say;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;

const INTERRUPTED: &str = "its process has exited; resume the run";

impl App {
    /// This program works on this run of the ticket, or did last. Waits for the runs that are being opened: one of them may be
    /// this, which others see at work as soon as its ticket is locked.
    pub async fn works_on(&self, ticket: &TicketKey, run: RunId) -> bool {
        let is_here = || self.reporter.is_here(run) && self.reporter.run_of(ticket) == Some(run);
        let mut runs = self.runs.clone();
        // An error: the service went down.
        let _ = runs.wait_for(|runs| runs.opening == 0 || is_here()).await;
        is_here()
    }
}

impl Service {
    /// The run of a ticket has ended, and nothing of it is open any more.
    pub(super) async fn ended(&mut self, ticket: &TicketKey, reason: Option<ExitReason>) {
        self.supervisor.forget(ticket);
        self.prune_after(ticket);
        self.outcome(ticket, self.code_of(ticket, reason));
        for (request, by, reply) in self.later.remove(ticket).unwrap_or_default() {
            self.answer(request, by, reply).await;
        }
        self.pump();
    }

    /// The exit code that the end of a run makes. Who closes a chat has done what there was to do.
    fn code_of(&self, ticket: &TicketKey, reason: Option<ExitReason>) -> u8 {
        let is_chat = |path: PathBuf| chats::is_chat(self.opener.store.folder(), &path);
        let closed = reason == Some(ExitReason::UserStopped) && self.files.of(ticket).is_some_and(is_chat);
        if closed { 0 } else { reason.map_or(1, ExitReason::exit_code) }
    }

    /// To a ticket whose run is not open.
    pub(super) fn command(&self, ticket: TicketKey, by: Answerer, command: UserCommand, reply: oneshot::Sender<Reply>) {
        // The number of a phase is that of the run which the person looks at, whatever another program has run since.
        let Some(run) = self.reporter.run_of(&ticket) else {
            return drop(reply.send(not_decided(ticket, command, HAS_ENDED.to_owned())));
        };
        // Of a ticket of another directory no file is known here.
        let path = self.files.of(&ticket).map(|path| real(&path));
        let offline = self.offline.clone();
        match (command, path) {
            (UserCommand::TickPhase { phase }, Some(path)) => beside(ticket.clone(), reply, async move {
                match offline.tick(&path, run, phase, by).await? {
                    BoxOutcome::NotWritten(why) => offline.reporter.trouble(&ticket, &why),
                    BoxOutcome::NotTaken { holder } => offline
                        .reporter
                        .trouble(&ticket, &format!("not ticked: {holder} is running it and did not respond")),
                    BoxOutcome::Unknown { holder } => {
                        let why =
                            format!("not ticked: {holder} is running it and has not seen the phase yet; try again");
                        offline.reporter.trouble(&ticket, &why);
                    }
                    BoxOutcome::Done | BoxOutcome::Already | BoxOutcome::Handed { .. } | BoxOutcome::Noted { .. } => {}
                }
                Ok(Reply::Done)
            }),
            (command, path) => beside(ticket.clone(), reply, async move {
                let store = &offline.store;
                let known = store.run(run)?.map(|(run, _)| store.as_seen(run)).transpose()?;
                let is_meant = |run: &RunSummary| path.as_ref().is_none_or(|path| Path::new(&run.ticket_path) == path);
                let is_interrupted = known.as_ref().is_some_and(|run| run.state == RunState::Interrupted);
                if let Some(run) = known.filter(|run| run.owner() == Owner::Another && is_meant(run)) {
                    return Ok(match say(store, &run, command.clone(), by).await {
                        Ok(()) => Reply::Decided { ticket, command },
                        Err(why) => not_decided(ticket, command, why.words()),
                    });
                }
                let Some(path) = path.filter(|_| command == UserCommand::ResetBreaker) else {
                    let why = if is_interrupted { INTERRUPTED } else { HAS_ENDED };
                    return Ok(not_decided(ticket, command, why.to_owned()));
                };
                if offline.reset_breaker(&path, by).await? {
                    return Ok(Reply::Done);
                }
                // Another program has closed it since this one read its journal.
                offline.show_latest(&ticket, &path)?;
                Ok(refused(&ticket, format!("the circuit breaker of {ticket} is already closed"), 0))
            }),
        }
    }
}
