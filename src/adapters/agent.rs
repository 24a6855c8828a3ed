//! Claude's process: how it is started, spoken to, drained and ended. It owns the process and the stdio
//! protocol, and knows nothing of runs, tickets or verdicts; the runtime turns [`AgentEvent`]s into inputs.
//!
//! - [`launch`]: the argument list and the environment, pure.
//! - [`start`]: starts the process from a thread that lives as long as the program.
//! - [`drain`]: stdout to the sink and to events; stderr to a bounded tail.
//! - [`messages`]: the JSON lines that go to stdin.
//! - [`stop`]: the ladder that ends it. [`orphans`]: what it left behind.
//! - [`probe`]: which version is installed. [`memory`]: the CLAUDE.md files.

pub mod drain;
pub mod launch;
pub mod memory;
pub mod messages;
pub mod orphans;
#[cfg(target_os = "linux")]
mod os_linux;
#[cfg(any(test, target_os = "macos"))]
mod os_macos;
pub mod probe;
pub mod start;
pub mod stop;
mod supervise;

use crate::base::time::{Clock, Timestamp};
use crate::domain::scrollback::Sink;
use crate::domain::stream::api_error::is_unknown_session;
use crate::domain::stream::control::AskedTool;
use crate::domain::turn::TurnResult;
use launch::Launch;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Claude must answer `initialize` within this time.
const PROTOCOL_TIMEOUT: Duration = Duration::from_secs(10);

/// Messages that may wait for Claude to read them; a sender waits when there are more.
const WRITER_CAPACITY: usize = 64;

/// What Claude did that somebody must act upon, in order. Everything else goes to the sink only.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// The process runs.
    Spawned {
        /// Process id; also of its process group.
        pid: u32,
    },
    /// `system/init`: comes at the start of every turn.
    Ready {
        /// Session id.
        session: String,
        /// Model.
        model: String,
        /// CLI version.
        version: String,
    },
    /// A tool call waits for an answer.
    ToolAsked(Box<AskedTool>),
    /// An earlier question needs no answer any more.
    AskCancelled {
        /// The request.
        request_id: String,
    },
    /// A tool came back.
    ToolFinished {
        /// Claude's id of the call.
        tool_use_id: String,
        /// The tool reported an error.
        is_error: bool,
    },
    /// A user message was taken up.
    Echoed {
        /// The id it was sent with.
        uuid: String,
    },
    /// Claude will try the API again.
    ApiRetried {
        /// Which try, from 1.
        attempt: u32,
        /// Tries at most.
        max_retries: u32,
        /// Milliseconds until the try.
        delay_ms: u64,
        /// HTTP status; `None` for a lost connection.
        status: Option<u16>,
        /// Kind of error (see `domain::stream::api_error`).
        error: String,
    },
    /// `rate_limit_event`.
    RateLimit {
        /// `rate_limit_info`, JSON text.
        info: String,
    },
    /// A `result` came. There may be several, and records may follow.
    TurnFinished(Box<TurnResult>),
    /// The sink refused a line (disk full, …). Sent once; the stream is read on without being kept.
    SinkFailed {
        /// What failed.
        message: String,
    },
    /// The process is gone, its output read to the end, its children swept. The last event.
    Exited(Exit),
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Processes with its marker that had to be killed.
    pub swept: u32,
    /// The last 8 KiB of its stderr.
    pub stderr_tail: String,
}

