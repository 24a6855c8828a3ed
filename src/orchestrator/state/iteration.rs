//! One iteration of a run, as its records tell it. How runs and phases stand is `state`'s.

use crate::base::time::Timestamp;
use crate::domain::analysis::Analysis;
use crate::domain::background::BackgroundTask;
use crate::domain::claim::Claim;
use crate::domain::critique::{Critique, ShownFile};
use crate::domain::denial::Denial;
use crate::domain::evaluation::Evaluation;
use crate::domain::limits::provider::{Hit, Window};
use crate::domain::outcome::IterationOutcome;
use crate::domain::phase::{Claimed, PhaseId};
use crate::domain::step::Role;
use crate::domain::turn::Usage;
use crate::domain::watchdog::Watch;
use std::collections::BTreeSet;
use std::time::Duration;

/// One iteration.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own; none is a mode")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iteration {
    pub n: u32,
    pub role: Role,
    /// Its phase; `None` is the whole ticket.
    pub phase: Option<PhaseId>,
    /// Its phase by the text that Claude was told: the person may rewrite it meanwhile.
    pub told: Option<String>,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    /// It has ended before the ticket's file was read once more: what is new in it then may be Claude's.
    pub unread: bool,
    /// How long it has waited for the person, up to their last answer, and for storage.
    pub waited: Duration,
    pub resumed: Option<String>,
    pub snapshot: Option<String>,
    pub pid: Option<u32>,
    /// Tool calls that were allowed and have not come back.
    pub tools: BTreeSet<String>,
    pub tool_count: u32,
    /// Tools that the gate refused, in order.
    pub blocked: Vec<String>,
    /// Ids of the calls that the gate refused.
    pub refused_by_us: BTreeSet<String>,
    /// What rules that are not ours refused, unless it was only a compound command.
    pub refused: Vec<Denial>,
    pub analysis: Option<Analysis>,
    /// The files that differ from before the iteration; the first 200.
    pub changed_files: Vec<String>,
    /// The files that differ from the phase's baseline; the first 200.
    pub phase_files: Vec<String>,
    /// What its prompt shows of the changed files.
    pub shown: Vec<ShownFile>,
    /// Claude asked the person something.
    pub asked_person: bool,
    /// Output in tokens.
    pub output: u64,
    /// The status block was asked for.
    pub followed_up: bool,
    pub ready: bool,
    /// The session was unknown: Claude is to be started again, with a fresh one.
    pub respawn: bool,
    pub claim: Option<Claim>,
    pub claimed: Option<Claimed>,
    /// What the critic said, when it is one's iteration.
    pub critique: Option<Critique>,
    /// What the evaluator said, when it is one's iteration.
    pub evaluation: Option<Evaluation>,
    /// Claude gave a readable draft of a plan.
    pub drafted: bool,
    /// Claude has said something in a chat.
    pub said: bool,
    pub claim_missing: Option<String>,
    pub failure: Option<Failure>,
    pub dispute: Option<String>,
    /// It makes way for a question that waits, and no person has answered one since.
    pub went_to_wait: bool,
    /// Cut off: how it will count.
    pub cut: Option<IterationOutcome>,
    /// The timer of the watchdog that ran out.
    pub timer: Option<Watch>,
    /// Its last turn is over, and none has begun since.
    pub answered: bool,
    /// The question for its status block waits for its own answer.
    pub asked_for_block: bool,
    /// What Claude has at work in the background.
    pub background: Vec<BackgroundTask>,
    /// Somebody else's words are in the turn.
    pub foreign: bool,
    /// When Claude was last given something to answer.
    pub prompted: Option<Timestamp>,
    /// The API failed, and Claude has not been heard since.
    pub retry: Option<Retry>,
    /// The tree differs from before the iteration; `None` until compared.
    pub changed: Option<bool>,
    /// The tree differs from the phase's baseline; `None` until compared.
    pub phase_changed: Option<bool>,
    /// A phase was found done in it, by the validation commands.
    pub verified: bool,
    /// How many files differ from before the iteration.
    pub files: usize,
    /// Validation commands that ran.
    pub validated: Vec<Validated>,
    pub cost_usd: f64,
    /// Cost of the present process in USD so far.
    pub process_cost_usd: f64,
    pub usage: Usage,
    /// Requests that failed at the provider and were sent again.
    pub tries: u32,
    /// The last window the provider told of in it.
    pub window: Option<Window>,
    pub limited: Option<Hit>,
    /// A limit of ours refused the question for its status block.
    pub unasked: bool,
}

impl Iteration {
    /// Claude's answer could not be read, also when it was asked for again. What was cut off, has failed or was refused by
    /// a limit is asked from the beginning.
    pub fn is_unread(&self) -> bool {
        let ended_well = self.cut.is_none() && self.failure.is_none() && self.limited.is_none();
        self.claim_missing.is_some() && ended_well
    }

    /// Claude has said what it was asked for.
    pub fn has_answered(&self) -> bool {
        self.claim.is_some() || self.critique.is_some() || self.evaluation.is_some() || self.drafted || self.said
    }
}

/// A validation command that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validated {
    pub command: String,
    /// `None`: it was killed by a signal, or timed out.
    pub exit: Option<i32>,
    /// The end of what it printed.
    pub tail: String,
}

/// A request that Claude sends again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    pub attempt: u32,
    /// Tries at most.
    pub max: u32,
    /// API error kind.
    pub error: String,
    /// When it is sent.
    pub at: Timestamp,
}

/// A failed turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// API error kind, or the result's subtype.
    pub error: String,
    pub message: String,
    pub status: Option<u16>,
}
