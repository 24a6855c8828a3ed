//! What became of phases, their boxes and the ticket's status, in words.

use super::ends::done_words;
use super::{Weight, quoted};
use crate::domain::record::{BoxSettled, OfPhase, Record, WriteOutcome};

/// The sentence of a record about a phase or the ticket's file.
pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    use Weight::{Info, Warn};
    let info = |text: String| Some((Info, text));
    match record {
        Record::PhaseDone { phase, how, .. } => {
            info(format!("done: {} · {}", quoted(phase.as_deref()), done_words(*how)))
        }
        Record::PhaseDisputed { phase, why, .. } => {
            // What follows is the output of a command.
            let why = why.lines().next().unwrap_or_default();
            Some((Warn, format!("disputed: {} · {why}", quoted(phase.as_deref()))))
        }
        Record::PhaseSkipped(OfPhase { phase, .. }) => info(format!("skipped by you: “{phase}”")),
        Record::PhaseTicked(OfPhase { phase, .. }) => info(format!("ticked by you: “{phase}”")),
        Record::PhaseReopened(OfPhase { phase, .. }) => info(format!("to be worked on again: “{phase}”")),
        Record::TickSettled(BoxSettled { phase, outcome }) => {
            Some(written(outcome, &format!("the box of “{}”", phase.phase), "ticked"))
        }
        Record::UntickSettled(BoxSettled { phase, outcome }) => Some(written(
            outcome,
            &format!("the box of “{}”, ticked during an iteration that did not finish the phase,", phase.phase),
            "open again",
        )),
        Record::StatusSettled { to, outcome } => {
            Some(written(outcome, "the ticket's status", &format!("set to {}", to.word())))
        }
        _ => None,
    }
}

fn written(outcome: &WriteOutcome, what: &str, done: &str) -> (Weight, String) {
    match outcome {
        WriteOutcome::Written => (Weight::Info, format!("{what} is {done}")),
        WriteOutcome::AlreadySo => (Weight::Info, format!("{what} was {done} already")),
        WriteOutcome::NotThere => (Weight::Warn, format!("{what} is no longer in the file; left as it is")),
        WriteOutcome::FileGone => (Weight::Warn, format!("{what} cannot be {done}: the file is gone")),
        WriteOutcome::Failed(why) => (Weight::Error, format!("{what} cannot be {done}: {why}")),
    }
}
