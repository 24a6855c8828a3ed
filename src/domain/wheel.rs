//! A person at work in the ticket's own session of Claude: what the journal says of it, and what came of it.

use crate::domain::answerer::Answerer;
use crate::domain::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// Files that a record names at most.
pub const NAMED: usize = 200;

/// Claude is about to be opened for a person, on this session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WheelTaken {
    pub session: String,
    /// Why its calls are not judged by the rules; `None`: they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ungated: Option<String>,
    /// What a person calls the snapshot of the files as they were before; `None`: there is no git, or it is of an older
    /// version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    pub by: Answerer,
}

/// The rules have judged a call of that Claude. Stored before it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WheelJudged {
    pub tool: String,
    pub target: String,
    pub verdict: Verdict,
    pub reason: String,
}

/// That Claude has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WheelReturned {
    /// Files that differ from before, by name; at most [`NAMED`].
    pub files: Vec<String>,
    pub total: usize,
    /// It has reached the gate, so its calls were judged.
    pub checked: bool,
    /// What went wrong, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What came of a wish to take the wheel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wheel {
    /// The rules could not judge its calls, for this reason; nothing was opened.
    Ungated(String),
    Returned,
    /// Words for the person.
    Refused(String),
}
