//! What happens to the screen ([`Msg`]) and what the screen wants done ([`Ask`]).
//!
//! Neither names crossterm: keys are [`Input`]s, so that everything behind `tui::input` can be tested.

use crate::base::id::TicketId;
use crate::base::secret::Secret;
use crate::base::time::Timestamp;
use crate::domain::approval::QuestionId;
use crate::domain::command::UserCommand;
use crate::domain::news::News;

pub use tui_textarea::{Input, Key};

/// Something that happened to the screen.
pub enum Msg {
    /// A key was pressed.
    Key(Input),
    /// Text was pasted.
    Paste(String),
    /// The terminal has a new size, in cells.
    Resize(u16, u16),
    /// The runs have news.
    News(News),
    /// What time it is now; sent at every wake-up, never on its own account.
    Tick(Timestamp),
    /// The terminal's window has the focus again.
    FocusGained,
    /// Words for the person from the edge: a command that could not be carried out.
    Told(String),
}

/// Something that the screen wants done by those who may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Hand a command to the run of a ticket.
    Command(TicketId, UserCommand),
    /// Start or resume the run of an open ticket.
    Start(TicketId),
    /// Find a ticket by id, part of an id, or path, and open a tab for it.
    OpenTicket(String),
    /// Find out how the passphrase stands, for the card of this call. Answered by `News::Passphrase`.
    LookUpPassphrase {
        /// The ticket.
        ticket: TicketId,
        /// The question.
        id: QuestionId,
    },
    /// Check a passphrase, for the card of this call, and let the call run when it is right.
    /// Answered by `News::Passphrase`.
    TryPassphrase {
        /// The ticket.
        ticket: TicketId,
        /// The question.
        id: QuestionId,
        /// What was typed.
        secret: Secret,
    },
    /// Put a rule that the person has read into their policy file. Answered by `News::RuleSaved`.
    SaveRule {
        /// The ticket.
        ticket: TicketId,
        /// The question.
        id: QuestionId,
        /// YAML list items, exactly as shown.
        rules: String,
        /// The rule that asked: the new ones stand before it.
        before: String,
    },
    /// Let the person edit the file of an open ticket in their editor.
    Edit(TicketId),
    /// End all runs, then the program.
    Quit(QuitMode),
    /// Leave: nothing runs.
    Leave,
    /// Go to the background (Ctrl-Z).
    Suspend,
    /// Draw every cell anew: something else wrote to the terminal.
    Redraw,
    /// Put text on the clipboard. Always clean, never with a final newline.
    Copy(String),
}

/// How to quit while something runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuitMode {
    /// Let every iteration come to its end.
    FinishIteration,
    /// End Claude by the ladder; runs can be resumed.
    StopNow,
}
