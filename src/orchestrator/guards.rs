//! The reasons to stop by ourselves: one file each, one table. The table also feeds the gauges and the
//! docs. A guard looks at finished iterations only and is asked before money is spent on the next.

mod guard;
pub mod max_iterations;
pub mod repeated_error;
pub mod stagnation;

pub use guard::{Guard, Stop};

use crate::domain::outcome::ExitReason;
use crate::domain::step::Counts;
use crate::orchestrator::state::State;

/// All guards, in the order they are asked: the more telling reason first.
pub const GUARDS: [Guard; 3] = [max_iterations::GUARD, repeated_error::GUARD, stagnation::GUARD];

/// Iterations in a row that may count for nothing: more would go on for ever.
const ASIDE: u32 = 20;

/// The first guard that stops a step which counts for this.
pub fn check(state: &State, step: Counts) -> Option<Stop> {
    if !step.is_progress() && state.aside_in_a_row >= ASIDE {
        let detail = format!("{ASIDE} iterations in a row only reviewed the work; start the ticket again");
        return Some(Stop { reason: ExitReason::Stagnation, detail });
    }
    let asked = GUARDS.iter().filter(|guard| step.is_progress() || guard.counts == step);
    asked.into_iter().find_map(|guard| (guard.check)(state))
}
