//! What a turn and a session add up to: how a turn ended, its tokens and what they cost.

use serde_json::{Value, json};
use std::time::Instant;

/// USD per million tokens in and out.
const PRICE: (f64, f64) = (5.0, 25.0);

/// How a turn ended, for its `result`.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Completed,
    /// A message with priority `now` ended it after a tool.
    Displaced,
    AbortedStreaming,
    /// Interrupted while a tool waited or ran.
    AbortedTools,
    /// The API failed for good: HTTP status and text.
    Failed(Option<u16>, String),
}

impl End {
    /// The host ended it.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::AbortedStreaming | Self::AbortedTools)
    }

    /// Whether the process exits 1 when this was its last turn.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::AbortedTools | Self::Failed(..))
    }
}

/// One turn's figures.
#[derive(Debug)]
pub struct Tally {
    pub(super) started: Instant,
    pub(super) messages: u32,
    pub(super) tokens: (u64, u64),
    /// The tokens of the message at hand; one that is interrupted costs nothing.
    pub(super) unpaid: (u64, u64),
    pub denials: Vec<Value>,
    pub last_text: String,
}

impl Tally {
    /// Nothing yet, from now on.
    pub fn begin() -> Self {
        Self {
            started: Instant::now(),
            messages: 0,
            tokens: (0, 0),
            unpaid: (0, 0),
            denials: Vec::new(),
            last_text: String::new(),
        }
    }
}

/// What tokens in and out cost, in USD.
pub fn cost((input, output): (u64, u64)) -> f64 {
    (input as f64 * PRICE.0 + output as f64 * PRICE.1) / 1e6
}

pub fn usage(input: u64, output: u64) -> Value {
    json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": output,
           "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard",
           "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0}, "inference_geo": "",
           "iterations": [], "speed": "standard"})
}
