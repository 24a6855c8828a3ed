//! Why a request is not carried out, as a reply.

use crate::adapters::tickets::FindError;
use crate::domain::command::UserCommand;
use crate::domain::request::{Refused, Reply};
use crate::domain::ticket::TicketKey;

/// It has ended first, or continues in the background.
const LEFT: &str = "the run has ended or moved to another process";
pub(super) const HAS_ENDED: &str = "the run has already ended";

pub(super) fn refused(ticket: &TicketKey, message: String, exit_code: u8) -> Reply {
    Reply::Refused(Refused { ticket: ticket.clone(), message, exit_code, asked: None })
}

pub(super) fn not_decided(ticket: TicketKey, command: UserCommand, why: String) -> Reply {
    Reply::NotDecided { ticket, command, why }
}

/// What is said of a command that a run has decided, or has ended before.
pub(super) fn outcome(ticket: TicketKey, command: UserCommand, is_decided: bool) -> Reply {
    match command {
        _ if is_decided => Reply::Decided { ticket, command },
        // That the run has ended is news, and is what was wanted.
        UserCommand::Stop | UserCommand::FinishAndStop => Reply::Done,
        _ => not_decided(ticket, command, LEFT.to_owned()),
    }
}

pub(super) fn not_found(name: String, error: &FindError) -> Reply {
    let ticket = TicketKey::unknown(&name);
    Reply::Refused(Refused { ticket, message: error.to_string(), exit_code: 2, asked: Some(name) })
}

pub(super) fn unknown(ticket: &TicketKey) -> Reply {
    refused(ticket, format!("no ticket file is known for {ticket}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_did_not_decide_before_it_ended_is_not_lost_silently() {
        let ticket = TicketKey::unknown("tk-1");
        let message = UserCommand::Steer { text: "mind the gap".to_owned() };
        let of = |command: &UserCommand, is_decided| outcome(ticket.clone(), command.clone(), is_decided);
        assert_eq!(of(&message, true), Reply::Decided { ticket: ticket.clone(), command: message.clone() });
        assert!(matches!(of(&message, false), Reply::NotDecided { why, .. } if why == LEFT));
        assert_eq!(of(&UserCommand::Stop, false), Reply::Done, "it has what it wanted");
    }
}
