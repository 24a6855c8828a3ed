//! Control requests: what Claude asks its host over stdout. Answers are `adapters::agent`'s.

use super::envelope::Envelope;
use super::raw::{Raw, json, object, some_string, string, word};
use crate::domain::tool_call::{ControlRequest, ToolCall, Via};
use serde::Deserialize;

/// What a `control_request` wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// May this tool run?
    Tool(ToolCall),
    /// A tool question that names no tool: nobody can judge it, so it is to be refused.
    Unreadable(ControlRequest),
    /// Something that this host does not do; to be answered with an error.
    Unsupported { request_id: String, subtype: String },
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    subtype: Raw<'a>,
    input: Raw<'a>,
    tool_name: Raw<'a>,
    tool_use_id: Raw<'a>,
    agent_id: Raw<'a>,
}

/// `input` of a `hook_callback`: what a command hook would get on stdin.
#[derive(Deserialize)]
struct HookInput<'a> {
    #[serde(borrow)]
    hook_event_name: Raw<'a>,
    tool_name: Raw<'a>,
    tool_input: Raw<'a>,
    tool_use_id: Raw<'a>,
    agent_id: Raw<'a>,
    cwd: Raw<'a>,
}

/// Reads a `control_request`; `None` when there is no id to answer to.
pub fn asked(envelope: &Envelope<'_>) -> Option<Asked> {
    let request_id = some_string(envelope.request_id)?;
    let Some(request) = object::<Request<'_>>(envelope.request) else {
        return Some(Asked::Unsupported { request_id, subtype: String::new() });
    };
    let mut cwd = None;
    let unreadable = |via| Asked::Unreadable(ControlRequest { id: request_id.clone(), via });
    let (via, tool, input, tool_use_id, agent_id) = match word(request.subtype) {
        "can_use_tool" => (Via::CanUseTool, request.tool_name, request.input, request.tool_use_id, request.agent_id),
        "hook_callback" => {
            let Some(hook) = object::<HookInput<'_>>(request.input) else { return Some(unreadable(Via::Callback)) };
            if !matches!(word(hook.hook_event_name), "" | "PreToolUse") {
                return Some(Asked::Unsupported {
                    request_id,
                    subtype: format!("hook_callback of {}", string(hook.hook_event_name)),
                });
            }
            cwd = some_string(hook.cwd);
            (Via::Callback, hook.tool_name, hook.tool_input, hook.tool_use_id.or(request.tool_use_id), hook.agent_id)
        }
        _ => return Some(Asked::Unsupported { request_id, subtype: string(request.subtype) }),
    };
    Some(match (some_string(tool), input) {
        (Some(tool), Some(input)) => Asked::Tool(ToolCall {
            request: ControlRequest { id: request_id, via },
            tool_use_id: string(tool_use_id),
            tool,
            input: json(input),
            agent: some_string(agent_id),
            cwd,
        }),
        _ => unreadable(via),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Asked> {
        asked(&Envelope::parse(line).unwrap())
    }

    #[test]
    fn both_ways_of_asking_are_read() {
        let callback = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"hook_callback","callback_id":"pre","input":{"tool_name":"Bash","tool_input":{"command":"ls \ud83c"},"tool_use_id":"t1","agent_id":"a1","cwd":"/w/sub"},"tool_use_id":"t1"}}"#;
        assert_eq!(
            read(callback),
            Some(Asked::Tool(ToolCall {
                request: ControlRequest { id: "r1".into(), via: Via::Callback },
                tool_use_id: "t1".into(),
                tool: "Bash".into(),
                input: r#"{"command":"ls \ufffd"}"#.into(),
                agent: Some("a1".into()),
                cwd: Some("/w/sub".into()),
            }))
        );
        let can_use = r#"{"type":"control_request","request_id":"r2","request":{"subtype":"can_use_tool","tool_name":"Read","input":{"file_path":"x"},"tool_use_id":"t2"}}"#;
        let Some(Asked::Tool(call)) = read(can_use) else { panic!("{can_use}") };
        assert_eq!((call.request.via, call.agent), (Via::CanUseTool, None));
    }

    #[test]
    fn what_cannot_be_judged_is_never_a_tool_call() {
        let cases = [
            (r#"{"subtype":"hook_callback","input":{"hook_event_name":"PreToolUse"}}"#, true),
            (r#"{"subtype":"hook_callback","input":"text"}"#, true),
            (r#"{"subtype":"can_use_tool","tool_name":"","input":{}}"#, true),
            (r#"{"subtype":"can_use_tool","tool_name":"Bash"}"#, true),
            (r#"{"subtype":"mcp_message"}"#, false),
            (
                r#"{"subtype":"hook_callback","input":{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{}}}"#,
                false,
            ),
            ("null", false),
        ];
        for (request, is_tool_question) in cases {
            let line = format!(r#"{{"type":"control_request","request_id":"r","request":{request}}}"#);
            let unreadable = matches!(read(&line), Some(Asked::Unreadable { .. }));
            let unsupported = matches!(read(&line), Some(Asked::Unsupported { .. }));
            assert_eq!((unreadable, unsupported), (is_tool_question, !is_tool_question), "{request}");
        }
        assert_eq!(read(r#"{"type":"control_request","request":{}}"#), None);
    }
}
