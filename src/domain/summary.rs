//! A run in one row: what `status`, the list of runs and `resume` need without reading its journal.
//!
//! Written by the store beside the records it sums up; how it follows from them is the core's.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
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

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    /// Another run works in its folder.
    Waiting,
    Paused,
    /// It waits for a limit, and goes on by itself.
    Parked,
    /// It was at work when its program died. Never stored: it is seen from a lock that nobody holds.
    Interrupted,
    /// It has an exit reason.
    Ended,
}

impl RunState {
    const ALL: [Self; 6] = [Self::Running, Self::Waiting, Self::Paused, Self::Parked, Self::Interrupted, Self::Ended];

    /// The word for people, the store and `--json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Parked => "parked",
            Self::Interrupted => "interrupted",
            Self::Ended => "ended",
        }
    }

    /// Reads the word; `None` for any other.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_json() {
        for state in RunState::ALL {
            assert_eq!(RunState::from_word(state.word()), Some(state));
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{}\"", state.word()));
        }
    }
}
