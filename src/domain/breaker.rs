//! The circuit breaker of a ticket, as it is kept: its state, its counters, what it has seen.
//!
//! How it moves is the core's (`orchestrator::breaker`), its thresholds are `domain::settings`'. The words of
//! its states are Hank's, because people know them.

use crate::base::time::Timestamp;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// The breaker's state.
    #[derive(Default)]
    pub enum Circuit {
        #[default]
        Closed = "CLOSED",
        /// Watched: the next iteration decides.
        HalfOpen = "HALF_OPEN",
        /// Nothing runs.
        Open = "OPEN",
    }
}

impl Circuit {
    /// For people; [`word`](Self::word) is for records and programs.
    pub fn told(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::HalfOpen => "half open",
            Self::Open => "open",
        }
    }
}

/// What the breaker counts, in iterations in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Iterations that changed nothing.
    NoProgress,
    /// Iterations that ended with the same masked error.
    SameError,
    /// Iterations in which something was refused that Claude could not do without.
    PermissionDenials,
    /// By how many percent the output fell below what it was, and stayed for two iterations; 0 below the threshold.
    OutputDecline,
}

impl Counter {
    pub fn word(self) -> &'static str {
        match self {
            Self::NoProgress => "no progress",
            Self::SameError => "same error",
            Self::PermissionDenials => "permission denials",
            Self::OutputDecline => "output decline",
        }
    }
}

/// How a counter moved, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterMoved {
    pub n: u32,
    pub counter: Counter,
    pub value: u32,
    pub limit: u32,
    /// The evidence; for [`Counter::SameError`] above zero the masked error itself.
    pub why: String,
    /// The error as it was before it was masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// How the breaker moved, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateMoved {
    /// The iteration; 0 when it was at the start of a run.
    pub n: u32,
    pub from: Circuit,
    pub to: Circuit,
    pub reason: String,
}

/// A ticket's breaker. It outlives runs: each run begins with what the one before left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    pub state: Circuit,
    /// When it last moved; `None`: never.
    pub last_change: Option<Timestamp>,
    /// When it opened; only while it is open.
    pub opened_at: Option<Timestamp>,
    pub reason: String,
    /// [`Counter::NoProgress`].
    pub no_progress: u32,
    /// [`Counter::SameError`].
    pub same_error: u32,
    /// The masked error that is counted.
    pub error: Option<String>,
    /// The same as it was last reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// [`Counter::PermissionDenials`].
    pub permission_denials: u32,
    /// [`Counter::OutputDecline`], in percent.
    pub output_decline: u32,
    /// The output that the next iteration's is compared with, in tokens: that of the last one that was judged.
    pub output: Option<u64>,
    /// The last iteration's output fell far below it: if the next one's does too, it counts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
    /// How often it has opened since it was last reset.
    pub total_opens: u32,
}

impl Breaker {
    /// Closed, and nothing is counted: a reset would change nothing.
    pub fn is_at_rest(&self) -> bool {
        let counted = [self.no_progress, self.same_error, self.permission_denials, self.output_decline];
        self.state == Circuit::Closed && self.total_opens == 0 && counted == [0; 4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_in_an_older_record_is_at_rest() {
        let breaker: Breaker = serde_json::from_str("{}").unwrap();
        assert!(breaker.is_at_rest());
        let opened: Breaker = serde_json::from_str(r#"{"state":"OPEN","later":1}"#).unwrap();
        assert!(!opened.is_at_rest());
    }
}
