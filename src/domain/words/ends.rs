//! Words for how things end: runs, iterations, phases.

use crate::domain::outcome::{DoneHow, ExitReason, IterationOutcome};

/// Why a run ended, for people; a guard by its name on the gauges.
pub fn reason_words(reason: ExitReason) -> &'static str {
    match reason {
        ExitReason::Complete => "complete",
        ExitReason::Blocked => "Claude is blocked",
        ExitReason::MaxIterations => "out of iterations",
        ExitReason::Stagnation => "no change",
        ExitReason::RepeatedError => "same error",
        ExitReason::CircuitOpen => "the breaker is open",
        ExitReason::PermissionDenied => "permission denied",
        ExitReason::TestSaturation => "only tests are written",
        ExitReason::Budget => "out of budget",
        ExitReason::RateLimited => "rate limited",
        ExitReason::Timeout => "out of time",
        ExitReason::UserStopped => "stopped by you",
        ExitReason::TicketGone => "the ticket is gone",
        ExitReason::ReviewFailed => "the review failed",
        ExitReason::Error => "error",
        ExitReason::StorageFailed => "nothing could be stored",
    }
}

/// How an iteration ended, for people.
pub fn outcome_words(outcome: IterationOutcome) -> &'static str {
    match outcome {
        IterationOutcome::Claimed => "claim judged",
        IterationOutcome::NoClaim => "no status block",
        IterationOutcome::Failed => "failed",
        IterationOutcome::TimedOut => "out of time",
        IterationOutcome::Idle => "silent for too long",
        IterationOutcome::Interrupted => "interrupted by you",
        IterationOutcome::CutOff => "cut off",
        IterationOutcome::Parked => "refused by a limit, not counted",
    }
}

/// On what ground a phase is done, for people.
pub fn done_words(how: DoneHow) -> &'static str {
    match how {
        DoneHow::Verified => "verified",
        DoneHow::ClaimedUnchecked => "claimed, unchecked",
        DoneHow::ClaimedNoChange => "claimed, no change",
        DoneHow::TickedByPerson => "ticked by a person",
    }
}
