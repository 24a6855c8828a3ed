//! A tool call of Claude's, from the line that asks about it to its answer.

/// A tool call that waits for its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    pub request: ControlRequest,
    pub tool_use_id: String,
    pub tool: String,
    /// The tool's input: JSON text that any parser takes.
    pub input: String,
    pub agent: Option<String>,
    /// The folder that it is made from, where relative paths begin; `None` where Claude does not say.
    pub cwd: Option<String>,
}

/// A control request of Claude's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ControlRequest {
    /// Claude's id of the request.
    pub id: String,
    pub via: Via,
}

/// The two ways Claude asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// `hook_callback` of `PreToolUse`: every call.
    Callback,
    /// `can_use_tool`: after the callback answered "ask".
    CanUseTool,
}
