//! What Claude has at work in the background: subagents, which its answer waits for, and commands, which may never end.
//!
//! Reading them off the stream is `domain::stream::background`'s.

use serde::{Deserialize, Serialize};

/// One task in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundTask {
    pub id: String,
    pub kind: TaskKind,
    /// In Claude's words, one line.
    #[serde(default)]
    pub what: String,
}

/// What works in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A subagent or a workflow of them: it ends by itself, and what it says is part of the work.
    Agent,
    /// A command: a test run, or a server that ends never.
    Shell,
}

/// Whether a subagent is among them.
pub fn has_agent(tasks: &[BackgroundTask]) -> bool {
    tasks.iter().any(|task| task.kind == TaskKind::Agent)
}
