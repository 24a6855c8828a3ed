//! The reasons to stop by ourselves: one file each, one table. The table also feeds the gauges and the
//! docs. A guard looks at finished iterations only and is asked before money is spent on the next.

pub mod max_iterations;
pub mod repeated_error;
pub mod stagnation;

use crate::domain::outcome::ExitReason;
use crate::domain::step::Counts;
use crate::orchestrator::state::State;

/// Why a run is stopped by a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The run's exit reason.
    pub reason: ExitReason,
    /// In words, with what to do next.
    pub detail: String,
}

/// One reason to stop.
pub struct Guard {
    /// Name on the gauges, two words at most.
    pub name: &'static str,
    /// What it guards against.
    pub doc: &'static str,
    /// What it counts: a guard that counts progress stops no step that only looks on.
    pub counts: Counts,
    /// The config key of its limit.
    pub key: &'static str,
    /// Where it stands: the count and the limit.
    pub level: fn(&State) -> (u32, u32),
    /// Stop?
    pub check: fn(&State) -> Option<Stop>,
}

/// All guards, in the order they are asked: the more telling reason first.
pub const GUARDS: [Guard; 3] = [max_iterations::GUARD, repeated_error::GUARD, stagnation::GUARD];

/// The first guard that stops a step which counts for this.
pub fn check(state: &State, step: Counts) -> Option<Stop> {
    let asked = GUARDS.iter().filter(|guard| step.is_progress() || guard.counts == step);
    asked.into_iter().find_map(|guard| (guard.check)(state))
}
