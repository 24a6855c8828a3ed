//! How the counters of the circuit breaker came to where they stand.

use crate::base::time::Timestamp;
use crate::domain::messages::Weight as Level;
use crate::domain::record::Record;

/// A number on the gauges moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    /// When.
    pub time: Timestamp,
    /// In which iteration; `None`: between two, or at the start.
    pub iteration: Option<u32>,
    /// How much it wants to be read.
    pub level: Level,
    pub text: String,
}

/// Does the record tell of a movement? Then the iteration that caused it.
#[expect(clippy::option_option, reason = "no movement, or one that belongs to no iteration")]
pub fn moved_in(record: &Record) -> Option<Option<u32>> {
    match record {
        Record::BreakerCounted(moved) => Some(Some(moved.n)),
        Record::BreakerMoved(moved) => Some((moved.n > 0).then_some(moved.n)),
        Record::BreakerCarried { .. } | Record::BreakerReset { .. } => Some(None),
        _ => None,
    }
}
