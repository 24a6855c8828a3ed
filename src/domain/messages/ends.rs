//! Words for how things end: runs, iterations, phases.

use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use crate::domain::ticket::Ticket;

/// Those that worked, and those that reviewed it: the log numbers all of them.
pub fn iterations_words(work: u32, reviews: u32) -> String {
    let work = counted(work as usize, "iteration");
    if reviews == 0 { work } else { format!("{work} + {}", counted(reviews as usize, "review")) }
}

/// Why a run ended, for people; a guard by its name on the gauges.
pub fn reason_words(reason: ExitReason) -> &'static str {
    match reason {
        ExitReason::Complete => "complete",
        ExitReason::Blocked => "Claude is blocked",
        ExitReason::ReviewFailed => "review failed",
        ExitReason::Planned => "planned",
        ExitReason::Drafted => "draft ready",
        ExitReason::NotPlanned => "not planned",
        ExitReason::MergeFailed => "not merged",
        ExitReason::MaxIterations => "iteration limit reached",
        ExitReason::Stagnation => "no change",
        ExitReason::RepeatedError => "same error",
        ExitReason::CircuitOpen => "circuit breaker open",
        ExitReason::PermissionDenied => "permission denied",
        ExitReason::TestSaturation => "tests only",
        ExitReason::Budget => "out of budget",
        ExitReason::RateLimited => "rate limited",
        ExitReason::Timeout => "timed out",
        ExitReason::UserStopped => "stopped by you",
        ExitReason::TerminalClosed => "its terminal was closed",
        ExitReason::TicketGone => "ticket file gone",
        ExitReason::Error => "error",
        ExitReason::StorageFailed => "storage failed",
    }
}

/// What opens a complete ticket again, with its command.
pub fn how_to_reopen(ticket: &Ticket) -> String {
    let id = clean_line(ticket.id.as_str(), 60);
    if ticket.phases.is_empty() {
        format!("`programmator ticket reopen {id}` reopens it")
    } else {
        format!("`programmator phase reopen {id} 1` reopens its first phase")
    }
}

pub fn outcome_words(outcome: IterationOutcome) -> &'static str {
    match outcome {
        IterationOutcome::Claimed => "claim made",
        IterationOutcome::NoClaim => "no status block",
        IterationOutcome::Failed => "failed",
        IterationOutcome::TimedOut => "timed out",
        IterationOutcome::Idle => "no output for too long",
        IterationOutcome::Interrupted => "interrupted",
        IterationOutcome::CutOff => "interrupted: its process has exited",
        IterationOutcome::Parked => "rate limited, not counted",
    }
}

/// On what ground a phase is done, for people.
pub fn done_words(how: DoneHow) -> &'static str {
    match how {
        DoneHow::Verified => "verified",
        DoneHow::Approved => "approved by the critic",
        DoneHow::ClaimedUnchecked => "claimed, not verified",
        DoneHow::ClaimedNoChange => "claimed, no files changed",
        DoneHow::TickedByPerson => "ticked in the ticket",
    }
}
