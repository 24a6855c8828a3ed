//! Claude's process: how it is started, spoken to, drained and ended. It owns the process and the stdio
//! protocol, and knows nothing of runs, tickets or verdicts; the runtime turns [`AgentEvent`]s into inputs.
//!
//! - [`launch`]: the argument list and the environment, pure.
//! - `start`: starts the process from a thread that lives as long as the program.
//! - `held`: the process as we hold it. `keeper`: what stands between us and it, on Linux.
//! - `supervise`: the tasks around one process. `drain`: stdout to the sink and to events.
//! - `messages`: the JSON lines that go to stdin.
//! - `pending`: what was sent and waits for a word of Claude's.
//! - [`stop`]: the ladder that ends it. [`orphans`]: what it left behind.
//! - [`probe`]: which version is installed. [`features`]: what only some versions know. `settings`: those that Claude is
//!   started with. [`memory`]: the CLAUDE.md files.

mod drain;
mod error;
mod event;
pub mod features;
mod flow;
mod handle;
mod held;
#[cfg(target_os = "linux")]
pub mod keeper;
pub mod launch;
pub mod marker;
pub mod memory;
mod messages;
mod orders;
pub mod orphans;
#[cfg(target_os = "linux")]
mod os_linux;
#[cfg(any(test, target_os = "macos"))]
mod os_macos;
mod pending;
pub mod probe;
mod settings;
mod start;
pub mod stop;
mod supervise;
pub mod version;

pub use error::AgentError;
pub use event::{AgentEvent, Exit};
pub use handle::Agent;
pub use messages::{CallbackAnswer, ToolAnswer};
pub use start::{Ahead, ahead};

use crate::base::time::{Clock, Timestamp};
use crate::domain::scrollback::Sink;
use crate::domain::stream::api_error::is_unknown_session;
use error::{ended_early, said};
use features::Features;
use handle::Pulse;
use launch::Launch;
use pending::{Answer, Pending};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What a Claude must agree to before it is given work.
struct Terms {
    program: String,
    patience: Duration,
    settings: Value,
    features: Features,
}

/// A Claude that has been started, and has agreed to nothing yet.
pub struct Started {
    agent: Agent,
    terms: Terms,
    resumed: Option<String>,
}

impl Started {
    /// Agrees on the protocol. On an error the process is gone and swept.
    pub async fn agreed(self) -> Result<Agent, AgentError> {
        let Self { agent, terms, resumed } = self;
        agent.agree(terms).await.map_err(|error| match (error, resumed) {
            (AgentError::EndedEarly { said, .. }, Some(session)) if is_unknown_session(&said) => {
                AgentError::UnknownSession { session }
            }
            (error, _) => error,
        })
    }
}

