//! A record as it stands in the journal.

use super::Record;
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The schema version written as `v`.
pub const FORMAT: u32 = 1;

/// A record as the store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Version of the line format.
    pub v: u32,
    /// Position in the run, from 1, without gaps.
    pub seq: u64,
    /// When the core decided it.
    pub time: Timestamp,
    pub run: RunId,
    /// The run's ticket.
    pub ticket: TicketId,
    #[serde(flatten)]
    pub record: Record,
}

impl Record {
    /// Where a power failure takes it along, nothing is lost: Claude's stream says the same and the scrollback keeps the
    /// stream, or it is found out or decided again, and what follows from it at once may be done again.
    pub fn is_found_again(&self) -> bool {
        matches!(
            self,
            Self::ToolFinished { .. }
                | Self::ApiRetried(_)
                | Self::AgentSpawned { .. }
                | Self::AgentExited { .. }
                | Self::TickSettled(_)
                | Self::UntickSettled(_)
                | Self::StatusSettled { .. }
                | Self::IterationStarted { .. }
                | Self::CallCounted(_)
                | Self::LinesCounted { .. }
        )
    }
}
