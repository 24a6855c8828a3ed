//! Stops a run whose iterations change nothing.

use super::guard::{Guard, Stop};
use crate::domain::outcome::ExitReason;
use crate::domain::step::Counts;
use crate::orchestrator::state::State;

/// At most this many iterations in a row without any change in the working tree.
pub const GUARD: Guard = Guard {
    name: "no change",
    doc: "iterations in a row without any change in the working tree",
    counts: Counts::Progress,
    key: "limits.stagnation",
    level: |state| (state.stagnation, state.settings.stagnation_limit),
    check,
};

fn check(state: &State) -> Option<Stop> {
    let limit = state.settings.stagnation_limit;
    (state.stagnation >= limit).then(|| Stop {
        reason: ExitReason::Stagnation,
        detail: format!(
            "{limit} iterations in a row changed nothing; read the stream, clarify the phase and start the ticket \
            again, or raise `{}`",
            GUARD.key
        ),
    })
}
