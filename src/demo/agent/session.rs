//! One process of the agent, as it serves its messages.

use super::host::Host;
use super::prompt::Asked;
use super::records::{Book, Within};
use super::scenario::{Scenario, Subagent};
use super::sessions::Memory;
use super::tally::End;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastCall {
    Allowed,
    Refused,
}

/// One process of the agent.
#[derive(Debug)]
pub struct Session {
    pub(super) host: Host,
    pub(super) book: Book,
    pub(super) memory: Memory,
    pub(super) scenario: Scenario,
    pub(super) partial: bool,
    pub(super) replay: bool,
    pub(super) pace: f64,
    pub(super) served: usize,
    /// What the last message that named a phase asked for.
    pub(super) asked: Asked,
    /// The text of the message at hand.
    pub(super) prompt: String,
    pub(super) prompt_id: String,
    /// The message of Claude that is being written.
    pub(super) open: Option<OpenMessage>,
    /// The last status block, to be given again.
    pub(super) last_block: Option<String>,
    pub(super) answer: String,
    pub(super) last_call: LastCall,
    pub(super) files: Vec<String>,
    /// Words of the person that were taken in mid-turn and not yet answered.
    pub(super) noted: Vec<String>,
    pub(super) without_result: bool,
    pub(super) end: End,
    /// Who began the turn, where it was no message of the host's.
    pub(super) origin: Option<Value>,
    pub(super) scripts: HashMap<String, Subagent>,
    /// Subagents that work beside the turn.
    pub(super) background: VecDeque<Task>,
    /// Messages that are in the turn, by uuid.
    pub(super) taken: Vec<Value>,
}

/// A message begun and not ended.
#[derive(Debug)]
pub struct OpenMessage {
    pub(super) message: Value,
    pub(super) request_id: String,
    pub(super) blocks: usize,
}

/// A subagent that was let run.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) script: Subagent,
    pub(super) within: Within,
    pub(super) run: String,
    pub(super) begun: Instant,
}
