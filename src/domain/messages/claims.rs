//! What Claude reports of its work, in one line.

use crate::domain::claim::{Claim, ClaimStatus};

pub(super) fn words(claim: &Claim) -> String {
    let about = match (&claim.phase_completed, claim.status) {
        (None, _) => String::new(),
        (Some(phase), ClaimStatus::Blocked) => format!(" “{phase}” ·"),
        (Some(phase), _) => format!(" “{phase}” is done ·"),
    };
    let error = claim.error.iter().filter(|error| !error.is_empty()).map(|error| format!(" · {error}"));
    let (status, summary, error) = (claim.status.word(), &claim.summary, error.collect::<String>());
    format!("Claude reports {status}:{about} {summary}{error}")
}