/// How long Claude has to say its plan: it reads one file.
const PLAN_WAIT: Duration = Duration::from_secs(10);

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
        Self::start_by(launch, None, clock, sink, events).await?.agreed().await
    }

    /// Starts Claude, by a keeper that was started ahead of time, if there is one.
    pub async fn start_by(
        launch: Launch,
        ahead: Option<Ahead>,
        clock: Arc<dyn Clock>,
        sink: Box<dyn Sink>,
        events: mpsc::Sender<AgentEvent>,
    ) -> Result<Started, AgentError> {
        let program = launch.program();
        let resumed = launch.options.resume.clone();
        let terms = Terms {
            program: program.clone(),
            patience: launch.patience.unwrap_or(Duration::MAX),
            settings: launch.settings(),
            features: launch.options.features.clone(),
        };
        let pulse = Arc::new(Pulse {
            last_byte: AtomicI64::new(clock.now().millis()),
            last_answer: AtomicI64::new(0),
            in_turn: AtomicBool::new(false),
            pending: Pending::default(),
        });
        let started = start::start(&launch, ahead).await?;
        let agent = supervise::run(started, launch.marker, &program, pulse, clock, sink, events)?;
        Ok(Started { agent, terms, resumed })
    }

    /// Waits until Claude asks before each call and uses the settings that it was given.
    async fn agree(self, terms: Terms) -> Result<Self, AgentError> {
        let Terms { program, patience, settings, features } = terms;
        let greeted = self.greet();
        let mut exit = self.exit.clone();
        let answer = tokio::select! {
            biased;
            answer = tokio::time::timeout(patience, greeted) => answer,
            ended = exit.wait_for(Option::is_some) => {
                let ended = ended.ok().and_then(|exit| exit.clone()).unwrap_or_default();
                return Err(ended_early(program, &ended));
            }
        };
        let refusal = match answer {
            Ok(Ok(Ok(used))) => match settings::trouble(used, &settings, &features) {
                None => return Ok(self),
                Some(why) => {
                    self.stop(&stop::Ladder::HASTY).await;
                    return Err(AgentError::Settings { program, why });
                }
            },
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
            said: said(if refusal.is_empty() { &ended.stderr_tail } else { &refusal }),
            floor: version::FLOOR,
        })
    }

    /// Agrees on the protocol and asks which settings are used.
    async fn greet(&self) -> Result<Result<Answer, String>, AgentError> {
        let initialized = self.request(messages::INITIALIZE, messages::initialize()).await?;
        let used = self.request(messages::SETTINGS, messages::get_settings()).await?;
        if let Err(refusal) = initialized.await.map_err(|_| AgentError::Gone)? {
            return Ok(Err(refusal));
        }
        Ok(Ok(used.await.map_err(|_| AgentError::Gone)?))
    }

    /// Claude's process id; also of its process group.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// When the last byte came on stdout; at first, when the process was started.
    pub fn last_byte(&self) -> Timestamp {
        Timestamp::from_millis(self.pulse.last_byte.load(Ordering::Relaxed))
    }

    /// When the last byte of an answer came: anything but what Claude says of itself before it asks the service.
    /// At first, the epoch.
    pub fn last_answer(&self) -> Timestamp {
        Timestamp::from_millis(self.pulse.last_answer.load(Ordering::Relaxed))
    }

    /// Sends a user message: the prompt, a note in mid-turn, a follow-up. `uuid` comes back as
    /// [`AgentEvent::Echoed`] when Claude takes it up; a turn that begins with another one is somebody else's.
    pub async fn send_user(&self, uuid: &str, text: &str) -> Result<(), AgentError> {
        self.pulse.pending.message(uuid);
        self.write(messages::user(uuid, text)).await
    }

    pub async fn answer_callback(&self, request_id: &str, answer: &CallbackAnswer) -> Result<(), AgentError> {
        self.write(messages::callback_answer(request_id, answer)).await
    }

    /// Answers `can_use_tool`. An input that is not a JSON object is refused instead of sent.
    pub async fn answer_can_use_tool(&self, request_id: &str, answer: &ToolAnswer) -> Result<(), AgentError> {
        self.write(messages::tool_answer(request_id, answer)).await
    }

    /// Stops the turn; its `result` follows and the process lives on.
    pub async fn interrupt(&self) -> Result<(), AgentError> {
        self.write(messages::interrupt()).await
    }

    /// The plan in Claude's plan file; `None` where there is none, or Claude cannot say.
    pub async fn plan(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Plan {
            content: String,
        }
        let id = messages::fresh("plan");
        let answer = self.request(&id, messages::get_plan(&id)).await.ok()?;
        let answer = tokio::time::timeout(PLAN_WAIT, answer).await.ok()?.ok()?.ok()?;
        serde_json::from_str::<Plan>(&answer).ok().map(|plan| plan.content)
    }

    /// Sends a request. Its answer comes through what is given back, which closes when none can come any more.
    async fn request(&self, id: &str, line: String) -> Result<oneshot::Receiver<Answer>, AgentError> {
        let answer = self.pulse.pending.request(id);
        self.write(line).await?;
        Ok(answer)
    }

    /// Closes stdin: Claude finishes the running turn, tools included, and exits.
    pub async fn close_input(&self) {
        self.look().await;
        // An error means that it is closed already.
        self.writer.send(orders::Write::Close).await.ok();
    }

    /// Remembers who descends from Claude: when it is gone it is too late.
    async fn look(&self) {
        let family = Arc::clone(&self.family);
        tokio::task::spawn_blocking(move || family.look()).await.ok();
    }

    async fn write(&self, line: String) -> Result<(), AgentError> {
        self.writer.send(orders::Write::Line(line)).await.map_err(|_| AgentError::Gone)
    }
}

#[cfg(test)]
mod tests;
