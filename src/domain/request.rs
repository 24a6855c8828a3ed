//! What a front end may ask, and what it is answered: the one list for screen, command line, and whatever comes. Plain
//! data; `runtime::app` answers. What everybody hears of it is [`News`](super::news::News).
//!
//! What only a screen does (editor, clipboard, background) is no request.

use crate::base::id::TicketId;
use crate::base::secret::Secret;
use crate::domain::approval::QuestionId;
use crate::domain::command::UserCommand;
use crate::domain::passphrase::Checked;

/// Something that a person wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    ListTickets,
    /// Find a ticket by id, part of an id, or path, and work on it.
    Open(String),
    /// Work on a ticket that is known: a fresh run, or the one there is.
    Start(TicketId),
    /// Go on with an interrupted run: the one named, else the latest of this folder.
    Resume(Option<String>),
    /// To the run of a ticket.
    Command(TicketId, UserCommand),
    LookUpPassphrase {
        /// The ticket whose question needs it.
        ticket: TicketId,
        id: QuestionId,
    },
    /// Check a passphrase, and let the call run when it is right.
    TryPassphrase {
        ticket: TicketId,
        id: QuestionId,
        secret: Secret,
    },
    /// Put a rule that the person has read into their policy file, and say yes to the call.
    SaveRule {
        ticket: TicketId,
        id: QuestionId,
        /// YAML list items, exactly as shown.
        rules: String,
        /// The rule that asked: the new ones stand before it.
        before: String,
    },
    Close(Closing),
}

/// How runs are ended; they can be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Every iteration comes to its end.
    AfterIteration,
    /// Claude is ended by the ladder.
    Now,
    /// Everything is killed, and nothing more is recorded.
    Abandon,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is done, or on its way: what comes of it is news.
    Done,
    /// The run has obeyed the command or not, as its records say, and they are stored.
    Decided {
        ticket: TicketId,
        command: UserCommand,
    },
    Refused(Refused),
    /// How the passphrase stands, or what became of a try.
    Passphrase {
        ticket: TicketId,
        id: QuestionId,
        checked: Checked,
    },
    /// What became of a rule that was to be saved.
    RuleSaved {
        ticket: TicketId,
        id: QuestionId,
        /// The policy file, or why not; words for the person.
        saved: Result<String, String>,
    },
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The ticket that it was about, as far as that is known.
    pub ticket: TicketId,
    /// What happened and what to do.
    pub message: String,
    /// Exit code of a program that can do nothing else (75: held by another program).
    pub exit_code: u8,
}
