//! Stops a run that meets the same error again and again.

use super::guard::{Guard, Stop};
use crate::domain::outcome::ExitReason;
use crate::domain::step::Counts;
use crate::orchestrator::failure::{in_words, timer_in};
use crate::orchestrator::state::State;

/// At most this many iterations in a row that end with the same masked error.
pub const GUARD: Guard = Guard {
    name: "same error",
    doc: "iterations in a row that end with the same error (paths, numbers and times masked)",
    counts: Counts::Nothing,
    key: "limits.repeated_error",
    level: |state| {
        let times = state.repeated.as_ref().map_or(0, |(_, times)| *times);
        (times, state.settings.repeated_error_limit)
    },
    check,
};

fn check(state: &State) -> Option<Stop> {
    let limit = state.settings.repeated_error_limit;
    let (error, times) = state.repeated.as_ref()?;
    if *times < limit {
        return None;
    }
    let (reason, cure) = match timer_in(error) {
        Some(watch) => (ExitReason::Timeout, watch.cure()),
        None => (ExitReason::RepeatedError, "fix the cause and start the ticket again".to_owned()),
    };
    // Which timer it was says all: what Claude said before is not why.
    let said = state.iteration.as_ref().filter(|_| reason == ExitReason::RepeatedError).and_then(in_words);
    let error = said.unwrap_or(error);
    Some(Stop { reason, detail: format!("{times} iterations in a row ended with: {error}; {cure}") })
}
