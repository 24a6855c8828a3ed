//! What a front end (screen, headless printer) is told. It can miss nothing that matters: every
//! record is in the store, and `seq` shows a gap.

use crate::base::id::{RunId, TicketId};
use crate::domain::passphrase::Checked;
use crate::domain::record::Stored;
use crate::domain::scrollback::Scrollback;
use crate::domain::ticket::Ticket;
use std::sync::Arc;

/// One piece of news for front ends.
#[derive(Clone)]
pub enum News {
    /// A ticket was read or changed on disk; also sent for tickets that are only listed.
    TicketRead(Arc<Ticket>),
    /// A ticket's file is gone.
    TicketGone(TicketId),
    /// A run was opened (fresh or resumed): its records so far, oldest first, and its scrollback.
    RunOpened {
        /// The ticket.
        ticket: TicketId,
        /// The run.
        run: RunId,
        /// Everything stored so far.
        records: Vec<Arc<Stored>>,
        /// What Claude printed.
        scrollback: Arc<dyn Scrollback>,
    },
    /// A record was stored.
    Recorded(Arc<Stored>),
    /// The scrollback of the run grew (or its live tail changed). Sent at most once per drain burst.
    StreamGrew(RunId),
    /// Something of ours does not work right now (the store is full, …) and is tried again.
    Trouble {
        /// The ticket whose run waits.
        ticket: TicketId,
        /// What happened and what to do.
        message: String,
    },
    /// How the passphrase stands, or what became of a try; for the card of one call.
    Passphrase {
        /// The ticket.
        ticket: TicketId,
        /// The call.
        id: String,
        /// The outcome.
        checked: Checked,
    },
    /// What became of a rule that was to be saved; for the card of one call.
    RuleSaved {
        /// The ticket.
        ticket: TicketId,
        /// The call.
        id: String,
        /// The policy file, or why not; words for the person.
        saved: Result<String, String>,
    },
    /// A run could not be opened or went down without a record; text for the person.
    RunFailed {
        /// The ticket.
        ticket: TicketId,
        /// What happened and what to do.
        message: String,
        /// Exit code of the program if nothing worse happens (75: held by another program).
        exit_code: u8,
    },
}
