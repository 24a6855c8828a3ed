//! Failed turns: which of them end the run, and what a person is told about them.
//!
//! Error kinds are the CLI's own (`assistant.error`, `api_retry.error`), as measured on 2.1.197.

use crate::domain::claim::fingerprint::fingerprint;
use crate::domain::outcome::ExitReason;
use crate::orchestrator::state::{Failure, Iteration};

/// A failure that trying again will not mend: why the run ends, and the cure.
pub fn fatal(failure: &Failure) -> Option<(ExitReason, String)> {
    let said = &failure.message;
    let (reason, cure) = match (failure.error.as_str(), failure.status) {
        ("authentication_failed" | "oauth_org_not_allowed", _) | (_, Some(401 | 403)) => (
            ExitReason::Error,
            "Claude is not logged in, or may not use this account: run `claude` once and log in, or set \
             ANTHROPIC_API_KEY, then resume",
        ),
        ("model_not_found", _) | (_, Some(404)) => (
            ExitReason::Error,
            "Claude does not know this model: choose another with `agent.model` in the config, then resume",
        ),
        ("billing_error", _) => (
            ExitReason::Error,
            "the account has no credit left: add some, then resume",
        ),
        ("rate_limit", _) | (_, Some(429)) => (
            ExitReason::RateLimited,
            "the provider's rate limit is reached: wait for the reset, then resume",
        ),
        (PROTOCOL, _) => (
            ExitReason::Error,
            "see the log for what Claude printed, then resume",
        ),
        _ => return None,
    };
    Some((reason, format!("{cure} (Claude said: {said})")))
}

/// Error kind of a Claude that ended before it spoke at all.
pub const PROTOCOL: &str = "no_protocol";
/// Error kind of a Claude that ended without a result.
pub const EXITED: &str = "ended_without_result";

/// Fingerprint of an iteration that was cut off by a timer.
pub const TIMED_OUT: &str = "timed out";

/// The masked error of an iteration, when it ended in one: two of one cause compare equal.
pub fn fingerprint_of(iteration: &Iteration) -> Option<String> {
    use crate::domain::outcome::IterationOutcome::{Idle, TimedOut};
    if let Some(failure) = &iteration.failure {
        return Some(fingerprint(&format!(
            "{}: {}",
            failure.error, failure.message
        )));
    }
    match iteration.cut {
        Some(TimedOut | Idle) if iteration.changed != Some(true) => {
            return Some(TIMED_OUT.to_owned());
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
        .filter(|_| iteration.claim.is_none())
        .map(|reason| format!("no readable status block: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_run_and_what_is_tried_again() {
        let cases = [
            ("authentication_failed", Some(401), Some(ExitReason::Error)),
            ("authentication_failed", None, Some(ExitReason::Error)),
            ("model_not_found", Some(404), Some(ExitReason::Error)),
            ("billing_error", Some(400), Some(ExitReason::Error)),
            ("rate_limit", Some(429), Some(ExitReason::RateLimited)),
            ("unknown", Some(429), Some(ExitReason::RateLimited)),
            ("server_error", Some(529), None),
            ("unknown", None, None),
            ("error_during_execution", None, None),
            (EXITED, None, None),
        ];
        for (error, status, expected) in cases {
            let failure = Failure {
                error: error.into(),
                message: "x".into(),
                status,
            };
            assert_eq!(
                fatal(&failure).map(|(reason, _)| reason),
                expected,
                "{error} {status:?}"
            );
        }
    }
}
