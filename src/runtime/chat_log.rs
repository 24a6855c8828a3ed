//! The log of a chat, made of its records as they are stored.
//!
//! | `ev` | fields |
//! |---|---|
//! | `start` | `run`, `cwd`, `resumed` |
//! | `user`, `llm` | `text`: a message of the person's, an answer of Claude's |
//! | `policy` | `call`, `tool`, `target`, `verdict`, `reason`: a call was judged |
//! | `auth` | `call`, `allowed`, `by`: the question about a call was answered; `too_late` where that changed nothing |
//! | `cmd`, `edit`, `delegate` | `call`, `tool`, `target`, `error`: a command, a change of a file, a subagent has ended |
//! | `summary` | `topics` |
//! | `end` | `reason` |
//!
//! Each has `t`, the time in seconds since the epoch. Every text is cleaned and cut.

use crate::adapters::chats::ChatLog;
use crate::base::text::{Clean, beginning, clean_line};
use crate::domain::approval::{Answer, Answered};
use crate::domain::chat::ChatAnswered;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{Record, Stored};
use crate::orchestrator::state::State;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// Longest text of a message or an answer, in bytes.
const LONGEST: usize = 20_000;
/// Longest other text, in columns.
const COLUMNS: usize = 500;

/// Writes the log of one session.
pub struct ChatLogger {
    log: ChatLog,
    /// Its first line is written.
    begun: bool,
    /// It cannot be written, which was logged.
    broken: bool,
    /// Tool and target of the calls that have not come back.
    calls: HashMap<String, (String, String)>,
}

impl ChatLogger {
    pub fn new(folder: &Path) -> Self {
        Self { log: ChatLog::new(folder), begun: false, broken: false, calls: HashMap::new() }
    }

    /// Writes what a stored record says. `state`: after it. Where that fails the chat goes on: its records are elsewhere.
    pub fn heard(&mut self, stored: &Stored, state: &State) {
        if state.chat.is_none() {
            return;
        }
        if !self.begun {
            self.begun = true;
            let resumed = matches!(stored.record, Record::RunResumed { .. });
            let cwd = line(&state.workspace.directory().display().to_string());
            self.line(stored, "start", json!({"run": stored.run.to_string(), "cwd": cwd, "resumed": resumed}));
        }
        match &stored.record {
            Record::NoteGiven { text, .. } => self.line(stored, "user", json!({"text": cut(text)})),
            Record::ChatAnswered(ChatAnswered { text, .. }) if !text.is_empty() => {
                self.line(stored, "llm", json!({"text": cut(text)}));
            }
            Record::ToolJudged { tool_use_id, tool, target, verdict, reason, .. } => {
                let (tool, target) = (line(tool), line(target));
                self.line(
                    stored,
                    "policy",
                    json!({"call": line(tool_use_id), "tool": tool, "target": target, "verdict": verdict, "reason": line(reason)}),
                );
                self.calls.insert(tool_use_id.clone(), (tool, target));
            }
            Record::ApprovalAnswered(answered) => self.line(stored, "auth", auth(answered)),
            Record::AnswerTooLate(answered) => {
                let mut auth = auth(answered);
                auth["too_late"] = true.into();
                self.line(stored, "auth", auth);
            }
            Record::ToolFinished { tool_use_id, is_error, .. } => {
                let Some((tool, target)) = self.calls.remove(tool_use_id) else { return };
                let ev = match tool.as_str() {
                    "Bash" => "cmd",
                    "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => "edit",
                    "Task" | "Agent" => "delegate",
                    _ => return,
                };
                let call = line(tool_use_id);
                self.line(stored, ev, json!({"call": call, "tool": tool, "target": target, "error": is_error}));
            }
            Record::IterationEnded { .. } => self.calls.clear(),
            Record::RunEnded { reason, .. } => self.end(stored, state, *reason),
            _ => {}
        }
    }

    fn end(&mut self, stored: &Stored, state: &State, reason: ExitReason) {
        let topics = state.chat.as_ref().map(|chat| chat.topics.clone()).unwrap_or_default();
        self.line(stored, "summary", json!({"topics": topics}));
        self.line(stored, "end", json!({"reason": reason.word()}));
    }

    fn line(&mut self, stored: &Stored, ev: &str, more: Value) {
        let mut line = json!({"t": stored.time.millis() / 1_000, "ev": ev});
        if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        let is_last = matches!(ev, "summary" | "end");
        if let Err(error) = self.log.write(stored.time, &line, is_last)
            && !std::mem::replace(&mut self.broken, true)
        {
            tracing::warn!(run = %stored.run, %error, "the log of the chat cannot be written");
        }
    }
}

fn auth(Answered { id, answer, by }: &Answered) -> Value {
    json!({"call": line(&id.call), "allowed": matches!(answer, Answer::Allow { .. }), "by": by})
}

fn cut(text: &str) -> String {
    Clean::new(beginning(text, LONGEST)).into_string()
}

fn line(text: &str) -> String {
    clean_line(text, COLUMNS)
}
