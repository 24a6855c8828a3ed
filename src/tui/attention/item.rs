//! The things that can wait for the person.

use crate::base::time::Timestamp;
use crate::domain::approval::QuestionId;
use crate::domain::phase::PhaseId;
use crate::domain::ticket::TicketKey;

/// One thing that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub ticket: TicketKey,
    pub what: What,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
}

/// What waits, the most urgent first: Claude stands still for a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A call of Claude's, by the question about it.
    Call(QuestionId),
    /// The ticket's validation commands were changed.
    Validation,
    /// An evaluator proposes more phases.
    MoreWork,
    /// The draft of the ticket's phases.
    Draft,
    /// A claim about this phase did not hold, and the run does not go on by itself.
    Dispute(PhaseId),
    /// The ticket's file cannot be brought in line with the run.
    Conflict(Conflict),
    /// A run of another program, which is not open here, asks something.
    Elsewhere,
    /// The run's program is gone while it waited for the person; it asks again once it is resumed.
    Interrupted,
    /// The run ended and will not go on by itself.
    Ended,
}

/// What of a ticket's file is not as the run has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    /// A done phase whose box cannot be ticked.
    Box(String),
    /// The status in the front matter.
    Status,
    /// The file is gone, or no ticket any more; why.
    Lost(String),
}
