//! The `status` key of a status block.

use serde::{Deserialize, Serialize};

/// The `status` key of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ClaimStatus {
    Continue,
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
