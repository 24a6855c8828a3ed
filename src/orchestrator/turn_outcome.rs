//! The one table of how a turn of Claude's ended: from the `result` record, the process's exit, and whether we ended
//! it, to what the iteration makes of it. Rows and order after the CLI 2.1.197 as measured.
//!
//! Which failures end the run is [`failure`](super::failure)'s; what a claim is worth is [`judge`](super::judge)'s.

use super::failure::EXITED;
use super::state::Failure;
use crate::base::text::tail;
use crate::domain::outcome::IterationOutcome;
use crate::domain::stream::api_error::is_unknown_session;
use crate::domain::turn::TurnResult;

/// Longest message of a failure that is kept, in bytes.
const MESSAGE: usize = 2_000;

/// How a process ended, as far as it concerns its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit<'a> {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// The last of its stderr.
    pub stderr: &'a str,
}

/// What is known when one asks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ending<'a> {
    /// The turn's `result` record, if one came.
    pub result: Option<&'a TurnResult>,
    /// The process's exit, if it has ended.
    pub exit: Option<Exit<'a>>,
    /// We cut it off, and it counts so.
    pub by_us: Option<IterationOutcome>,
}

/// How the turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    Running,
    /// Claude has answered: the text is read for a claim.
    Answered,
    /// Claude does not know the session it was to resume. Where none was named, it failed so.
    UnknownSession(Failure),
    Failed(Failure),
    /// It was cut off by us; what it says about that is no news.
    Cut(IterationOutcome),
}

/// The table. Our own cut comes first, then `is_error`, for API failures call themselves `success`. The exit code is
/// looked at only where no result came: it may be 0 for a lost result, and 1 for a good one that was ended by us.
pub fn turn_outcome(ending: Ending<'_>) -> TurnOutcome {
    match ending {
        Ending { by_us: Some(cut), .. } => TurnOutcome::Cut(cut),
        Ending { result: Some(result), .. } if !result.is_error => TurnOutcome::Answered,
        Ending { result: Some(result), .. } => {
            let failure = failed(result);
            if is_unknown_session(&result.message) {
                TurnOutcome::UnknownSession(failure)
            } else {
                TurnOutcome::Failed(failure)
            }
        }
        Ending { exit: Some(exit), .. } => TurnOutcome::Failed(gone(exit)),
        Ending { .. } => TurnOutcome::Running,
    }
}

fn failed(result: &TurnResult) -> Failure {
    Failure {
        error: result.error_kind.clone().unwrap_or_else(|| result.subtype.clone()),
        message: tail(&result.message, MESSAGE).to_owned(),
        status: result.api_error_status,
    }
}

fn gone(exit: Exit<'_>) -> Failure {
    let how = match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("by signal {signal}"),
        (Some(code), _) => format!("with exit code {code}"),
        (None, None) => "without an exit code".to_owned(),
    };
    let said = exit.stderr.trim();
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let message = format!("Claude exited {how} without a result{said}");
    Failure { error: EXITED.to_owned(), message: tail(&message, MESSAGE).to_owned(), status: None }
}

/// What an iteration came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IterationFacts {
    pub claimed: bool,
    pub failed: bool,
    /// It met a limit, the provider's or ours.
    pub limited: bool,
    pub cut: Option<IterationOutcome>,
}

/// How an iteration counts: a claim outweighs what came after it, a limit the failure that it showed as, a failure
/// the cut that followed from it.
pub fn iteration_outcome(came: IterationFacts) -> IterationOutcome {
    match came {
        IterationFacts { claimed: true, .. } => IterationOutcome::Claimed,
        IterationFacts { limited: true, .. } => IterationOutcome::Parked,
        IterationFacts { failed: true, .. } => IterationOutcome::Failed,
        IterationFacts { cut: Some(cut), .. } => cut,
        IterationFacts { .. } => IterationOutcome::NoClaim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_weighs_more_in_an_iteration() {
        use IterationOutcome::{Claimed, Failed, Idle, Interrupted, NoClaim, Parked};
        let came = IterationFacts::default;
        let cases = [
            ("nothing came", came(), NoClaim),
            ("a claim", IterationFacts { claimed: true, ..came() }, Claimed),
            (
                "a claim, then a background task that failed",
                IterationFacts { claimed: true, failed: true, ..came() },
                Claimed,
            ),
            ("a claim, then a limit", IterationFacts { claimed: true, failed: true, limited: true, ..came() }, Claimed),
            (
                "a claim, then stopped by the person",
                IterationFacts { claimed: true, cut: Some(Interrupted), ..came() },
                Claimed,
            ),
            ("a failure", IterationFacts { failed: true, ..came() }, Failed),
            ("a failure that was a limit", IterationFacts { failed: true, limited: true, ..came() }, Parked),
            ("a failure that we cut short", IterationFacts { failed: true, cut: Some(Failed), ..came() }, Failed),
            (
                "a failure, then stopped by the person",
                IterationFacts { failed: true, cut: Some(Interrupted), ..came() },
                Failed,
            ),
            ("cut off for silence", IterationFacts { cut: Some(Idle), ..came() }, Idle),
        ];
        for (name, came, expected) in cases {
            assert_eq!(iteration_outcome(came), expected, "{name}");
        }
    }
}
