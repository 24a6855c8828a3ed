//! The records on stdout, shaped as the recordings are: key for key, in their order.
//!
//! Owns shapes and the counters they carry. Does not own when one is due ([`super::turn`]).

use super::dialect::extend;
use super::host::{Host, UserMessage};
use super::line::{now, uuid};
use super::sessions::Memory;
use super::tally::{End, Tally, cost, usage};
use super::tools::Outcome;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

pub fn initialized() -> Value {
    json!({
        "commands": [], "agents": [], "output_style": "default", "available_output_styles": ["default"], "models": [],
        "account": {"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"},
        "pid": std::process::id(),
    })
}

/// A `control_response`; `Ok(None)` carries no inner `response`.
pub fn answered(request_id: &Value, answer: Result<Option<Value>, String>) -> Value {
    let mut response = json!({"subtype": "success", "request_id": request_id});
    match answer {
        Ok(Some(answer)) => response["response"] = answer,
        Ok(None) => {}
        Err(error) => {
            response["subtype"] = json!("error");
            response["error"] = json!(error);
        }
    }
    json!({"type": "control_response", "response": response})
}

/// The record behind `set_permission_mode`.
pub fn mode_changed(session: &str, mode: &str) -> Value {
    json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode, "uuid": uuid(),
           "session_id": session})
}

/// The record before the answer to `set_model`.
pub fn model_changed(session: &str, model: &str) -> Value {
    let said = format!("<local-command-stdout>Set model to {model}</local-command-stdout>");
    json!({"type": "user", "message": {"role": "user", "content": said}, "session_id": session,
           "parent_tool_use_id": null, "uuid": uuid(), "timestamp": now(), "isReplay": true})
}

/// The only record of a process that shall resume a session nobody knows.
pub fn unknown_session(session: &str, why: &str) -> Value {
    let mut record = json!({"type": "result", "subtype": "error_during_execution", "duration_ms": 0, "duration_api_ms": 0,
        "is_error": true, "num_turns": 0, "stop_reason": null, "session_id": session, "total_cost_usd": 0,
        "usage": usage(0, 0), "modelUsage": {}, "permission_denials": [], "uuid": uuid()});
    record["errors"] = json!([why]);
    record
}

/// The session's identity and running totals.
#[derive(Debug)]
pub struct Book {
    session: String,
    cwd: PathBuf,
    transcript: PathBuf,
    notes: PathBuf,
    totals: (u64, u64),
    tally: Tally,
    /// The subagent whose records these are.
    pub(super) within: Option<Within>,
}

/// A subagent, as its records name it.
#[derive(Clone, Debug)]
pub struct Within {
    pub call: String,
    pub agent: String,
    pub about: String,
    /// It works in the background: its words are told, too.
    pub background: bool,
    pub newer: bool,
}

impl Within {
    fn mark(&self, record: &mut Value) {
        let more = json!({"parent_tool_use_id": self.call, "subagent_type": "general-purpose", "task_description": self.about});
        extend(record, &more);
        if self.newer {
            record["agent_id"] = json!(self.agent);
        }
    }
}

impl Book {
    /// A session that has said nothing yet.
    pub fn new(session: &str, cwd: &Path, memory: &Memory) -> Self {
        Self {
            session: session.to_owned(),
            cwd: cwd.to_owned(),
            transcript: memory.transcript(session),
            notes: memory.notes(),
            totals: (0, 0),
            tally: Tally::begin(),
            within: None,
        }
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    pub fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// Begins a turn: its `init` record.
    pub fn init(&mut self, host: &Host) -> Value {
        self.tally = Tally::begin();
        json!({
            "type": "system", "subtype": "init", "cwd": self.cwd, "session_id": self.session,
            "tools": ["Bash", "Edit", "Read", "Write"], "mcp_servers": [], "model": host.model,
            "permissionMode": host.mode, "slash_commands": [], "apiKeySource": "ANTHROPIC_API_KEY",
            "claude_code_version": host.dialect().version(), "output_style": "default", "agents": [], "skills": [], "plugins": [],
            "analytics_disabled": true, "product_feedback_disabled": true, "uuid": uuid(),
            "memory_paths": {"auto": self.notes}, "fast_mode_state": "off",
        })
    }

    /// A message of the host, echoed; its `uuid` is kept when it had one.
    pub fn replay(&self, message: &UserMessage) -> Value {
        let own = message.record["uuid"].as_str().map_or_else(uuid, str::to_owned);
        json!({"type": "user", "message": message.record["message"], "session_id": self.session,
               "parent_tool_use_id": null, "uuid": own, "timestamp": now(), "isReplay": true})
    }

    /// The `message` object of `message_start`; counts one request.
    pub fn message_start(&mut self, id: &str, model: &str) -> Value {
        self.tally.messages += 1;
        let input = 1_200 + 350 * u64::from(self.tally.messages);
        self.tally.unpaid = (input, 0);
        json!({"id": id, "type": "message", "role": "assistant", "model": model.trim_end_matches("[1m]"), "content": [],
               "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": input,
               "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1,
               "service_tier": "standard"}})
    }

