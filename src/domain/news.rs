//! What a front end (screen, headless printer) is told. It can miss nothing that matters: every
//! record is in the store, and `seq` shows a gap.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::approval::QuestionId;
use crate::domain::outcome::ExitReason;
use crate::domain::passphrase::Checked;
use crate::domain::record::Stored;
use crate::domain::scrollback::Scrollback;
use crate::domain::ticket::Ticket;
use serde::Serialize;
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
    /// Nothing can be stored, and the run waits. The run's next record says that it goes on.
    StorageAwaited(StorageAwaited),
    /// A run was left without a last record, because none could be stored.
    RunLeft(RunLeft),
    /// Something of ours does not work right now and is tried again.
    Trouble {
        /// The ticket whose run waits.
        ticket: TicketId,
        /// What happened and what to do.
        message: String,
    },
    /// How the passphrase stands, or what became of a try; for the card of one question.
    Passphrase {
        /// The ticket.
        ticket: TicketId,
        /// The question.
        id: QuestionId,
        /// The outcome.
        checked: Checked,
    },
    /// What became of a rule that was to be saved; for the card of one question.
    RuleSaved {
        /// The ticket.
        ticket: TicketId,
        /// The question.
        id: QuestionId,
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

/// A run that waits because nothing can be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StorageAwaited {
    /// The run.
    pub run: RunId,
    /// Its ticket.
    pub ticket: TicketId,
    /// What is wrong, and what to do.
    pub why: String,
    /// When that was first seen.
    pub since: Timestamp,
    /// When the run ends if nothing can be stored until then.
    pub until: Timestamp,
}

impl StorageAwaited {
    /// For people.
    pub fn words(&self, zone: &jiff::tz::TimeZone) -> String {
        let (since, until) = (self.since.clock_time(zone), self.until.clock_time(zone));
        format!("cannot store anything since {since}, retrying until {until}: {}", self.why)
    }
}

/// A run that was left without a last record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunLeft {
    /// The run.
    pub run: RunId,
    /// Its ticket.
    pub ticket: TicketId,
    /// Why it ended; `None`: its program gave it up.
    pub reason: Option<ExitReason>,
    /// What happened, and what to do.
    pub message: String,
}
