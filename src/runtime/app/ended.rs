//! Commands to a ticket whose run is not open: what can be appended to it all the same.

use super::{Service, beside, real, refused, unknown};
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::request::{BoxOutcome, Reply};
use crate::domain::ticket::TicketKey;
use tokio::sync::oneshot;

impl Service {
    /// To a ticket whose run is not open.
    pub(super) fn command(&self, ticket: TicketKey, by: Answerer, command: UserCommand, reply: oneshot::Sender<Reply>) {
        if self.waiting.values().any(|waiting| waiting.ticket == ticket) {
            return drop(reply.send(refused(&ticket, "the run is being opened; try again".to_owned(), 0)));
        }
        // The number of a phase is that of the run which the person looks at, whatever another program has run since.
        let known = self.files.of(&ticket).map(|path| real(&path)).zip(self.reporter.run_of(&ticket));
        let offline = self.offline.clone();
        match (command, known) {
            (UserCommand::ResetBreaker | UserCommand::TickPhase { .. }, None) => drop(reply.send(unknown(&ticket))),
            (UserCommand::ResetBreaker, Some((path, _))) => {
                beside(ticket.clone(), reply, async move {
                    if offline.reset_breaker(&path, by).await? {
                        return Ok(Reply::Done);
                    }
                    // Another program has closed it since this one read its journal.
                    offline.show_latest(&ticket, &path)?;
                    Ok(refused(&ticket, format!("the circuit breaker of {ticket} is already closed"), 0))
                });
            }
            (UserCommand::TickPhase { phase }, Some((path, run))) => beside(ticket.clone(), reply, async move {
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
            _ => drop(reply.send(refused(&ticket, "the run has already ended".to_owned(), 0))),
        }
    }
}
