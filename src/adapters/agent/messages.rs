//! The JSON lines that go to Claude's stdin, each ending with a newline.

use serde_json::json;
use serde_json::value::RawValue;

pub(super) const INITIALIZE: &str = "initialize";

pub(super) const SETTINGS: &str = "settings";

/// Seconds that a callback may wait: a day. When they are over, Claude refuses the tool.
const CALLBACK_TIMEOUT: u32 = 86_400;

/// The answer to a `PreToolUse` callback. Never an empty one: a project's hook would decide then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackAnswer {
    /// The tool runs with this input (JSON text; Claude insists on it).
    Allow,
    /// The tool does not run; Claude reads the reason.
    Deny { reason: String },
    /// `can_use_tool` follows and may wait as long as it takes.
    Ask { reason: String },
}

/// The answer to `can_use_tool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolAnswer {
    /// The tool runs with this input (JSON text; Claude insists on it).
    Allow { input: String },
    /// The tool does not run; Claude reads the message.
    Deny { message: String },
}

/// Asks for a callback before every tool call.
pub(super) fn initialize() -> String {
    request(
        INITIALIZE,
        &json!({
            "subtype": "initialize",
            "hooks": { "PreToolUse": [
                // A callback that fails is a refusal; older versions ignore the word.
                { "matcher": null, "hookCallbackIds": ["gate"], "timeout": CALLBACK_TIMEOUT, "onFailure": "block" }
            ]},
        }),
    )
}

pub(super) fn get_settings() -> String {
    request(SETTINGS, &json!({ "subtype": "get_settings" }))
}

/// Stops the turn, and what works in the background.
pub(super) fn interrupt() -> String {
    plain("interrupt")
}

/// Takes a message back that Claude has not begun with.
pub(super) fn take_back(uuid: &str) -> String {
    request(&fresh("take-back"), &json!({ "subtype": "cancel_async_message", "message_uuid": uuid }))
}

/// Ends the process, whatever it waits for. A version that does not know it says so and lives on.
pub(super) fn end_session() -> String {
    plain("end_session")
}

/// Asks for the plan as it stands in Claude's plan file.
pub(super) fn get_plan(id: &str) -> String {
    request(id, &json!({ "subtype": "get_plan" }))
}

/// Every request needs an id of its own: a turn may be interrupted twice.
pub(super) fn fresh(what: &str) -> String {
    format!("{what}-{}", uuid::Uuid::new_v4())
}

fn plain(subtype: &str) -> String {
    request(&fresh(subtype), &json!({ "subtype": subtype }))
}

pub(super) fn user(uuid: &str, text: &str) -> String {
    let message = json!({
        "type": "user",
        "message": { "role": "user", "content": text },
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
    });
    format!("{message}\n")
}

/// The answer to a `PreToolUse` callback: what a command hook would print.
pub(super) fn callback_answer(request_id: &str, answer: &CallbackAnswer) -> String {
    let (decision, reason) = match answer {
        CallbackAnswer::Allow => ("allow", ""),
        CallbackAnswer::Deny { reason } => ("deny", reason.as_str()),
        CallbackAnswer::Ask { reason } => ("ask", reason.as_str()),
    };
    success(
        request_id,
        &json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
        .to_string(),
    )
}

pub(super) fn tool_answer(request_id: &str, answer: &ToolAnswer) -> String {
    let response = match answer {
        ToolAnswer::Allow { input } => one_line_object(input).map_or_else(
            || deny("the user's answer was not a JSON object"),
            |input| format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#),
        ),
        ToolAnswer::Deny { message } => deny(message),
    };
    success(request_id, &response)
}

/// Refuses a control request that this host does not know.
pub(super) fn unsupported(request_id: &str, subtype: &str) -> String {
    let answer = json!({
        "type": "control_response",
        "response": {
            "subtype": "error",
            "request_id": request_id,
            "error": format!("Unsupported control request subtype: {subtype}"),
        },
    });
    format!("{answer}\n")
}

fn deny(message: &str) -> String {
    json!({ "behavior": "deny", "message": message, "interrupt": false }).to_string()
}

fn request(id: &str, request: &serde_json::Value) -> String {
    let line = json!({ "type": "control_request", "request_id": id, "request": request });
    format!("{line}\n")
}

/// `response` is JSON text already: a tool's input may be deeper than a tree of values allows.
fn success(request_id: &str, response: &str) -> String {
    let id = serde_json::Value::from(request_id);
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{response}}}}}"#
    ) + "\n"
}

/// JSON text of an object, on one line; `None` when it is none.
fn one_line_object(json: &str) -> Option<String> {
    // Newlines in JSON are blanks between tokens; those in strings are escaped.
    let line = json.replace(['\n', '\r'], " ");
    let line = line.trim().to_owned();
    (line.starts_with('{') && RawValue::from_string(line.clone()).is_ok()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_one_json_line() {
        let nasty = "line\none \"quoted\" \u{2028} \\ \u{0}";
        let all = [
            initialize(),
            get_settings(),
            interrupt(),
            end_session(),
            take_back(nasty),
            get_plan(nasty),
            user("u-1", nasty),
            callback_answer(nasty, &CallbackAnswer::Allow),
            callback_answer("r", &CallbackAnswer::Deny { reason: nasty.into() }),
            callback_answer("r", &CallbackAnswer::Ask { reason: nasty.into() }),
            tool_answer("r", &ToolAnswer::Allow { input: "{\n \"a\": 1\n}".into() }),
            tool_answer("r", &ToolAnswer::Deny { message: nasty.into() }),
            unsupported("r", nasty),
        ];
        for line in all {
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert!(line.ends_with('\n'));
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert!(value["type"].is_string(), "{line}");
        }
    }

    #[test]
    fn an_allowed_input_reaches_claude_whole_however_deep() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(500), "}".repeat(500));
        let line = tool_answer("r", &ToolAnswer::Allow { input: deep.clone() });
        assert!(line.contains(&deep));
    }

    #[test]
    fn an_input_that_is_no_object_is_refused() {
        for input in ["", "[1]", "{\"a\":", "\"text\"", "{} {}"] {
            let line = tool_answer("r", &ToolAnswer::Allow { input: input.into() });
            assert!(line.contains(r#""behavior":"deny""#), "{input}: {line}");
        }
    }
}
