//! Which of the things that wait a message asks about.

use crate::cli::away::kept::Asked;
use crate::cli::queue::{Subject, Waiting};

/// It is the question that this message asks.
pub(super) fn is(asked: &Asked, one: &Waiting) -> bool {
    asked.run == one.run
        && match &one.subject {
            Subject::Question(approval) => asked.question.as_ref() == Some(&approval.id),
            Subject::Decision(decision) => asked.question.is_none() && asked.decision == decision.name,
            // Told when it ends.
            Subject::Ended(_) => false,
        }
}
