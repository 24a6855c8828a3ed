//! What became of phases, their boxes and the ticket's status, in words.

use super::ends::done_words;
use super::line::{Weight, quoted};
use crate::base::amount::counted;
use crate::domain::critique::{CriticVerdict, Critique};
use crate::domain::record::{BoxSettled, OfPhase, PhaseByPerson, PhaseSeed, Record, RevisionSettled, WriteOutcome};

/// The sentence of a record about a phase or the ticket's file.
pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    use Weight::{Info, Warn};
    let info = |text: String| Some((Info, text));
    match record {
        Record::PhaseDone { phase, how, .. } => {
            info(format!("done: {} · {}", quoted(phase.as_deref()), done_words(*how)))
        }
        Record::PhaseChecked { phase, how, .. } => {
            info(format!("in review: {} · {}", quoted(phase.as_deref()), done_words(*how)))
        }
        Record::PhaseSettingsRead { phases } => {
            let set = phases.iter().filter(|set| !set.settings.is_empty());
            let set: Vec<String> = set.map(|set| format!("“{}” {}", set.text, set.settings.words())).collect();
            let set = if set.is_empty() { "none".to_owned() } else { set.join(" · ") };
            info(format!("phase settings: {set}"))
        }
        Record::CritiqueMade { critique, .. } => info(critique_words(critique)),
        Record::PhaseRejected { phase, issues, .. } => {
            let first = issues.first().map(|issue| format!(" · {}", issue.words())).unwrap_or_default();
            let (name, many) = (quoted(phase.as_deref()), counted(issues.len(), "issue"));
            Some((Warn, format!("to be fixed: {name} · {many}{first}")))
        }
        Record::PhaseDisputed { phase, why, .. } => {
            // What follows is the output of a command.
            let why = why.lines().next().unwrap_or_default();
            Some((Warn, format!("disputed: {} · {why}", quoted(phase.as_deref()))))
        }
        Record::PhaseSkipped(OfPhase { phase, .. }) => info(format!("skipped by you: “{phase}”")),
        Record::PhaseTicked(PhaseByPerson { of, by, why: Some(why) }) => {
            info(format!("accepted by {by}: “{}” · {why}", of.phase))
        }
        Record::PhaseTicked(PhaseByPerson { of, by, .. }) => info(format!("ticked by {by}: “{}”", of.phase)),
        Record::PhaseReopened(PhaseByPerson { of, .. }) => info(format!("reopened: “{}”", of.phase)),
        Record::TickSettled(BoxSettled { phase, outcome, .. }) => {
            Some(written(outcome, &format!("the box of “{}”", phase.phase), "ticked"))
        }
        Record::UntickSettled(BoxSettled { phase, outcome, .. }) => {
            let (weight, mut text) = written(outcome, &format!("the box of “{}”", phase.phase), "unticked");
            if *outcome == WriteOutcome::Written {
                text.push_str(": the phase is not done");
            }
            Some((weight, text))
        }
        Record::RevisionSettled(RevisionSettled { revised, outcome }) => match outcome.clone().revision_trouble() {
            None => info(format!("ticket: {} by {}", revised.what, revised.by)),
            Some(why) => Some((Warn, format!("ticket not edited ({}): {why}", revised.what))),
        },
        Record::StatusSettled { to, outcome } => {
            Some(written(outcome, "the ticket's status", &format!("set to {}", to.word())))
        }
        _ => None,
    }
}

/// A critic's verdict in a sentence.
fn critique_words(critique: &Critique) -> String {
    let verdict = match critique.verdict {
        CriticVerdict::Approved => "the critic approved the work".to_owned(),
        CriticVerdict::MinorIssues => format!("the critic found {}", counted(critique.issues.len(), "minor issue")),
        CriticVerdict::NeedsFixes => format!("the critic found {}", counted(critique.issues.len(), "issue")),
    };
    if critique.summary.is_empty() { verdict } else { format!("{verdict}: {}", critique.summary) }
}

/// How many phases a ticket has, and how many of them are ticked.
pub(super) fn phases_word(phases: &[PhaseSeed]) -> String {
    if phases.is_empty() {
        return "no phases".into();
    }
    // A box is no more than a claim: the run counts what it has checked.
    let ticked = phases.iter().filter(|phase| phase.done).count();
    format!("{ticked}/{} phases ticked", phases.len())
}

fn written(outcome: &WriteOutcome, what: &str, done: &str) -> (Weight, String) {
    match outcome {
        WriteOutcome::Written => (Weight::Info, format!("{what} was {done}")),
        WriteOutcome::AlreadySo => (Weight::Info, format!("{what} was already {done}")),
        WriteOutcome::NotThere => (Weight::Warn, format!("{what} is no longer in the file; nothing was written")),
        WriteOutcome::FileGone => (Weight::Warn, format!("{what} could not be {done}: the file is gone")),
        WriteOutcome::Failed(why) => (Weight::Error, format!("{what} could not be {done}: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_ticked_and_unticked_in_sentences() {
        let words = |done: bool, outcome: WriteOutcome| {
            let settled = BoxSettled { phase: OfPhase { phase: "X".into(), id: None }, outcome, reading: None };
            let record = if done { Record::TickSettled(settled) } else { Record::UntickSettled(settled) };
            sentence(&record).unwrap().1
        };
        let failed = || WriteOutcome::Failed("read-only".into());
        assert_eq!(words(true, WriteOutcome::Written), "the box of “X” was ticked");
        assert_eq!(words(false, WriteOutcome::Written), "the box of “X” was unticked: the phase is not done");
        assert_eq!(words(false, WriteOutcome::AlreadySo), "the box of “X” was already unticked");
        assert_eq!(words(false, failed()), "the box of “X” could not be unticked: read-only");
        assert_eq!(words(true, failed()), "the box of “X” could not be ticked: read-only");
    }
}
