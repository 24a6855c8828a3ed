//! The two ways to speak: that of 2.1.197 and that of 2.1.330. Owns what the records of the later one have more; who
//! works in the background is [`super::subagents`]'.

use super::line;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::cell::RefCell;

/// The version whose way is spoken (`cli:` in a scenario).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Dialect {
    /// Subagents in the foreground, no word about messages.
    #[default]
    #[serde(rename = "2.1.197")]
    Older,
    /// Subagents in the background, every message followed, every call with who let it run.
    #[serde(rename = "2.1.330")]
    Newer,
}

impl Dialect {
    pub fn version(self) -> &'static str {
        if self.is_newer() { "2.1.330" } else { "2.1.197" }
    }

    /// The full name of a model; `default` is the one that is used when none is asked for.
    pub fn full_name(self, model: &str) -> String {
        let known = match (model, self) {
            ("default", Self::Older) => "claude-opus-4-8[1m]",
            ("opus", Self::Older) => "claude-opus-4-8",
            ("sonnet", Self::Older) => "claude-sonnet-5",
            ("haiku", Self::Older) => "claude-haiku-4-5-20251001",
            ("default" | "opus", Self::Newer) => "claude-opus-5-5",
            ("sonnet", Self::Newer) => "claude-sonnet-5-5",
            ("haiku", Self::Newer) => "claude-haiku-5-5",
            (other, _) => other,
        };
        known.to_owned()
    }

    pub fn is_newer(self) -> bool {
        self == Self::Newer
    }

    /// How the tool that starts a subagent is called in a message; to hooks it is always `Agent`.
    pub fn agent_tool(self) -> &'static str {
        if self.is_newer() { "Agent" } else { "Task" }
    }

    /// How a hook's refusal reads.
    pub fn refusal(self, tool: &str, reason: &str) -> String {
        if self.is_newer() { format!("PreToolUse:{tool} hook error: {reason}") } else { reason.to_owned() }
    }
}

/// How the refusal of an unknown control request begins.
pub const UNSUPPORTED: &str = "Unsupported control request subtype: ";

/// What a record of the later way is dressed with as it is printed.
#[derive(Debug, Default)]
pub struct Dress {
    dialect: Dialect,
    told: RefCell<Told>,
}

/// Since the last result.
#[derive(Debug, Default)]
struct Told {
    messages: Vec<Value>,
    results: u32,
    subagents: u32,
}

impl Dress {
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, told: RefCell::default() }
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub fn put_on(&self, record: &Value) -> Value {
        let mut record = record.clone();
        if self.dialect.is_newer() {
            match (record["type"].as_str(), record["subtype"].as_str()) {
                (Some("system"), Some("init")) => init(&mut record),
                (Some("system"), Some("task_started")) => self.told.borrow_mut().subagents += 1,
                (Some("assistant"), _) => self.assistant(&mut record),
                (Some("result"), _) => self.result(&mut record),
                (Some("control_request"), _) => asked(&mut record["request"]),
                (Some("control_response"), _) => answered(&mut record["response"]),
                _ => {}
            }
        }
        record
    }

    fn assistant(&self, record: &mut Value) {
        record["timestamp"] = json!(line::now());
        if record["parent_tool_use_id"].is_null() {
            let (id, mut told) = (record["message"]["id"].clone(), self.told.borrow_mut());
            if !told.messages.contains(&id) {
                told.messages.push(id);
            }
        }
    }

    fn result(&self, record: &mut Value) {
        let mut told = self.told.borrow_mut();
        let begun = std::mem::take(&mut told.messages);
        let more = json!({"fallback_credit": null, "output_tokens_details": {"thinking_tokens": 0}});
        extend(&mut record["usage"], &more);
        if let Some(models) = record["modelUsage"].as_object_mut() {
            for (model, usage) in models {
                extend(
                    usage,
                    &json!({"thinkingTokens": 0, "cacheCreationEphemeral5mInputTokens": 0,
                            "cacheCreationEphemeral1hInputTokens": 0, "canonicalModel": model,
                            "provider": "firstParty", "costBasis": "list"}),
                );
            }
        }
        let none = json!({"background": 0, "foreground": 0, "unset": told.subagents});
        let more = json!({
            "begun_message_ids": begun, "queued_turn_count": 0, "result_index": told.results, "safety_stops": 0,
            "fast_mode_disabled_reason": "sdk_opt_in_required", "model_usage_since_last_result": record["modelUsage"],
            "subagent_stats": {"spawned": told.subagents, "requested": none, "started_in_background": told.subagents,
                "max_depth": 1, "spawned_by_subagents": 0, "completed": 0, "failed": 0,
                "killed": {"parent": 0, "user": 0, "system": 0},
                "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0}, "by_type": {}},
        });
        extend(record, &more);
        if record["subtype"] == "success" {
            record["first_content_frame_ms"] = record["ttft_stream_ms"].clone();
        }
        told.results += 1;
    }
}

fn init(record: &mut Value) {
    let cwd = record["cwd"].clone();
    let more = json!({
        "claude_code_version": Dialect::Newer.version(), "original_cwd": cwd, "additional_directories": [],
        "capabilities": ["interrupt_receipt_v1", "msg_lifecycle_v1", "lifecycle_wakeup_source_v1"],
        "fast_mode_disabled_reason": "sdk_opt_in_required", "per_turn_effort_active": true,
        "served_by_anthropic": false, "terminal_slash_commands": [], "ultrathink_available": false,
        "ultrathink_typed_raises": false, "view_mode": "default",
        "messaging_socket_path": "/tmp/cc-socks/0.sock",
    });
    extend(record, &more);
}

fn asked(request: &mut Value) {
    if request["decision_reason_type"] == "hook" {
        extend(
            request,
            &json!({"decision_reason_hook_event": "PreToolUse", "decision_reason_hook_source": "settings"}),
        );
    }
}

fn answered(response: &mut Value) {
    if response["response"]["commands"].is_array() {
        let more = json!({
            "user_output_styles_dir": "", "claude_code_version": Dialect::Newer.version(),
            "current_permission_mode": "default", "hooks_applied": true, "hook_on_failure_supported": true,
            "hooks_when_unanswered_kept": 0, "other_hook_ask_outranks_host": true,
            "feedback_mode": {"kind": "disabled"}, "analytics_disabled": true, "remote_control_auto_enable": false,
            "remote_control_auto_connect_default": false, "remote_control_available": false,
            "remote_control_auto_on_by_default": false, "ide_rc_auto_enable_gate": false, "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required", "session_state": "idle", "capabilities": [],
        });
        extend(&mut response["response"], &more);
        extend(response, &json!({"pending_permission_requests": [], "pending_user_dialog_requests": []}));
    }
    if response["error"].as_str().is_some_and(|error| error.starts_with(UNSUPPORTED)) {
        response["error_code"] = json!("unsupported_request");
    }
}

/// Puts `more` behind the fields of an object.
pub fn extend(object: &mut Value, more: &Value) {
    let none = Map::new();
    if let Value::Object(object) = object {
        object.extend(more.as_object().unwrap_or(&none).clone());
    }
}
