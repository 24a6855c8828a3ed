//! Failures that have to be told apart: kinds of API failure (`error` of `assistant` and
//! `system/api_retry`) that no waiting cures, and sessions that are gone.
//!
//! The other kinds (`rate_limit`, `overloaded`, `server_error`, `unknown`, …) are retried by Claude itself.

/// What to tell the person when `kind` cannot pass by itself; `None` when it can.
///
/// Claude retries a refused key for minutes, so a retry with such a kind is the end already.
pub fn fatal_api_error(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "authentication_failed" => {
            "Claude is not logged in, or the API key is refused. Run `claude` once and use /login, or set ANTHROPIC_API_KEY"
        }
        "oauth_org_not_allowed" => {
            "the organisation of this Claude login may not use Claude Code. Run `claude`, /logout, and log in with another account"
        }
        "billing_error" => {
            "no credit is left on this Claude account. Add credit or change the plan, then resume the run"
        }
        "model_not_found" => {
            "the model does not exist, or this account may not use it. Choose another with `--model` or `agent.model`"
        }
        _ => return None,
    })
}

/// The message of a result (or of stderr) says that the session to resume does not exist.
pub fn is_unknown_session(message: &str) -> bool {
    message.contains("No conversation found with session ID")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_session_is_known_by_its_words() {
        let said = "No conversation found with session ID: 7fd60360-697a-45fa-a3d1-c6282a565d75";
        assert!(is_unknown_session(said));
        assert!(!is_unknown_session("Error: Session ID x is already in use."));
    }

    #[test]
    fn only_what_waiting_cannot_cure_is_fatal() {
        for kind in ["authentication_failed", "oauth_org_not_allowed", "billing_error", "model_not_found"] {
            assert!(fatal_api_error(kind).is_some(), "{kind}");
        }
        for kind in ["rate_limit", "overloaded", "server_error", "unknown", "invalid_request", ""] {
            assert_eq!(fatal_api_error(kind), None, "{kind}");
        }
    }
}
