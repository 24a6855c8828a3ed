//! The planning of a ticket in words.

use super::line::Weight;
use crate::base::amount::counted;
use crate::domain::planning::{DraftAnswer, DraftAnswered, PlanAsked, Tried};
use crate::domain::record::Record;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::part::{Part, numbers};

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

/// "4 phases, 1 validation command"; of a draft for several tickets all of theirs.
pub fn draft_words(draft: &Draft) -> String {
    let phases = draft.parts.iter().fold(draft.phases.len(), |sum, part| sum + part.phases.len());
    let tickets = draft.parts.len() + 1;
    let tickets = if tickets > 1 { counted(tickets, "ticket") + ", " } else { String::new() };
    format!("{tickets}{}, {}", counted(phases, "phase"), counted(draft.validation.len(), "validation command"))
}

/// What stands above the phases of the part in this place, from 1.
pub fn part_words(n: usize, part: &Part) -> String {
    let after = if part.after.is_empty() { String::new() } else { format!(" (after {})", numbers(&part.after)) };
    format!("Ticket {n}{after}: {}", part.title)
}

/// What stands above the phases of a ticket that others were split off.
pub const AT_LAST: &str = "This ticket, once the others are closed";

/// A draft as lines: its phases, by tickets where there are several, then its validation commands.
pub fn draft_lines(draft: &Draft) -> Vec<String> {
    let line = |phase: &String| format!("- {phase}");
    let part =
        |(n, part): (usize, &Part)| std::iter::once(part_words(n, part)).chain(part.phases.iter().map(line)).collect();
    let parts: Vec<Vec<String>> = (1..).zip(&draft.parts).map(part).collect();
    let own = (!parts.is_empty()).then(|| AT_LAST.to_owned());
    let phases = parts.into_iter().flatten().chain(own).chain(draft.phases.iter().map(line));
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
