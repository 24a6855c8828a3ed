//! Effects on Claude: start, speak, answer, end.

use super::{Claude, Effects, lock};
use crate::adapters::agent::launch::Launch;
use crate::adapters::agent::stop::Ladder;
use crate::adapters::agent::{self, Agent, AgentError, AgentEvent, Ahead, memory, probe};
use crate::adapters::clock::fresh_id;
use crate::adapters::shell::NoBash;
use crate::adapters::store::Bounds;
use crate::adapters::tickets;
use crate::base::time::Clock;
use crate::domain::session::Told;
use crate::orchestrator::effect::Spawn;
use crate::orchestrator::input::Input;
use crate::orchestrator::prompt::Prompt;
use crate::runtime::gate::{Kept, Waiting};
use crate::runtime::prompts::{Made, Source};
use crate::runtime::{channels, launching, translate};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

/// A keeper that no Claude needs within this time is ended.
const AHEAD: Duration = Duration::from_secs(30);

impl Effects {
    /// Starts Claude and sends the prompt; what fails on the way ends the run with a message.
    pub(super) fn spawn_agent(&mut self, spawn: &Spawn) {
        let n = spawn.n;
        let storage = &self.config.storage;
        let bounds = Bounds { limit: storage.stream, reserve: storage.reserve };
        let sink = match self.scrollback.begin(n, bounds, self.reporter.growth(self.run)) {
            Ok(sink) => sink,
            Err(error) => return self.answer_now(Input::AgentFailed { n, message: error.to_string() }),
        };
        // Before Claude asks for anything.
        self.gate.keep_to(Kept::of(spawn));
        let prompt = self.prompt(spawn.clone());
        // Nobody waits for an answer to what an earlier Claude asked.
        self.work.asked.clear();
        self.work.places.clear();
        let (mut launch, memory) = match self.launch(spawn) {
            Ok(launch) => launch,
            Err(none) => return self.answer_now(Input::AgentFailed { n, message: none.to_string() }),
        };
        // Another Claude than that of the iteration before.
        let before = self.agent().map(|agent| agent.pid());
        let ahead = lock(&self.work.ahead).take();
        let (claude, clock, inputs) = (self.work.claude.clone(), self.clock.clone(), self.inputs.clone());
        let (told_time, tree, store) = (self.clock.clone(), self.work.evidence.clone(), self.store.clone());
        let starting = self.answer_unless_fine(async move {
            let (events, seen) = mpsc::channel(channels::AGENT_EVENTS);
            let started = async {
                let failed = |message| Input::AgentFailed { n, message };
                let found = probe::ask(&launch).await.map_err(|error| failed(error.to_string()))?;
                if let Some(refusal) = found.version.refusal() {
                    return Err(failed(refusal));
                }
                launch.options.features = found.features;
                // An error: the run is gone, and this with it.
                inputs.send(Input::AgentStarting { n }).await.ok();
                let command = launch.command.clone();
                let starting = async {
                    let started = Agent::start_by(launch, ahead, clock, Box::new(sink), events).await?;
                    // The prompt is made while Claude comes to life: before, it would only be in its way.
                    let prompt = tokio::task::spawn_blocking(prompt);
                    let (agent, prompt) = tokio::join!(started.agreed(), prompt);
                    Ok((agent?, prompt.unwrap_or_else(|error| Err(error.to_string()))))
                };
                let (started, stored) = tokio::join!(starting, store.synced());
                let (agent, prompt) = started.map_err(|error| match error {
                    AgentError::UnknownSession { .. } => Input::SessionUnknown { n },
                    error => {
                        probe::forget(&command);
                        failed(error.to_string())
                    }
                })?;
                // Without a prompt Claude costs and changes nothing. What it changes is told and undone by the snapshot.
                let stored = stored.map_err(|error| error.to_string());
                match stored.and(Self::settle_tree(&tree).await).and(prompt) {
                    Ok(prompt) => Ok((agent, prompt)),
                    Err(message) => {
                        agent.stop(&Ladder::KILL).await;
                        Err(failed(message))
                    }
                }
            };
            let (agent, prompt) = match started.await {
                Ok((agent, prompt)) => (Arc::new(agent), prompt),
                Err(input) => return Some(input),
            };
            // What a Claude says that never came to be is nobody's business: only now it is listened to.
            tokio::spawn(listen(n, prompt.told, seen, inputs, told_time));
            *lock(&claude) = Claude::Started(agent.clone());
            // One that has ended already says so by itself.
            agent.send_user(&fresh_id(), &prompt.text).await.ok();
            // Claude reads the file of the person's memory when it likes.
            agent.exited().await;
            drop(memory);
            None
        });
        // It may have come to life already.
        let mut claude = lock(&self.work.claude);
        if !matches!(&*claude, Claude::Started(agent) if Some(agent.pid()) != before) {
            *claude = Claude::Starting(starting);
        }
    }

