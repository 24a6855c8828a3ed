//! What a finished iteration says to the breaker, and which ones say nothing.

use crate::base::text::clean_line;
use crate::domain::outcome::IterationOutcome;
use crate::orchestrator::failure;
use crate::orchestrator::state::{Failure, Iteration};

/// Columns of an error that are kept.
const LONGEST: usize = 200;

/// What the breaker sees of one iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Did it get anywhere?
    pub progress: Progress,
    /// The masked error that it ended in.
    pub error: Option<String>,
    /// The same before it was masked; `None`: the masked one says all.
    pub said: Option<String>,
    /// What was refused that it could not do without, in words.
    pub denied: Option<String>,
    /// Its output in tokens; `None`: not measured.
    pub output: Option<u64>,
}

/// Whether an iteration got anywhere. Claude's words are no evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The working tree differs from before it.
    Made { files: usize },
    /// A phase was found done by the validation commands, though nothing had to be changed for it.
    Verified,
    /// Nothing changed, but Claude asked the person something.
    Asked,
    /// Nothing changed.
    None,
}

/// Reads an iteration. `None`: it neither raises nor resets a counter, because its step counts for nothing, it was cut
/// off by the person or a crash, was never compared, met a limit or a fault outside Claude's work, or ran out of time while working.
pub fn observe(iteration: &Iteration, outcome: IterationOutcome) -> Option<Observation> {
    use IterationOutcome::{Claimed, CutOff, Failed, Idle, Interrupted, NoClaim, Parked, TimedOut};
    let changed = iteration.changed.filter(|_| iteration.role.counts.is_progress())?;
    let says_nothing = match outcome {
        Interrupted | CutOff | Parked => true,
        TimedOut | Idle => changed,
        Claimed => false,
        NoClaim | Failed => iteration.failure.as_ref().is_some_and(is_outside),
    };
    if says_nothing {
        return None;
    }
    let error = failure::fingerprint_of(iteration);
    // Which timer it was says all.
    let is_told = error.as_deref().is_some_and(|error| failure::timer_in(error).is_none());
    Some(Observation {
        progress: match (changed, iteration.verified, iteration.asked_person) {
            (true, ..) => Progress::Made { files: iteration.files },
            (false, true, _) => Progress::Verified,
            (false, false, true) => Progress::Asked,
            (false, false, false) => Progress::None,
        },
        error,
        said: failure::in_words(iteration).filter(|_| is_told).map(|said| clean_line(said, LONGEST)),
        denied: denied(iteration, changed),
        output: (iteration.output > 0).then_some(iteration.output),
    })
}

/// A failure that tells nothing about Claude's work: a limit, the login, the model, the credit.
fn is_outside(failed: &Failure) -> bool {
    let limit = failed.status == Some(429) || matches!(failed.error.as_str(), "rate_limit" | "billing_error");
    limit || failure::fatal(failed).is_some()
}

/// The gate's own refusals count only where Claude got nowhere; all others (Claude's own rules) always do, but for
/// compound commands, whose parts those rules let pass.
fn denied(iteration: &Iteration, changed: bool) -> Option<String> {
    if !iteration.refused.is_empty() {
        let shown: Vec<String> = iteration.refused.iter().map(|denial| denial.shown().into_owned()).collect();
        return Some(format!("Claude's own permissions denied {}", listed(&shown)));
    }
    let why = || format!("the gate denied {} and nothing changed", listed(&iteration.blocked));
    (!iteration.blocked.is_empty() && !changed && !iteration.verified).then(why)
}

/// Each name once, in the order in which they came; not more than a few.
fn listed(names: &[String]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(&name.as_str()) {
            once.push(name);
        }
    }
    once.truncate(5);
    once.join(", ")
}
