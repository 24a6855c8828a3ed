//! What one turn of Claude came to: the `result` record together with what was read before it.
//!
//! Shapes after the real CLI; every field may be missing there.

use crate::base::time::Timestamp;
use crate::domain::denial::Denial;
use crate::domain::limits::reset_text::LimitText;
use serde::{Deserialize, Serialize};

/// The end of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnResult {
    /// `success`, `error_max_turns`, `error_during_execution`, …
    pub subtype: String,
    /// Decides before `subtype` does: API failures are `success` with `is_error`.
    pub is_error: bool,
    /// HTTP status of the API failure; `None` for a lost connection.
    pub api_error_status: Option<u16>,
    /// The `error` of the last synthetic assistant record: `rate_limit`, `authentication_failed`, …
    pub error_kind: Option<String>,
    /// Text blocks of the main agent in this turn, joined with newlines: what the status block is read from.
    pub text: String,
    /// `result` (the last text block), or `errors` joined: what a failure says.
    pub message: String,
    /// Why the turn ended (`completed`, `aborted_tools`, …).
    pub terminal_reason: Option<String>,
    /// Cost of the process so far in USD (cumulative over turns).
    pub cost_usd: f64,
    pub usage: Usage,
    /// Tokens in the context at the last request (input, cached input and output of the main agent).
    pub context: Option<u64>,
    /// Size of the model's context window in tokens.
    pub context_window: Option<u64>,
    /// Tool calls that were refused, in words: `Bash(npm install)`, `Write`.
    pub denials: Vec<String>,
    #[serde(default)]
    pub refused: Vec<Denial>,
    /// What the CLI itself (never the model) said about a limit.
    #[serde(default)]
    pub limit: Option<LimitText>,
    /// When that limit ends; placed in time by the edge, which knows the zones.
    #[serde(default)]
    pub resets_at: Option<Timestamp>,
    #[serde(default)]
    pub origin: Origin,
}

/// Who began a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[default]
    Ours,
    /// A task of Claude's in the background has ended, and Claude was told so.
    Task,
    /// Somebody else: another session, a wake-up that Claude had set. Nothing it says counts.
    Foreign,
}

/// Tokens by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add)
    }

    /// Tokens that count for an hour: what the cache holds is not asked for again.
    pub fn counted(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    pub fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}
