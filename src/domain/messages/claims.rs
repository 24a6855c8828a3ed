//! What Claude reports of its work, in one line.

use crate::domain::claim::{Claim, ClaimStatus};

pub(super) fn words(claim: &Claim) -> String {
    let said = match (&claim.phase_completed, claim.status) {
        (Some(phase), ClaimStatus::Continue) => format!("“{phase}” is done"),
        (None, ClaimStatus::Continue) => "more to do".to_owned(),
        (Some(phase), ClaimStatus::Done) => format!("“{phase}” and the whole ticket are done"),
        (None, ClaimStatus::Done) => "the whole ticket is done".to_owned(),
        (Some(phase), ClaimStatus::Blocked) => format!("blocked on “{phase}”"),
        (None, ClaimStatus::Blocked) => "blocked".to_owned(),
    };
    let parts = [Some(claim.summary.as_str()), claim.more_wrong()].into_iter().flatten();
    parts
        .filter(|part| !part.is_empty())
        .fold(format!("Claude reports: {said}"), |told, part| format!("{told} · {part}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_that_stands_for_the_error_is_said_once() {
        let summary = "no key".to_owned();
        let claim = Claim { error: Some(summary.clone()), summary, ..Claim::new(ClaimStatus::Blocked) };
        assert_eq!(words(&claim), "Claude reports: blocked · no key");
        let claim = Claim { error: Some("HTTP 401".to_owned()), ..claim };
        assert_eq!(words(&claim), "Claude reports: blocked · no key · HTTP 401");
    }

    #[test]
    fn a_claim_is_told_without_the_words_of_the_block() {
        let claim = |status, phase: Option<&str>| Claim {
            phase_completed: phase.map(str::to_owned),
            summary: "counted".to_owned(),
            ..Claim::new(status)
        };
        for (claim, told) in [
            (claim(ClaimStatus::Continue, Some("A")), "“A” is done"),
            (claim(ClaimStatus::Continue, None), "more to do"),
            (claim(ClaimStatus::Done, Some("A")), "“A” and the whole ticket are done"),
            (claim(ClaimStatus::Done, None), "the whole ticket is done"),
            (claim(ClaimStatus::Blocked, Some("A")), "blocked on “A”"),
        ] {
            assert_eq!(words(&claim), format!("Claude reports: {told} · counted"));
        }
    }
}
