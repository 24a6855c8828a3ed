//! What Claude reports of its work, in one line.

use crate::domain::claim::{Claim, ClaimStatus};

pub(super) fn words(claim: &Claim) -> String {
    let about = match (&claim.phase_completed, claim.status) {
        (None, _) => String::new(),
        (Some(phase), ClaimStatus::Blocked) => format!(" “{phase}” ·"),
        (Some(phase), _) => format!(" “{phase}” is done ·"),
    };
    let error = claim.more_wrong().map_or_else(String::new, |error| format!(" · {error}"));
    let (status, summary) = (claim.status.word(), &claim.summary);
    format!("Claude reports {status}:{about} {summary}{error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_that_stands_for_the_error_is_said_once() {
        let summary = "no key".to_owned();
        let claim = Claim { error: Some(summary.clone()), summary, ..Claim::new(ClaimStatus::Blocked) };
        assert_eq!(words(&claim), "Claude reports BLOCKED: no key");
        let claim = Claim { error: Some("HTTP 401".to_owned()), ..claim };
        assert_eq!(words(&claim), "Claude reports BLOCKED: no key · HTTP 401");
    }
}
