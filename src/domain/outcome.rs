//! How things end: runs, iterations, phases.

use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// Why a run ended. The words are the same on screen, in the store and in `--json`.
    pub enum ExitReason {
        /// Every phase is done or was left out by the person.
        Complete = "complete",
        Blocked = "blocked",
        /// A phase was not approved after the last attempt to fix it, or its critic gave no verdict.
        ReviewFailed = "review_failed",
        /// The ticket was planned, and nothing else was to be done.
        Planned = "planned",
        /// A draft waits for the person, and nobody was there.
        Drafted = "drafted",
        /// The draft was refused, or there is none that can be read.
        NotPlanned = "not_planned",
        /// The work could not be brought into its base: a conflict, commands that fail on the merged tree, a dirty base.
        MergeFailed = "merge_failed",
        MaxIterations = "max_iterations",
        /// Too many iterations in a row without any change.
        Stagnation = "stagnation",
        /// The same error too many times in a row.
        RepeatedError = "repeated_error",
        CircuitOpen = "circuit_open",
        /// Claude was denied what it needs.
        PermissionDenied = "permission_denied",
        /// Only tests, again and again.
        TestSaturation = "test_saturation",
        Budget = "budget",
        /// The provider's or our own rate limit.
        RateLimited = "rate_limited",
        /// Iterations timed out without any work.
        Timeout = "timeout",
        UserStopped = "user_stopped",
        /// The terminal of the program that worked on it was closed.
        TerminalClosed = "terminal_closed",
        TicketGone = "ticket_gone",
        /// Agent missing, not logged in, no model, no credit, or a fault of our own.
        Error = "error",
        /// Nothing could be stored for as long as a run waits for that.
        StorageFailed = "storage_failed",
    }
}

impl ExitReason {
    /// A run that ended so can be resumed; the others begin anew, with fresh counters.
    pub fn is_resumable(self) -> bool {
        matches!(
            self,
            Self::UserStopped
                | Self::TerminalClosed
                | Self::RateLimited
                | Self::Budget
                | Self::Error
                | Self::TicketGone
                | Self::StorageFailed
                | Self::ReviewFailed
                | Self::Drafted
                | Self::MergeFailed
        )
    }

    /// The exit code of the program when this is the worst of its runs.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Complete | Self::Planned => 0,
            Self::Error | Self::TicketGone | Self::StorageFailed => 1,
            Self::Blocked | Self::ReviewFailed | Self::Drafted | Self::NotPlanned | Self::MergeFailed => 3,
            Self::MaxIterations
            | Self::Stagnation
            | Self::RepeatedError
            | Self::CircuitOpen
            | Self::PermissionDenied
            | Self::TestSaturation
            | Self::Budget
            | Self::Timeout
            | Self::RateLimited => 4,
            Self::UserStopped | Self::TerminalClosed => 5,
        }
    }
}

/// How one iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationOutcome {
    /// A claim was made and judged.
    Claimed,
    /// Claude ended its turn without a readable status block, also when asked again.
    NoClaim,
    /// Claude's turn or the API failed.
    Failed,
    /// Cut off by the iteration timeout.
    TimedOut,
    /// Cut off by the idle timeout.
    Idle,
    /// Cut off by the person (pause now, skip, stop).
    Interrupted,
    /// programmator died; what happened after the last record is unknown.
    CutOff,
    /// A limit refused it: it counts as no iteration, and the run is parked.
    Parked,
}

/// How a phase came to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoneHow {
    Verified,
    /// A critic approved it, in a session of its own; no command checks it.
    Approved,
    /// Something changed, and no command checks it.
    ClaimedUnchecked,
    /// Nothing changed and nothing was claimed to: an investigation.
    ClaimedNoChange,
    /// Ticked in the file before the run, or by the person during it.
    TickedByPerson,
}

impl DoneHow {
    /// The same, once a critic has approved it.
    #[must_use]
    pub fn approved(self) -> Self {
        match self {
            Self::ClaimedUnchecked | Self::ClaimedNoChange => Self::Approved,
            checked => checked,
        }
    }
}
