//! How sessions and turns of Claude begin and end: part of the journal's schema like the records themselves.

use crate::domain::session::Told;
use crate::domain::turn::{Origin, Usage};
use serde::{Deserialize, Serialize};

/// A turn of Claude's came to its end, well or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnEnded {
    pub n: u32,
    /// Cost of the process so far in USD.
    pub cost_usd: f64,
    pub usage: Usage,
    /// Tokens in the context at the end.
    pub context: Option<u64>,
    /// Size of the context window.
    pub context_window: Option<u64>,
    /// Tools that were refused, by whomever, as Claude tells it.
    #[serde(default)]
    pub denials: Vec<String>,
    #[serde(default)]
    pub origin: Origin,
}

/// A turn or its API call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailed {
    pub n: u32,
    /// API error kind, or the result's subtype.
    pub error: String,
    /// What was said, at most 2,000 characters.
    pub message: String,
    pub status: Option<u16>,
}

/// Somebody else's words begin a turn of Claude's, or have come into one. It is stopped, and nothing it says counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignTurn {
    pub n: u32,
    /// A wake-up that Claude had set, not somebody's message.
    #[serde(default)]
    pub wakes: bool,
}

/// Claude's session is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReady {
    pub n: u32,
    pub session: String,
    pub model: String,
    pub version: String,
    #[serde(flatten)]
    pub told: Told,
}

/// Claude cannot resume the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLost {
    pub n: u32,
    /// The id that is gone.
    pub session: String,
}
