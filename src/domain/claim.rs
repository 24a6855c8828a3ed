//! What Claude claims at the end of an iteration: the status block, read. A claim, never a fact.

pub mod fingerprint;
pub mod parse;
mod signals;
mod status;

pub use signals::{Signals, Source, TestsStatus, WorkType};
pub use status::ClaimStatus;

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
    #[serde(default, skip_serializing_if = "Signals::is_empty")]
    pub signals: Signals,
    #[serde(default, skip_serializing_if = "Source::is_ours")]
    pub source: Source,
}

impl Claim {
    /// What is wrong, where that is more than the summary: of a block that names no error the summary stands for it.
    pub fn more_wrong(&self) -> Option<&str> {
        self.error.as_deref().filter(|error| !error.is_empty() && error.trim() != self.summary.trim())
    }

    /// A claim that says nothing but its status.
    pub fn new(status: ClaimStatus) -> Self {
        Self {
            phase_completed: None,
            status,
            files_changed: Vec::new(),
            summary: String::new(),
            error: None,
            signals: Signals::default(),
            source: Source::default(),
        }
    }

    /// Claude says in so many words that there is more to do, whatever else it says.
    pub fn denies_exit(&self) -> bool {
        self.signals.exit_signal == Some(false)
    }

    /// The files that it claims to have changed, in words; `None`: it claims no change.
    pub fn claimed_files(&self) -> Option<String> {
        let counted = self.signals.files_modified.filter(|count| *count > 0);
        if self.files_changed.is_empty() {
            counted.map(|count| format!("{count} of them, without names"))
        } else {
            Some(self.files_changed.join(", "))
        }
    }
}
