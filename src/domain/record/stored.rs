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
    /// Claude's stream says the same, and the scrollback keeps the stream.
    pub fn repeats_stream(&self) -> bool {
        matches!(self, Self::ToolFinished { .. } | Self::ApiRetried(_))
    }
}
