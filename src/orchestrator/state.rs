//! Everything the core knows about a run: a fold of its records, nothing else.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::claim::Claim;
use crate::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use crate::domain::settings::Settings;
use crate::domain::ticket::TicketStatus;
use crate::domain::turn::Usage;
use std::collections::BTreeSet;

/// A run, as its records tell it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// Which run; `None` before the first record.
    pub run: Option<RunId>,
    /// Which ticket.
    pub ticket: Option<TicketId>,
    /// Position of the last folded record.
    pub seq: u64,
    /// Time of the first record.
    pub started: Option<Timestamp>,
    /// Time of the last record.
    pub updated: Option<Timestamp>,
    /// Absolute path of the work folder.
    pub folder: String,
    /// Absolute path of the ticket file.
    pub ticket_path: String,
    /// The ticket's title.
    pub title: String,
    /// What the front matter's `status` is, as far as we know; `None`: there is none.
    pub ticket_status: Option<TicketStatus>,
    /// Rules of the run.
    pub settings: Settings,
    /// The validation commands in force.
    pub validation: Vec<String>,
    /// A changed list in the file that the person has not decided on.
    pub validation_change: Option<Vec<String>>,
    /// The phases, in file order. Empty: the run works on the whole ticket.
    pub phases: Vec<PhaseState>,
    /// The whole ticket, judged like a phase when there are no phases.
    pub whole: PhaseState,
    /// What is under way.
    pub stage: Stage,
    /// The running iteration, or the last one.
    pub iteration: Option<Iteration>,
    /// Iterations begun in this run.
    pub iterations: u32,
    /// Calls of Claude counted in this run.
    pub calls: Vec<Timestamp>,
    /// Iterations in a row without any change.
    pub stagnation: u32,
    /// The last masked error and how often it came in a row.
    pub repeated: Option<(String, u32)>,
    /// What the person wants of the run's pace.
    pub pace: Pace,
    /// Notes that Claude has not taken in.
    pub notes: Vec<Note>,
    /// Claude's session, to be continued.
    pub session: Option<String>,
    /// Model of the last iteration.
    pub model: Option<String>,
    /// Version of the CLI.
    pub version: Option<String>,
    /// Cost so far in USD.
    pub cost_usd: f64,
    /// Tokens so far.
    pub usage: Usage,
    /// Tokens in the context and size of the window, when known.
    pub context: Option<(u64, u64)>,
    /// Summaries of the last iterations (phase, words), oldest first, at most 5.
    pub summaries: Vec<(Option<String>, String)>,
    /// How the run ended.
    pub ended: Option<Ended>,
}

/// One phase in the run.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PhaseState {
    /// Text that identifies it.
    pub text: String,
    /// Where it stands.
    pub mark: Mark,
    /// Ticked in the file, as last read.
    pub ticked: bool,
    /// Snapshot before its first iteration in this run: what its evidence is judged against.
    pub baseline: Option<String>,
    /// Iterations that worked on it in this run.
    pub iterations: u32,
    /// Time spent on it in finished iterations, in milliseconds.
    pub spent_ms: u64,
    /// What did not hold, for the next prompt.
    pub dispute: Option<String>,
}

/// Where a phase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mark {
    /// Not begun.
    #[default]
    Pending,
    /// An iteration works on it.
    Running,
    /// Claude says it is done; being checked.
    Claimed,
    /// Done.
    Done(DoneHow),
    /// A claim did not hold.
    Disputed,
    /// The person leaves it out.
    Skipped,
    /// Claude is stuck in it.
    Blocked,
}

impl Mark {
    /// Nothing more to do in this run.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Done(_) | Self::Skipped)
    }
}

/// What is under way.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Stage {
    /// Nothing yet, or between two steps.
    #[default]
    Idle,
    /// Waiting for the work folder.
    AwaitingTree {
        /// Who holds it, when we know.
        holder: Option<String>,
    },
    /// The tree is being saved.
    Snapshotting,
    /// Claude is being started.
    Spawning,
    /// Claude works.
    Running,
    /// Claude has answered and is about to end by itself.
    Closing,
    /// Claude is being ended.
    Stopping,
    /// The tree is being compared.
    Comparing,
    /// The validation commands run.
    Validating,
    /// The box is being ticked.
    Ticking,
    /// The ticket's status is being set.
    SettingStatus,
    /// The run waits for the person.
    Paused,
    /// The run is over.
    Ended,
}

/// One iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Its number, from 1.
    pub n: u32,
    /// Its phase; `None` is the whole ticket.
    pub phase: Option<String>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// The session it resumed.
    pub resumed: Option<String>,
    /// Snapshot before it.
    pub snapshot: Option<String>,
    /// Claude's process.
    pub pid: Option<u32>,
    /// Tool calls that were allowed and have not come back.
    pub tools: BTreeSet<String>,
    /// Tool calls so far.
    pub tool_count: u32,
    /// The status block was asked for.
    pub followed_up: bool,
    /// The claim.
    pub claim: Option<Claim>,
    /// The phase that the claim is about, by match: `Some(None)` is the whole ticket.
    pub claimed: Option<Option<String>>,
    /// A failure of the turn: kind and words.
    pub failure: Option<(String, String)>,
    /// The failure ends the run, for this reason and with these words.
    pub fatal: Option<(ExitReason, String)>,
    /// Cut off: how it will count.
    pub cut: Option<IterationOutcome>,
    /// A tool call touched the ticket's file: new ticks in it are Claude's claim.
    pub ticket_touched: bool,
    /// The tree differs from before the iteration; `None` until compared.
    pub changed: Option<bool>,
    /// The tree differs from the phase's baseline; `None` until compared.
    pub phase_changed: Option<bool>,
    /// Cost of its process in USD so far.
    pub cost_usd: f64,
}

/// What the person wants of the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pace {
    /// Go on.
    #[default]
    Run,
    /// Pause after this iteration.
    PauseNext,
    /// Stop after this iteration.
    StopNext,
}

/// A note of the person's for Claude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Id.
    pub id: String,
    /// Words.
    pub text: String,
    /// Handed to the running Claude, not yet echoed.
    pub sent: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub reason: ExitReason,
    /// In words.
    pub detail: String,
}

impl State {
    /// The phase with this text; `None` is the whole ticket.
    pub fn phase(&self, text: Option<&str>) -> Option<&PhaseState> {
        match text {
            None => Some(&self.whole),
            Some(text) => self.phases.iter().find(|phase| phase.text == text),
        }
    }

    /// Phases that are done.
    pub fn phases_done(&self) -> usize {
        self.phases
            .iter()
            .filter(|phase| matches!(phase.mark, Mark::Done(_)))
            .count()
    }

    /// The phase to work on next: reopened or disputed ones count like pending ones, in file order.
    pub fn next_phase(&self) -> Option<&PhaseState> {
        self.phases.iter().find(|phase| !phase.mark.is_settled())
    }

    /// The person must act before the run can go on.
    pub fn needs_person(&self) -> bool {
        self.validation_change.is_some()
            || self.ended.as_ref().is_some_and(|ended| {
                ended.reason != ExitReason::Complete && ended.reason != ExitReason::UserStopped
            })
    }
}
