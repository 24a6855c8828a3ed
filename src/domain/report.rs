//! What runs have come to since a moment: for a person who was away.

mod words;

pub use words::lines;

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::outcome::DoneHow;
use crate::domain::summary::RunState;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

/// `report --json`: add, never rename.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What happened from here on is told.
    pub since: Timestamp,
    pub until: Timestamp,
    /// What the runs cost in this time.
    pub cost_usd: f64,
    /// Those that wait for the person first, then the latest.
    pub runs: Vec<RunReport>,
    /// Runs whose records could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// A run that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unread {
    pub run: RunId,
    pub ticket: TicketId,
    pub why: String,
}

/// What one run has come to since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    pub run: RunId,
    pub ticket: TicketId,
    pub title: String,
    /// The directory that the person was in.
    pub folder: String,
    pub updated: Timestamp,
    pub state: RunState,
    /// Why it ended, in words; `None` while it has not.
    pub ended: Option<String>,
    /// Some of what is done is so by Claude's word alone.
    pub unverified: bool,
    /// What waits for the person: the questions, oldest first, else why the run stands still.
    pub waits: Vec<String>,
    /// What was to be told to the ticket's issue and was not: why, and what tells it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsent: Vec<String>,
    /// Calls that were denied because nobody was there to approve, the first of them by name; no matter since when.
    pub denied: Vec<String>,
    pub denied_count: u32,
    /// How many phases are done, of how many; no matter since when.
    pub phases_done: u32,
    pub phases: u32,
    /// The phases of which something was decided since, as they stand now.
    pub decided: Vec<PhaseReport>,
    /// Claims that did not hold since, oldest first, at most [`CLAIMS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputed: Vec<DisputedClaim>,
    /// Iterations that were begun since.
    pub iterations: u32,
    /// Iterations begun since that reviewed what was found done.
    #[serde(default)]
    pub reviews: u32,
    pub cost_usd: f64,
    /// Files that these iterations changed, by name, at most [`FILES`].
    pub files: Vec<String>,
    /// Files that were changed.
    pub files_count: u32,
    /// Lines that the run's work has added and removed since; 0 where they were not counted yet.
    pub added: u64,
    pub removed: u64,
    /// The commits of its work that were made since.
    pub commits: Vec<String>,
    /// The branch that its work was merged into since.
    pub merged_into: Option<String>,
}

impl RunReport {
    /// Something is left that only the person can do.
    pub fn needs_person(&self) -> bool {
        !(self.waits.is_empty() && self.unsent.is_empty())
    }
}

/// Names of changed files that a report has of one run, at most.
pub const FILES: usize = 200;

/// Claims that did not hold that a report has of one run, at most.
pub const CLAIMS: usize = 50;

/// A claim that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisputedClaim {
    /// What was claimed to be done; `None` is the whole ticket.
    pub phase: Option<String>,
    /// What did not hold.
    pub why: String,
}

/// A phase of which something was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// Its text; `None` is the whole ticket.
    pub phase: Option<String>,
    pub became: Became,
    /// On what ground it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<DoneHow>,
    /// The commands that verified it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// What does not hold, where it is disputed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

worded! {
    /// What was decided of a phase.
    pub enum Became {
        Done = "done",
        Disputed = "disputed",
        Rejected = "rejected",
        Skipped = "skipped",
        Blocked = "blocked",
        /// It is done, and its work was taken back by a restore.
        TakenBack = "taken_back",
    }
}