/// Why Claude cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// No such program.
    #[error(
        "`{program}` was not found (searched PATH: {path}). Install it with `npm install -g @anthropic-ai/claude-code`, or name it in `agent.command` or PROGRAMMATOR_CLAUDE"
    )]
    NotFound {
        /// The program.
        program: String,
        /// The PATH that was searched.
        path: String,
    },
    /// The folder to work in is gone.
    #[error(
        "the work folder {0} does not exist or cannot be entered. Create it, or start in another with -C"
    )]
    NoFolder(String),
    /// The operating system refused.
    #[error(
        "`{program}` could not be started: {source}. Check that it is an executable file for this machine"
    )]
    NotStarted {
        /// The program.
        program: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// It does not know the session that it was to resume (another folder, another HOME, tidied away).
    #[error("Claude does not know the session {session} in this folder; start with a fresh one")]
    UnknownSession {
        /// The session.
        session: String,
    },
    /// It ended before it answered.
    #[error(
        "`{program}` ended at once ({how}){said}. Run `programmator doctor` to see what is wrong"
    )]
    EndedEarly {
        /// The program.
        program: String,
        /// `exit code 1`, `signal 9`.
        how: String,
        /// `: ` and its last words, or nothing.
        said: String,
    },
    /// It does not speak the protocol.
    #[error(
        "`{program}` did not answer the control protocol within {seconds} s{said}. programmator needs Claude Code {floor} or newer: `npm install -g @anthropic-ai/claude-code@latest`, then `programmator doctor`"
    )]
    NoProtocol {
        /// The program.
        program: String,
        /// How long it had.
        seconds: u64,
        /// `: ` and its last words, or nothing.
        said: String,
        /// The oldest version that will do.
        floor: probe::Version,
    },
    /// It does not say which version it is.
    #[error(
        "`{program} --version` did not print a version{said}. programmator needs Claude Code {floor} or newer: `npm install -g @anthropic-ai/claude-code@latest`"
    )]
    NoVersion {
        /// The program.
        program: String,
        /// `: ` and its words, or nothing.
        said: String,
        /// The oldest version that will do.
        floor: probe::Version,
    },
    /// It is gone already.
    #[error("Claude's process has ended; nothing can be sent to it")]
    Gone,
}

/// The answer to a `PreToolUse` callback. Never an empty one: a project's hook would decide then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackAnswer {
    /// The tool runs.
    Allow,
    /// The tool does not run; Claude reads the reason.
    Deny {
        /// What Claude is told.
        reason: String,
    },
    /// `can_use_tool` follows and may wait as long as it takes.
    Ask,
}

/// The answer to `can_use_tool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolAnswer {
    /// The tool runs with this input (JSON text; Claude insists on it).
    Allow {
        /// The input, JSON text.
        input: String,
    },
    /// The tool does not run; Claude reads the message.
    Deny {
        /// What Claude is told.
        message: String,
    },
}

/// What is shared with the drain thread.
#[derive(Debug)]
struct Pulse {
    last_byte: AtomicI64,
    in_turn: AtomicBool,
}

/// One running Claude. Dropping it kills the process and sweeps what it left.
#[derive(Debug)]
pub struct Agent {
    pid: u32,
    writer: mpsc::Sender<supervise::Write>,
    signals: mpsc::Sender<supervise::Signal>,
    pulse: Arc<Pulse>,
    turns: watch::Receiver<u64>,
    exit: watch::Receiver<Option<Exit>>,
}

impl Agent {
    /// Starts Claude and agrees on the protocol; [`send_user`](Self::send_user) may follow at once.
    ///
    /// Every line of stdout goes to `sink`; what needs action goes to `events`. `events` may be slow
    /// without slowing the drain. On an error the process is gone and swept.
    pub async fn spawn(
        launch: Launch,
        clock: Arc<dyn Clock>,
        sink: Box<dyn Sink>,
        events: mpsc::Sender<AgentEvent>,
    ) -> Result<Self, AgentError> {
        let program = launch.program();
        let resumed = launch.options.resume.clone();
        let pulse = Arc::new(Pulse {
            last_byte: AtomicI64::new(clock.now().millis()),
            in_turn: AtomicBool::new(false),
        });
        let started = start::start(&launch).await?;
        let (agent, initialized) =
            supervise::run(started, launch.marker, &program, pulse, clock, sink, events)?;
        agent
            .agree(initialized, program)
            .await
            .map_err(|error| match (error, resumed) {
                (AgentError::EndedEarly { said, .. }, Some(session))
                    if is_unknown_session(&said) =>
                {
                    AgentError::UnknownSession { session }
                }
                (error, _) => error,
            })
    }