    /// One block at its end. `message` is what [`Book::message_start`] gave.
    pub fn assistant(&mut self, message: &Value, block: &Value, request_id: &str) -> Value {
        let output = block.to_string().len() as u64 / 4 + 1;
        self.tally.unpaid.1 += output;
        if let Some(text) = block["text"].as_str() {
            text.clone_into(&mut self.tally.last_text);
        }
        let mut message = message.clone();
        message["content"] = json!([block]);
        message["context_management"] = Value::Null;
        let mut record = json!({"type": "assistant", "message": message, "parent_tool_use_id": null,
                                "session_id": self.session, "uuid": uuid(), "request_id": request_id});
        if let Some(within) = &self.within {
            within.mark(&mut record);
        }
        record
    }

    /// The message is complete and is paid for; its output tokens.
    pub fn settle(&mut self) -> u64 {
        let (input, output) = std::mem::take(&mut self.tally.unpaid);
        for sum in [&mut self.tally.tokens, &mut self.totals] {
            sum.0 += input;
            sum.1 += output;
        }
        output
    }

    /// What the CLI says in Claude's place when the API fails.
    pub fn synthetic(&self, text: &str, kind: &str) -> Value {
        json!({"type": "assistant", "message": {"id": uuid(), "container": null, "model": "<synthetic>",
               "role": "assistant", "stop_details": null, "stop_reason": "stop_sequence", "stop_sequence": "",
               "type": "message", "usage": {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0,
               "cache_read_input_tokens": 0, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
               "service_tier": null, "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
               "inference_geo": null, "iterations": null, "speed": null},
               "content": [{"type": "text", "text": text}], "context_management": null},
               "parent_tool_use_id": null, "session_id": self.session, "uuid": uuid(), "error": kind,
               "request_id": format!("req_{}", uuid())})
    }

    pub fn stream_event(&self, event: &Value) -> Value {
        json!({"type": "stream_event", "event": event, "session_id": self.session, "parent_tool_use_id": null,
               "uuid": uuid()})
    }

    /// A `system` record with `fields` behind its subtype.
    pub fn system(&self, subtype: &str, fields: Value) -> Value {
        let mut record = Map::new();
        record.insert("type".to_owned(), json!("system"));
        record.insert("subtype".to_owned(), json!(subtype));
        if let Value::Object(fields) = fields {
            record.extend(fields);
        }
        record.insert("uuid".to_owned(), json!(uuid()));
        record.insert("session_id".to_owned(), json!(self.session));
        Value::Object(record)
    }

    pub fn rate_limit(&self, status: &str, resets_at: Option<u64>, kind: Option<&str>) -> Value {
        let info = json!({"status": status, "resetsAt": resets_at, "rateLimitType": kind.unwrap_or("five_hour")});
        json!({"type": "rate_limit_event", "rate_limit_info": info, "uuid": uuid(), "session_id": self.session})
    }

    pub fn tool_result(&self, id: &str, outcome: &Outcome) -> Value {
        let block = match outcome.is_error {
            Some(true) => {
                json!({"type": "tool_result", "content": outcome.content, "is_error": true, "tool_use_id": id})
            }
            Some(false) => {
                json!({"tool_use_id": id, "type": "tool_result", "content": outcome.content, "is_error": false})
            }
            None => json!({"tool_use_id": id, "type": "tool_result", "content": outcome.content}),
        };
        let mut record = self.user(&json!([block]));
        if self.within.is_none() {
            record["tool_use_result"] = outcome.result.clone();
        }
        record
    }

