//! Stops a run that has used up its iterations.

use super::guard::{Guard, Stop};
use crate::domain::outcome::ExitReason;
use crate::domain::step::Counts;
use crate::orchestrator::state::State;

/// At most this many iterations in a run.
pub const GUARD: Guard = Guard {
    name: "iteration",
    doc: "maximum iterations of one run",
    counts: Counts::Progress,
    key: "limits.max_iterations",
    level: |state| (state.counted_iterations(), state.settings.max_iterations),
    check,
};

fn check(state: &State) -> Option<Stop> {
    let limit = state.settings.max_iterations;
    (state.counted_iterations() >= limit).then(|| Stop {
        reason: ExitReason::MaxIterations,
        detail: format!(
            "iteration limit reached ({limit}); start the ticket again for {limit} more, or raise `{}`",
            GUARD.key
        ),
    })
}
