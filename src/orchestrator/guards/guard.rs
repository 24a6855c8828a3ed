//! What a guard is.

use crate::domain::outcome::ExitReason;
use crate::domain::step::Counts;
use crate::orchestrator::state::State;

/// Why a run is stopped by a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    pub reason: ExitReason,
    /// In words, with what to do next.
    pub detail: String,
}

/// One reason to stop.
pub struct Guard {
    /// Name on the gauges, two words at most.
    pub name: &'static str,
    pub doc: &'static str,
    /// What it counts: a guard that counts progress stops no step that only looks on.
    pub counts: Counts,
    /// The config key of its limit.
    pub key: &'static str,
    /// Where it stands: the count and the limit.
    pub level: fn(&State) -> (u32, u32),
    pub check: fn(&State) -> Option<Stop>,
}
