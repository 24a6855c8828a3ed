//! What a person can ask of a run: the one list of verbs for screen, command line and (later) phone.

use crate::domain::approval::{Answer, QuestionId};
use crate::domain::evaluation::ProposalAnswer;
use crate::domain::phase::PhaseId;
use crate::domain::planning::DraftAnswer;
use crate::domain::record::TicketRevised;
use crate::domain::settings::Change;
use crate::domain::ticket::draft::Draft;
use serde::{Deserialize, Serialize};

/// One request of the person to the run of one ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserCommand {
    /// Finish the iteration, then wait.
    Pause,
    /// Interrupt Claude now, then wait.
    PauseNow,
    /// Go on.
    Resume,
    /// Parked: try now, without waiting for the provider's reset.
    RetryNow,
    /// Leave this phase undone and continue with the next.
    SkipPhase { phase: PhaseId },
    /// Work on this phase (again): a disputed, skipped or done one. Takes its tick back.
    RetryPhase { phase: PhaseId },
    /// The person says that this phase is done: it counts at once, and its box is ticked.
    TickPhase { phase: PhaseId },
    /// The person takes a phase for done, for this reason, which the note brings into the ticket.
    AcceptPhase { phase: PhaseId, why: String, note: Box<TicketRevised> },
    /// Change the ticket's text.
    Revise(Box<TicketRevised>),
    /// Words for Claude: into the running turn, or into the next prompt.
    Steer { text: String },
    /// Stop now by the ladder; the run can be resumed later.
    Stop,
    /// Finish the iteration, then stop; the run can be resumed later.
    FinishAndStop,
    /// The ticket's validation commands were changed during the run: use the new list?
    AnswerValidationChange {
        /// `true`: from now on the new list; `false`: keep the frozen one.
        accept: bool,
        /// The new list as the person has seen it: of another one nothing is decided.
        seen: Vec<String>,
    },
    /// More phases are proposed: add them, changed or not, or do without.
    AnswerProposal {
        /// The iteration whose evaluator proposed them.
        n: u32,
        answer: ProposalAnswer,
    },
    /// A draft of the ticket's phases waits.
    AnswerDraft {
        answer: DraftAnswer,
        /// The draft as the person has seen it: of another one nothing is decided.
        seen: Box<Draft>,
    },
    /// Close the circuit breaker and forget what it has counted.
    ResetBreaker,
    /// Another limit or model, from the next iteration on.
    ChangeSetting(Change),
    /// A call of Claude's that waits for the person.
    AnswerApproval { id: QuestionId, answer: Answer },
    /// Another input for a call that waits: it is judged, and asked about with it.
    EditCall { id: QuestionId, input: String },
}