    /// Waits for the answer to `initialize`.
    async fn agree(
        self,
        initialized: oneshot::Receiver<Result<(), String>>,
        program: String,
    ) -> Result<Self, AgentError> {
        self.write(messages::initialize()).await.ok();
        let mut exit = self.exit.clone();
        let answer = tokio::select! {
            biased;
            answer = tokio::time::timeout(PROTOCOL_TIMEOUT, initialized) => answer,
            ended = exit.wait_for(Option::is_some) => {
                let ended = ended.ok().and_then(|exit| exit.clone()).unwrap_or_default();
                return Err(ended_early(program, &ended));
            }
        };
        let refusal = match answer {
            Ok(Ok(Ok(()))) => return Ok(self),
            Ok(Ok(Err(refusal))) => refusal,
            // The reader ended: so did the process, or it closed its stdout.
            Ok(Err(_)) => {
                let ended = self.stop(&stop::Ladder::HASTY).await;
                return Err(ended_early(program, &ended));
            }
            Err(_elapsed) => String::new(),
        };
        let ended = self.stop(&stop::Ladder::HASTY).await;
        Err(AgentError::NoProtocol {
            program,
            seconds: PROTOCOL_TIMEOUT.as_secs(),
            said: said(if refusal.is_empty() {
                &ended.stderr_tail
            } else {
                &refusal
            }),
            floor: probe::FLOOR,
        })
    }

    /// Process id; also of its process group.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// When the last byte came on stdout; at first, when the process was started.
    pub fn last_byte(&self) -> Timestamp {
        Timestamp::from_millis(self.pulse.last_byte.load(Ordering::Relaxed))
    }

    /// Sends a user message: the prompt, a note in mid-turn, a follow-up. `uuid` comes back as
    /// [`AgentEvent::Echoed`] when Claude takes it up.
    pub async fn send_user(&self, uuid: &str, text: &str) -> Result<(), AgentError> {
        self.pulse.in_turn.store(true, Ordering::Relaxed);
        self.write(messages::user(uuid, text)).await
    }

    /// Answers a callback.
    pub async fn answer_callback(
        &self,
        request_id: &str,
        answer: &CallbackAnswer,
    ) -> Result<(), AgentError> {
        self.write(messages::callback_answer(request_id, answer))
            .await
    }

    /// Answers `can_use_tool`. An input that is not a JSON object is refused instead of sent.
    pub async fn answer_can_use_tool(
        &self,
        request_id: &str,
        answer: &ToolAnswer,
    ) -> Result<(), AgentError> {
        self.write(messages::tool_answer(request_id, answer)).await
    }

    /// Stops the turn; its `result` follows and the process lives on.
    pub async fn interrupt(&self) -> Result<(), AgentError> {
        self.write(messages::interrupt()).await
    }

    /// Closes stdin: Claude finishes the running turn, tools included, and exits.
    pub async fn close_input(&self) {
        // An error means that it is closed already.
        self.writer.send(supervise::Write::Close).await.ok();
    }

    async fn write(&self, line: String) -> Result<(), AgentError> {
        self.writer
            .send(supervise::Write::Line(line))
            .await
            .map_err(|_| AgentError::Gone)
    }
}

fn ended_early(program: String, exit: &Exit) -> AgentError {
    let how = match (exit.code, exit.signal) {
        (Some(127), _) => "exit code 127: its own program was not found".to_owned(),
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "it closed its output".to_owned(),
    };
    AgentError::EndedEarly {
        program,
        how,
        said: said(&exit.stderr_tail),
    }
}

/// The last words of a process, in one line.
fn said(text: &str) -> String {
    let line = crate::base::text::clean_line(crate::base::text::tail(text, 400), 300);
    if line.is_empty() {
        line
    } else {
        format!(": {line}")
    }
}

#[cfg(test)]
mod tests;
