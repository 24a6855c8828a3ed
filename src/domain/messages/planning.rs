//! The planning of a ticket in words.

use super::line::Weight;
use crate::base::amount::counted;
use crate::domain::planning::{DraftAnswer, DraftAnswered, PlanAsked, Tried};
use crate::domain::record::Record;
use crate::domain::ticket::draft::Draft;

/// The sentence of a record about a plan.
pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    use Weight::{Info, Warn};
    match record {
        Record::PlanAsked(PlanAsked { by, .. }) => Some((Info, format!("planning the ticket, started by {by}"))),
        Record::DraftMade { draft, .. } => Some((Info, format!("draft: {}", draft_words(draft)))),
        Record::DraftAnswered(DraftAnswered { answer, by }) => Some((Info, answer_words(answer, &by.to_string()))),
        Record::DraftTried { tried } => Some(tried_words(tried)),
        Record::DraftNotWritten { why } => Some((Warn, format!("the draft was not written: {why}"))),
        _ => None,
    }
}

/// "4 phases, 1 validation command".
pub fn draft_words(draft: &Draft) -> String {
    format!("{}, {}", counted(draft.phases.len(), "phase"), counted(draft.validation.len(), "validation command"))
}

/// A draft as lines: its phases, then its validation commands.
pub fn draft_lines(draft: &Draft) -> Vec<String> {
    let phases = draft.phases.iter().map(|phase| format!("- {phase}"));
    phases.chain(draft.validation.iter().map(|command| format!("$ {command}"))).collect()
}

fn answer_words(answer: &DraftAnswer, by: &str) -> String {
    match answer {
        DraftAnswer::Accept => format!("draft accepted by {by}"),
        DraftAnswer::Edit(draft) => format!("draft edited by {by}: {}", draft_words(draft)),
        DraftAnswer::Revise { words } => format!("draft sent back by {by}: {words}"),
        DraftAnswer::Try => format!("trying the validation commands, started by {by}"),
        DraftAnswer::Refuse => format!("draft discarded by {by}"),
    }
}

fn tried_words(tried: &[Tried]) -> (Weight, String) {
    let passed = tried.iter().filter(|one| one.exit == Some(0)).count();
    let held_back = tried.iter().filter(|one| !one.reason.is_empty()).count();
    let not_run = if held_back > 0 { format!(", {held_back} not run") } else { String::new() };
    let weight = if passed == tried.len() { Weight::Info } else { Weight::Warn };
    (weight, format!("validation commands tried: {passed} of {} passed{not_run}", tried.len()))
}
