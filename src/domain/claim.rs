//! What Claude claims at the end of an iteration: the status block, read. A claim, never a fact.

pub mod fingerprint;
pub mod parse;

use serde::{Deserialize, Serialize};

/// A valid status block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The phase that Claude says is done; `null` when none is.
    pub phase_completed: Option<String>,
    /// Go on, all done, or stuck.
    pub status: ClaimStatus,
    /// Files that Claude says it changed: untrusted text, never opened.
    pub files_changed: Vec<String>,
    /// What was done, in Claude's words.
    pub summary: String,
    /// Why it is stuck (with `BLOCKED`).
    pub error: Option<String>,
}

/// The `status` key of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ClaimStatus {
    /// More to do.
    Continue,
    /// Everything is done.
    Done,
    /// A person must act first.
    Blocked,
}

impl ClaimStatus {
    /// The word in the block.
    pub fn word(self) -> &'static str {
        match self {
            Self::Continue => "CONTINUE",
            Self::Done => "DONE",
            Self::Blocked => "BLOCKED",
        }
    }
}
