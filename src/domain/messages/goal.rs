//! What was found of the ticket's goal, and what the run itself changes in the ticket, in words.

use super::line::Weight;
use crate::base::amount::counted;
use crate::domain::evaluation::{Evaluation, GoalVerdict, Proposal, ProposalAnswer};
use crate::domain::record::Record;

/// The sentence of a record about the ticket's goal.
pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    use Weight::{Info, Warn};
    match record {
        Record::TicketReviewed { .. } => Some((Info, "review of the ticket: nothing to fix".to_owned())),
        Record::TicketFaulted { issues, .. } => Some((Info, faulted_words(issues.len()))),
        Record::EvaluationMade { evaluation, .. } => Some((Info, evaluation_words(evaluation))),
        Record::PhasesProposed(Proposal { phases, left_out, .. }) => {
            let more = match left_out {
                0 => String::new(),
                some => format!("  · {} not added: `workflow.max_added_phases` reached", counted(*some, "phase")),
            };
            Some((Warn, format!("proposed: {}{more}", listed(phases))))
        }
        Record::ProposalAnswered { answer: ProposalAnswer::Add { phases }, by } => {
            Some((Info, format!("accepted by {by}: {}", counted(phases.len(), "more phase"))))
        }
        Record::ProposalAnswered { answer: ProposalAnswer::Refuse { words }, by } => {
            let why = if words.is_empty() { String::new() } else { format!(": {words}") };
            Some((Info, format!("more phases declined by {by}{why}")))
        }
        Record::EditDropped { what, why, .. } => Some((Warn, format!("ticket not edited ({what}): {why}"))),
        _ => None,
    }
}

/// What the Stream says of the ticket's goal beside Claude's own words.
pub fn goal_words(record: &Record) -> Option<String> {
    match record {
        Record::GoalAchieved { .. } => Some("✓ the ticket's goal is reached".to_owned()),
        Record::TicketReviewed { .. } => Some("✓ review of the ticket: nothing to fix".to_owned()),
        Record::TicketFaulted { .. } | Record::PhasesProposed(_) | Record::ProposalAnswered { .. } => {
            sentence(record).map(|(_, words)| words)
        }
        _ => None,
    }
}

fn faulted_words(many: usize) -> String {
    format!("review of the ticket: {} found, being checked before the fix", counted(many, "issue"))
}

/// An evaluator's answer in a sentence.
fn evaluation_words(evaluation: &Evaluation) -> String {
    let verdict = match evaluation.verdict {
        GoalVerdict::Achieved => "evaluator: goal reached".to_owned(),
        GoalVerdict::MoreWork => {
            format!("evaluator: {} missing", counted(evaluation.phases.len(), "phase"))
        }
    };
    if evaluation.summary.is_empty() { verdict } else { format!("{verdict}: {}", evaluation.summary) }
}

fn listed(phases: &[String]) -> String {
    phases.iter().map(|phase| format!("“{phase}”")).collect::<Vec<_>>().join(", ")
}
