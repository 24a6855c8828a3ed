//! What Claude's process tells its owner.

use crate::domain::background::BackgroundTask;
use crate::domain::stream::system::ApiRetry;
use crate::domain::tool_call::ToolCall;
use crate::domain::turn::TurnResult;

/// What Claude did that somebody must act upon, in order. Everything else goes to the sink only.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// The process runs.
    Spawned {
        /// Process id; also of its process group.
        pid: u32,
    },
    /// `system/init`: comes at the start of every turn.
    Ready { session: String, model: String, version: String },
    /// A tool call waits for an answer.
    ToolAsked(Box<ToolCall>),
    /// An earlier question needs no answer any more.
    AskCancelled { request_id: String },
    /// A tool came back.
    ToolFinished { tool_use_id: String, is_error: bool },
    /// A tool that was called in this very process has run, or has tried to: what the gate must know of. Comes just
    /// before its [`ToolFinished`](Self::ToolFinished).
    ToolRan {
        tool_use_id: String,
        /// Claude's own configuration let it run: nobody was asked.
        unasked: bool,
    },
    /// Other tasks than before work in the background.
    BackgroundChanged { tasks: Vec<BackgroundTask> },
    /// A turn begins, or is joined, by words that are none of ours.
    ForeignTurn {
        /// A wake-up that Claude had set, not somebody's message.
        wakes: bool,
    },
    /// A user message was taken up.
    Echoed { uuid: String },
    /// Claude will try the API again.
    ApiRetried(ApiRetry),
    /// `rate_limit_event`.
    RateLimit {
        /// `rate_limit_info`, JSON text.
        info: String,
    },
    /// A `result` came. There may be several, and records may follow.
    TurnFinished(Box<TurnResult>),
    /// A line was too long to be read whole: its long strings have lost their middle.
    LineShortened { left_out: u64 },
    /// The sink refused a line (disk full, …). Sent once; the stream is read on, and offered to the sink.
    SinkFailed { message: String },
    /// The process is gone, its output read to the end, its children swept. The last event.
    Exited(Exit),
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Processes with its marker that had to be killed.
    pub swept: u32,
    /// The last 8 KiB of its stderr.
    pub stderr_tail: String,
}
