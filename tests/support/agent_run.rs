//! One agent in a test: a sink in memory, a real clock, and ways to wait for an event.

use super::messages_stub::Reply;
use super::real_cli::{RealCli, claude};
use programmator::adapters::agent::features::Features;
use programmator::adapters::agent::launch::{Additions, Launch, Options, environment};
use programmator::adapters::agent::probe;
use programmator::adapters::agent::{Agent, AgentError, AgentEvent, CallbackAnswer, Exit};
use programmator::base::time::{Clock, Timestamp};
use programmator::domain::scrollback::{EntryKind, LiveChange, Sink};
use programmator::domain::tool_call::ToolCall;
use programmator::domain::turn::TurnResult;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The system's clock.
pub struct Wall;

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap())
    }
}

#[derive(Debug, Default)]
pub struct Kept {
    /// Lines with their kinds.
    pub lines: Vec<(String, Option<EntryKind>)>,
    /// Text deltas, with `|` where the tail was cleared.
    pub live: String,
}

#[derive(Clone, Debug, Default)]
pub struct Memory(pub Arc<Mutex<Kept>>);

impl Sink for Memory {
    fn line(&mut self, line: &[u8], kind: Option<EntryKind>) -> io::Result<()> {
        let line = String::from_utf8_lossy(line).into_owned();
        self.0.lock().unwrap().lines.push((line, kind));
        Ok(())
    }

    fn live(&mut self, change: LiveChange<'_>) {
        let mut kept = self.0.lock().unwrap();
        match change {
            LiveChange::Text(text) => kept.live.push_str(text),
            LiveChange::Clear => kept.live.push('|'),
            LiveChange::Thinking(_) | LiveChange::Tool(_) => {}
        }
    }

    fn burst_ended(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(PartialEq)]
enum Probe {
    Due,
    Done,
}

/// A running agent and what came of it.
pub struct Run {
    pub place: Arc<RealCli>,
    pub agent: Agent,
    pub kept: Memory,
    pub marker: String,
    pub features: Features,
    events: mpsc::Receiver<AgentEvent>,
    /// Events so far.
    pub seen: Vec<AgentEvent>,
}

/// What a launch of the real CLI in `place` needs.
pub fn launch(place: &RealCli, options: Options, marker: &str) -> Launch {
    let additions = Additions { marker: marker.to_owned(), ..Additions::default() };
    Launch {
        command: vec![claude()],
        options,
        env: environment(place.env(), &additions),
        folder: place.folder().to_owned(),
        marker: marker.to_owned(),
        patience: None,
    }
}

impl Run {
    /// Starts the CLI with a script and sends a prompt.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let run = Self::open(Arc::new(RealCli::new(replies)), Options::default()).await.unwrap();
        run.agent.send_user(&id(), "go").await.unwrap();
        run
    }

    /// Starts the CLI in `place`.
    pub async fn open(place: Arc<RealCli>, options: Options) -> Result<Self, AgentError> {
        Self::open_as(place, options, vec![claude()]).await
    }

    /// Starts it with another command.
    pub async fn open_as(place: Arc<RealCli>, options: Options, command: Vec<String>) -> Result<Self, AgentError> {
        // One start at a time: each takes a second of a whole core, and has ten to answer.
        static STARTS: tokio::sync::Mutex<Probe> = tokio::sync::Mutex::const_new(Probe::Due);
        let mut starts = STARTS.lock().await;
        if *starts == Probe::Due {
            // As the program does: the version first, which also warms the file cache.
            let first = launch(&place, Options::default(), "probe");
            assert!(probe::ask(&first).await.is_ok());
            *starts = Probe::Done;
        }
        let marker = id();
        let kept = Memory::default();
        let (sender, events) = mpsc::channel(64);
        let mut launch = Launch { command, ..launch(&place, options, &marker) };
        let features = probe::ask(&launch).await?.features;
        launch.options.features = features.clone();
        let agent = Agent::spawn(launch, Arc::new(Wall), Box::new(kept.clone()), sender).await?;
        Ok(Self { place, agent, kept, marker, features, events, seen: Vec::new() })
    }

    /// Waits for the next event that `pick` takes.
    pub async fn wait<T>(&mut self, what: &str, pick: impl Fn(&AgentEvent) -> Option<T>) -> T {
        loop {
            let event = match timeout(PATIENCE, self.events.recv()).await {
                Ok(Some(event)) => event,
                Ok(None) => panic!("the events ended before {what}: {:#?}", self.seen),
                Err(late) => panic!("{what} did not come ({late}): {:#?}", self.seen),
            };
            self.seen.push(event.clone());
            if let Some(found) = pick(&event) {
                return found;
            }
        }
    }

    /// The next question.
    pub async fn asked(&mut self) -> ToolCall {
        self.wait("a question", |event| match event {
            AgentEvent::ToolAsked(tool) => Some((**tool).clone()),
            _ => None,
        })
        .await
    }

    /// The next question, answered with yes.
    pub async fn allow_next(&mut self) -> ToolCall {
        let tool = self.asked().await;
        self.agent.answer_callback(&tool.request.id, &CallbackAnswer::Allow).await.unwrap();
        tool
    }

    /// The next `result`.
    pub async fn result(&mut self) -> TurnResult {
        self.wait("a result", |event| match event {
            AgentEvent::TurnFinished(result) => Some((**result).clone()),
            _ => None,
        })
        .await
    }

    /// Closes stdin and waits for the end.
    pub async fn finish(&mut self) -> Exit {
        self.agent.close_input().await;
        self.exit().await
    }

    /// The end.
    pub async fn exit(&mut self) -> Exit {
        self.wait("the exit", |event| match event {
            AgentEvent::Exited(exit) => Some(exit.clone()),
            _ => None,
        })
        .await
    }

    /// Drops the agent without a word; the end comes all the same.
    pub async fn abandon(self) -> Exit {
        let Self { agent, mut events, .. } = self;
        drop(agent);
        loop {
            match timeout(PATIENCE, events.recv()).await {
                Ok(Some(AgentEvent::Exited(exit))) => return exit,
                Ok(Some(_)) => {}
                other => panic!("no exit came: {other:?}"),
            }
        }
    }

    /// The text of the tool results that Claude sent with its `n`-th request, from 0.
    pub fn request(&self, n: usize) -> String {
        self.place.stub.wait_for(n + 1)[n]["messages"].to_string()
    }
}

pub fn id() -> String {
    uuid::Uuid::new_v4().to_string()
}