    /// Makes the prompt, with the ticket as it is then.
    fn prompt(&self, spawn: Spawn) -> impl FnOnce() -> Result<Made, String> + Send + use<> {
        let (templates, gate, run) = (self.templates.clone(), self.gate.clone(), self.run);
        let (workspace, ticket, presence) =
            (self.workspace.clone(), self.ticket_path.clone(), self.reporter.presence());
        let (diff, config) = (lock(&self.work.shown).clone(), self.config.clone());
        move || {
            let (workspace, ticket) = (&workspace, &*ticket);
            let (templates, gate) = (&*templates, &*gate);
            let source = Source { templates, gate, run, workspace, ticket, presence, diff, config: &config };
            let unread = |error| format!("no prompt can be made of the ticket: {error}");
            source.prompt(&spawn, &tickets::load::read(ticket).map_err(unread)?)
        }
    }

    /// Claude is about to end: a keeper for the next one is started meanwhile, and waits for a while.
    pub(super) fn look_ahead(&mut self) {
        // Another place than that of the one before, who may still wait there for his end.
        let place: Arc<Mutex<Option<Ahead>>> = Arc::default();
        self.work.ahead = place.clone();
        let marker = self.run.to_string();
        self.answer_unless_fine(async move {
            *lock(&place) = agent::ahead(&marker).await;
            tokio::time::sleep(AHEAD).await;
            lock(&place).take();
            None
        });
    }

    /// What starts Claude, and the file of the person's memory that it reads.
    fn launch(&mut self, spawn: &Spawn) -> Result<(Launch, Option<tempfile::TempPath>), NoBash> {
        let brought = self.look_at_repository();
        let mut options = brought.options(&self.config, spawn, self.reporter.presence());
        let memory = brought.memory(&self.config, &self.workspace).and_then(|text| memory::to_file(&text).ok());
        options.system_prompt_file = memory.as_ref().map(|path| path.to_path_buf());
        let (marker, scratch) = (self.run.to_string(), self.scratch.clone());
        Ok((launching::launch(&self.config.agent, self.workspace.directory(), options, marker, Some(scratch))?, memory))
    }

    pub(super) fn agent(&self) -> Option<Arc<Agent>> {
        match &*lock(&self.work.claude) {
            Claude::Started(agent) => Some(agent.clone()),
            _ => None,
        }
    }

    pub(super) async fn send_follow_up(&mut self, n: u32, prompt: &Prompt) {
        match self.templates.render(prompt.kind, &prompt.context) {
            Ok(text) => self.say(&fresh_id(), &text).await,
            Err(error) => {
                let message = error.to_string();
                self.answer_now(Input::AgentFailed { n, message });
            }
        }
    }

    /// A Claude that has gone meanwhile is told nothing; its exit is an input of its own.
    pub(super) async fn say(&self, uuid: &str, text: &str) {
        if let Some(agent) = self.agent()
            && let Err(error) = agent.send_user(uuid, text).await
        {
            tracing::warn!(%error, "a message could not be delivered to Claude");
        }
    }

    pub(super) async fn interrupt(&self) {
        if let Some(agent) = self.agent() {
            // One that is gone has no turn.
            agent.interrupt().await.ok();
        }
    }

    pub(super) async fn close_input(&self) {
        if let Some(agent) = self.agent() {
            agent.close_input().await;
        }
    }

    /// Ends Claude by the ladder; its exit comes as an event. One that is being started is dropped, which ends it.
    pub(super) fn end_agent(&mut self, n: u32, ladder: Ladder) {
        let claude = std::mem::take(&mut *lock(&self.work.claude));
        let Claude::Started(agent) = claude else {
            if let Claude::Starting(task) = claude {
                task.abort();
            }
            let gone = Input::AgentExited { n, code: None, signal: None, swept: 0, stderr: String::new() };
            return self.answer_with(async move { gone });
        };
        // Not one of the tasks that end with the run: the ladder must reach its foot.
        let ending = agent.clone();
        tokio::spawn(async move { ending.stop(&ladder).await });
        *lock(&self.work.claude) = Claude::Started(agent);
    }
}

/// Turns Claude's events into inputs up to the last one, also while the run is being ended.
async fn listen(
    n: u32,
    told: Told,
    mut seen: mpsc::Receiver<AgentEvent>,
    inputs: mpsc::Sender<Input>,
    clock: Arc<dyn Clock>,
) {
    let mut waiting = Waiting::default();
    while let Some(event) = seen.recv().await {
        if let Some(tool_use_id) = waiting.follow(&event)
            && inputs.send(Input::AskWithdrawn { n, tool_use_id }).await.is_err()
        {
            break;
        }
        if let Some(input) = translate::agent_event(n, &told, event, clock.now())
            && inputs.send(input).await.is_err()
        {
            break;
        }
    }
}
