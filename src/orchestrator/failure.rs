//! Failed turns: which of them end the run, and what a person is told about them.
//!
//! Error kinds are the CLI's own (`assistant.error`, `api_retry.error`), as measured on 2.1.197.

use crate::domain::claim::fingerprint::{fingerprint, speaks_of_an_error};
use crate::domain::limits::provider::cause;
use crate::domain::outcome::ExitReason;
use crate::domain::stream::api_error::fatal_api_error;
use crate::domain::watchdog::Watch;
use crate::orchestrator::limits::UsedUp;
use crate::orchestrator::state::{Failure, Iteration};

/// A failure that trying again will not fix: why the run ends, and the fix.
pub fn fatal(failure: &Failure) -> Option<(ExitReason, String)> {
    let by_status = match failure.status {
        Some(401 | 403) => Some("authentication_failed"),
        Some(404) => Some("model_not_found"),
        _ => None,
    };
    // What a limit refused is waited for, not given up.
    if cause(&failure.error, failure.status).is_some() {
        return None;
    }
    let hopeless = fatal_api_error(&failure.error).or_else(|| by_status.and_then(fatal_api_error));
    let (reason, cure) = match (hopeless, failure.error.as_str()) {
        (Some(cure), _) => (ExitReason::Error, cure),
        (None, OVER_BUDGET) => (ExitReason::Budget, BUDGET_USED),
        _ => return None,
    };
    Some((reason, format!("{cure} (Claude said: {})", failure.message)))
}

const BUDGET_USED: &str = "the budget is used up: raise it, then resume the run";

/// The same for an iteration whose Claude has used up this budget: which key to raise.
pub(super) fn over_budget(what: &UsedUp) -> Option<String> {
    match what {
        UsedUp::Part => None,
        UsedUp::OfStep(step, usd) => Some(format!(
            "a call of the step `{step}` has used up its own budget of ${usd:.2}: raise `{step}` in \
             `workflow.budgets_usd`, then resume the run"
        )),
        UsedUp::Budget(key) => Some(format!("the budget is used up: raise `{key}`, then resume the run")),
    }
}

/// Subtype of the result of a Claude that has used up its `--max-budget-usd`.
const OVER_BUDGET: &str = "error_max_budget_usd";
/// Error kind of a Claude that ended before it spoke at all.
pub const PROTOCOL: &str = "no_protocol";
/// Error kind of a Claude that ended without a result.
pub const EXITED: &str = "ended_without_result";

/// Fingerprint of an iteration that was cut off by a timer.
pub const TIMED_OUT: &str = "timed out";

/// The same, with the timer.
pub fn timed_out(watch: Watch) -> String {
    format!("{TIMED_OUT}: {}", watch.word())
}

/// The timer in such a fingerprint: the whole iteration's where none is named. `None`: it is another error.
pub fn timer_in(fingerprint: &str) -> Option<Watch> {
    let rest = fingerprint.strip_prefix(TIMED_OUT)?;
    Some(rest.strip_prefix(": ").and_then(Watch::from_word).unwrap_or(Watch::Total))
}

/// The error of an iteration for people: unlike the masked one it has its paths and numbers. Of several lines the first
/// that speaks of an error; before it may stand where it was thrown. `None`: the masked one says all.
pub fn in_words(iteration: &Iteration) -> Option<&str> {
    let said = iteration.failure.as_ref().map(|failure| failure.message.as_str()).or(iteration.dispute.as_deref())?;
    said.lines().find(|line| speaks_of_an_error(&line.to_lowercase())).or(said.lines().next()).map(str::trim)
}

/// The masked error of an iteration, when it ended in one: two of one cause compare equal.
pub fn fingerprint_of(iteration: &Iteration) -> Option<String> {
    use crate::domain::outcome::IterationOutcome::{Idle, TimedOut};
    if iteration.limited.is_some() || iteration.unasked {
        return None;
    }
    if let Some(failure) = &iteration.failure {
        return Some(fingerprint(&format!("{}: {}", failure.error, failure.message)));
    }
    match iteration.cut {
        Some(TimedOut | Idle) if iteration.changed != Some(true) => {
            return Some(iteration.timer.map_or_else(|| TIMED_OUT.to_owned(), timed_out));
        }
        Some(_) => return None,
        None => {}
    }
    if let Some(dispute) = &iteration.dispute {
        return Some(fingerprint(dispute));
    }
    iteration
        .claim_missing
        .as_ref()
        // One that could not be asked for its block again, for want of calls, is no error of Claude's.
        .filter(|_| !iteration.has_answered() && !iteration.unasked)
        .map(|reason| format!("no readable status block: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_crash_the_line_that_says_what_happened_is_told() {
        let said = |message: &str| {
            let failure = Some(Failure { error: EXITED.into(), message: message.into(), status: None });
            in_words(&Iteration { failure, ..Iteration::default() }).map(str::to_owned)
        };
        let crash = "file:///opt/claude/cli.js:88\n  ^\n\nTypeError: x is undefined\n    at x (node:fs:1)";
        assert_eq!(said(crash).as_deref(), Some("TypeError: x is undefined"));
        assert_eq!(said("    at x (node:fs:1)\n  Error: gone").as_deref(), Some("Error: gone"));
        assert_eq!(said("killed by SIGSEGV\nbye").as_deref(), Some("killed by SIGSEGV"));
    }

    #[test]
    fn what_ends_a_run_and_what_is_tried_again() {
        let cases = [
            ("authentication_failed", Some(401), Some(ExitReason::Error)),
            ("authentication_failed", None, Some(ExitReason::Error)),
            ("model_not_found", Some(404), Some(ExitReason::Error)),
            ("error_max_budget_usd", None, Some(ExitReason::Budget)),
            ("billing_error", Some(400), None),
            ("rate_limit", Some(429), None),
            ("unknown", Some(429), None),
            ("server_error", Some(529), None),
            ("unknown", None, None),
            ("error_during_execution", None, None),
            (EXITED, None, None),
        ];
        for (error, status, expected) in cases {
            let failure = Failure { error: error.into(), message: "x".into(), status };
            assert_eq!(fatal(&failure).map(|(reason, _)| reason), expected, "{error} {status:?}");
        }
    }
}
