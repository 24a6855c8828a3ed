//! A run in one row: what `status`, the list of runs and `resume` need without reading its journal.
//!
//! Written by the store beside the records it sums up; how it follows from them is the core's.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::worded::worded;
use crate::domain::workspace::Workspace;
use serde::{Deserialize, Serialize};

/// One run at a glance. The order of the fields is that of `status --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    pub run: RunId,
    pub ticket: TicketId,
    /// The ticket's title when the run began.
    pub title: String,
    pub ticket_path: String,
    pub folder: String,
    pub state: RunState,
    /// The phase at hand; `None` between phases and without phases.
    pub phase: Option<String>,
    pub phases_done: u32,
    pub phases: u32,
    /// Iterations begun, but those that a limit refused.
    pub iterations: u32,
    pub cost_usd: f64,
    /// Word of the exit reason; `None` while it has not ended.
    pub reason: Option<String>,
    pub started: Timestamp,
    pub updated: Timestamp,
}

impl RunSummary {
    /// Where the run works.
    pub fn workspace(&self) -> Workspace {
        Workspace::shared(&self.folder)
    }
}

worded! {
    /// What a run is doing.
    pub enum RunState {
        Running = "running",
        /// Another run works in its folder.
        Waiting = "waiting",
        Paused = "paused",
        /// It waits for a limit, and goes on by itself.
        Parked = "parked",
        /// It was at work when its program died. Never stored: it is seen from a lock that nobody holds.
        Interrupted = "interrupted",
        /// It has an exit reason.
        Ended = "ended",
    }
}

impl RunState {
    pub fn label(self) -> &'static str {
        if self == Self::Waiting { "queued" } else { self.word() }
    }
}