    /// The line that tells the model of an interrupt.
    pub fn interrupted(&self, end: &End) -> Value {
        let tail = if *end == End::AbortedTools { " for tool use" } else { "" };
        self.user(&json!([{"type": "text", "text": format!("[Request interrupted by user{tail}]")}]))
    }

    /// A record of what Claude is told.
    pub(super) fn user(&self, content: &Value) -> Value {
        let mut record = json!({"type": "user", "message": {"role": "user", "content": content},
                                "parent_tool_use_id": null, "session_id": self.session, "uuid": uuid(),
                                "timestamp": now()});
        if let Some(within) = &self.within {
            within.mark(&mut record);
        }
        record
    }

    /// The input of a hook: what every event has.
    pub fn hook_input(&self, event: &str, mode: &str, prompt_id: &str) -> Value {
        let mut input = json!({"session_id": self.session, "transcript_path": self.transcript, "cwd": self.cwd,
            "prompt_id": prompt_id, "permission_mode": mode, "effort": {"level": "high"}, "hook_event_name": event});
        if let Some(within) = &self.within {
            extend(&mut input, &json!({"agent_id": within.agent, "agent_type": "general-purpose"}));
        }
        input
    }

    /// The `result` of a turn that ended by `end`.
    pub fn result(&self, end: &End, model: &str) -> Value {
        let (tally, mut record) = (&self.tally, Map::new());
        let mut put = |key: &str, value: Value| {
            record.insert(key.to_owned(), value);
        };
        let elapsed = tally.started.elapsed().as_millis() as u64;
        let aborted = matches!(end, End::AbortedStreaming | End::AbortedTools);
        put("type", json!("result"));
        put("subtype", json!(if aborted { "error_during_execution" } else { "success" }));
        if !aborted {
            put("is_error", json!(end.is_failure()));
            put("api_error_status", if let End::Failed(status, _) = end { json!(status) } else { Value::Null });
        }
        put("duration_ms", json!(elapsed));
        put("duration_api_ms", json!(elapsed / 2));
        if matches!(end, End::Completed | End::Displaced) {
            for key in ["ttft_ms", "ttft_stream_ms", "time_to_request_ms"] {
                put(key, json!(elapsed.min(40)));
            }
        }
        if aborted {
            put("is_error", json!(true));
        }
        let extra = match end {
            End::AbortedTools => 2,
            End::AbortedStreaming => 1,
            _ => 0,
        };
        put("num_turns", json!(tally.messages + extra));
        match end {
            End::Completed => put("result", json!(tally.last_text)),
            End::Displaced => put("result", json!("")),
            End::Failed(_, text) => put("result", json!(text)),
            End::AbortedStreaming | End::AbortedTools => {}
        }
        let stop_reason = match end {
            End::Completed => json!("end_turn"),
            End::Displaced | End::AbortedTools => json!("tool_use"),
            End::Failed(..) => json!("stop_sequence"),
            End::AbortedStreaming => Value::Null,
        };
        put("stop_reason", stop_reason.clone());
        put("session_id", json!(self.session));
        put("total_cost_usd", json!(cost(self.totals)));
        put("usage", usage(tally.tokens.0, tally.tokens.1));
        put("modelUsage", self.model_usage(model));
        put("permission_denials", json!(tally.denials));
        let reason = match end {
            End::Completed | End::Failed(..) => "completed",
            End::AbortedStreaming => "aborted_streaming",
            End::Displaced | End::AbortedTools => "aborted_tools",
        };
        put("terminal_reason", json!(reason));
        put("fast_mode_state", json!("off"));
        put("uuid", json!(uuid()));
        if aborted {
            let why = stop_reason.as_str().unwrap_or("null");
            let text = format!("[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={why}");
            put("errors", json!([text]));
        }
        Value::Object(record)
    }

    fn model_usage(&self, model: &str) -> Value {
        if self.totals == (0, 0) {
            return json!({});
        }
        let window = if model.ends_with("[1m]") { 1_000_000 } else { 200_000 };
        json!({model: {"inputTokens": self.totals.0, "outputTokens": self.totals.1, "cacheReadInputTokens": 0,
               "cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": cost(self.totals),
               "contextWindow": window, "maxOutputTokens": 64_000}})
    }
}
