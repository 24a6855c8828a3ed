//! One session of a review: Claude is started as for a run, may only read, and answers one question.
//!
//! The order is that of every run: records before effects, a verdict before its answer, nothing that is not counted.

use super::journal::Journal;
use crate::adapters::agent::launch::{Options, OwnGit};
use crate::adapters::agent::stop::Ladder;
use crate::adapters::agent::{Agent, AgentEvent, memory, probe};
use crate::adapters::clock::fresh_run_id;
use crate::adapters::path_view::RealPaths;
use crate::adapters::scratch_folder;
use crate::adapters::store::{Bounds, Store};
use crate::base::id::RunId;
use crate::base::time::{Clock, human};
use crate::config::Config;
use crate::domain::approval::Presence;
use crate::domain::critique::Critique;
use crate::domain::limits::Spent;
use crate::domain::limits::admission::{Ask, Asker, Counted, Purpose, Verdict as Admitted};
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::profile::Profile;
use crate::domain::record::Record;
use crate::domain::step::{Counts, Role, StepName};
use crate::domain::stream::envelope::classify;
use crate::domain::ticket::TicketKey;
use crate::domain::workspace::Workspace;
use crate::orchestrator::limits;
use crate::orchestrator::prompt::Templates;
use crate::policy::git_programs;
use crate::runtime::channels;
use crate::runtime::gate::{Gate, Gates, Judged, Kept};
use crate::runtime::launching;
use crate::runtime::prompts::briefing;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::{block_in_place, spawn_blocking};
use tokio_util::sync::CancellationToken;

/// Its only iteration.
pub(super) const N: u32 = 1;

/// Why a call that somebody would have to approve is refused.
pub(super) const NOBODY: &str = "a reviewer can do only what needs no approval; go on without it";

/// What a review works with.
pub struct Desk {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub config: Arc<Config>,
    pub templates: Arc<Templates>,
    pub gates: Gates,
    pub workspace: Workspace,
    /// What its runs are listed under: there is no such file.
    pub ticket: TicketKey,
    pub home: PathBuf,
    pub shares: Mutex<Shares>,
}

/// The budget of one run is the review's: every session gets an equal share of what is left of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    pub spent: Spent,
    /// What sessions that are at work may still spend.
    pub reserved_usd: f64,
    /// Sessions that have not begun.
    pub left: u32,
}

type Prompts = Box<dyn FnOnce(Vec<String>) -> Result<[String; 2], String> + Send>;
type Read<T> = Box<dyn Fn(&str) -> Result<(Critique, T), &'static str> + Send>;

/// What a session is for.
pub(super) struct Call<T> {
    pub(super) title: String,
    pub(super) step: StepName,
    pub(super) model: Option<String>,
    /// The question, and the one for an answer that could not be read; what the gate does goes into it.
    pub(super) prompt: Prompts,
    /// What the last words say, and what of it the journal keeps.
    pub(super) read: Read<T>,
}

/// What is asked, and how the answer is read.
pub(super) struct Talk<T> {
    pub(super) question: String,
    /// For an answer that could not be read.
    pub(super) again: String,
    pub(super) read: Read<T>,
    pub(super) model: Option<String>,
    /// How long it may take.
    pub(super) left: Duration,
}

/// What came of it.
pub(super) struct Outcome<T> {
    pub(super) run: String,
    /// The answer, or why there is none; words for the person.
    pub(super) answer: Result<T, String>,
    pub(super) critique: Option<Critique>,
    pub(super) ms: u64,
    pub(super) cost_usd: f64,
}

/// Why there is no answer.
pub(super) struct Failed {
    pub(super) words: String,
    pub(super) outcome: IterationOutcome,
    pub(super) reason: ExitReason,
    /// How Claude is ended.
    pub(super) ladder: Ladder,
}

impl From<String> for Failed {
    fn from(words: String) -> Self {
        Self { words, outcome: IterationOutcome::Failed, reason: ExitReason::Error, ladder: Ladder::DEFAULT }
    }
}

impl Failed {
    pub(super) fn of(words: impl Into<String>, reason: ExitReason) -> Self {
        Self { reason, ..Self::from(words.into()) }
    }

    pub(super) fn interrupted() -> Self {
        let outcome = IterationOutcome::Interrupted;
        Self { outcome, ..Self::of("interrupted", ExitReason::UserStopped) }
    }
}

/// Has one Claude answer. It is gone when this ends, and all that it started.
pub(super) async fn ask<T>(desk: &Desk, call: Call<T>, stop: &CancellationToken) -> Outcome<T> {
    let (run, begun) = (fresh_run_id(), Instant::now());
    let ticket = desk.ticket.id().clone();
    let journal = Journal::new(desk.store.clone(), desk.clock.clone(), run, ticket);
    let mut session = Session { desk, run, journal, judged: HashMap::new(), places: HashMap::new() };
    let answered = session.work(call, stop, begun).await;
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let cost_usd = session.journal.state.cost_usd;
    if let Err(error) = session.end(answered.as_ref().err(), ms).await {
        tracing::warn!(%run, %error, "the end of a reviewer could not be stored");
    }
    scratch_folder::remove(run);
    let (critique, answer) = match answered {
        Ok((critique, answer)) => (Some(critique), Ok(answer)),
        Err(failed) => (None, Err(failed.words)),
    };
    Outcome { run: run.short(), answer, critique, ms, cost_usd }
}

pub(super) struct Session<'a> {
    pub(super) desk: &'a Desk,
    run: RunId,
    pub(super) journal: Journal,
    /// What the gate said of each call.
    pub(super) judged: HashMap<String, bool>,
    /// From where calls are made, where that is not the workspace.
    pub(super) places: HashMap<String, String>,
}

impl Session<'_> {
    async fn work<T>(
        &mut self,
        call: Call<T>,
        stop: &CancellationToken,
        begun: Instant,
    ) -> Result<(Critique, T), Failed> {
        let Call { title, step, model, prompt, read } = call;
        if stop.is_cancelled() {
            return Err(Failed::interrupted());
        }
        let Desk { config, workspace, .. } = self.desk;
        let model = model.or_else(|| config.settings.model.clone());
        self.journal
            .record(vec![Record::RunStarted {
                folder: workspace.to_string(),
                ticket_path: self.desk.ticket.file().to_owned(),
                title,
                ticket_status: None,
                phases: Vec::new(),
                unverified: Vec::new(),
                unverified_ids: Vec::new(),
                validation: Vec::new(),
                settings: config.settings.clone(),
            }])
            .await?;
        let gate = self.gate()?;
        let scratch = scratch_folder::make(self.run)?;
        let lines = block_in_place(|| {
            let file = Path::new(self.desk.ticket.file());
            briefing(&*gate, self.run, workspace, file, Presence::Nobody)
        });
        let [question, again] = prompt(lines)?;
        let (counted, granted) = self.admit(Purpose::Iteration, model.clone()).await?;
        let role = Role { step, counts: Counts::Nothing, model: model.clone() };
        let started = Record::IterationStarted { n: N, phase: None, session: None, id: None, role };
        let asked = Record::SpawnRequested { n: N, notes: Vec::new() };
        self.journal.record(vec![Record::CallCounted(counted), started, asked]).await?;
        let worked = async {
            let (agent, mut seen, _memory) = self.start(model.clone(), granted, scratch, stop).await?;
            self.desk.store.synced().await.map_err(|error| error.to_string())?;
            let left = Duration::from_secs(config.settings.iteration_timeout).saturating_sub(begun.elapsed());
            let talk = Talk { question, again, read, model, left };
            let answered = self.talk(&agent, &mut seen, talk, &gate, stop).await;
            // What is still there then has had its time.
            let ladder = answered.as_ref().err().map_or(Ladder::DEFAULT, |failed| failed.ladder);
            let exit = agent.stop(&ladder).await;
            let cost_usd = self.journal.state.cost_usd;
            let (code, signal, swept) = (exit.code, exit.signal, exit.swept);
            self.journal.record(vec![Record::AgentExited { n: N, code, signal, swept, cost_usd }]).await?;
            answered
        }
        .await;
        self.give_back(granted);
        worked
    }

    fn gate(&self) -> Result<Gate, Failed> {
        let Desk { config, workspace, gates, .. } = self.desk;
        let env = config.agent.variables();
        let judged = Judged { run: self.run, workspace, ticket: None, profile: config.profile, env: &env };
        let gate = block_in_place(|| gates(&judged));
        if let Some(why) = gate.trouble() {
            return Err(Failed::from(why));
        }
        block_in_place(|| gate.keep_to(Kept { profile: Some(Profile::ReadOnly), plans: false }));
        Ok(gate)
    }

    /// Asks the ledger for a call. What the provider or the person limits is not waited for.
    pub(super) async fn admit(
        &mut self,
        purpose: Purpose,
        model: Option<String>,
    ) -> Result<(Counted, Option<f64>), Failed> {
        let (store, run, moment) = (self.desk.store.clone(), self.run, self.desk.clock.moment());
        let mut ask: Ask = limits::ask(&self.journal.state, purpose, Asker::Program, None, model);
        let shares = *self.shares();
        ask.spent.usd += shares.spent.usd + shares.reserved_usd;
        ask.spent.tokens = ask.spent.tokens.saturating_add(shares.spent.tokens);
        let rest = ask.limits.run.usd().map(|limit| (limit - ask.spent.usd).max(0.0));
        let asked = spawn_blocking(move || store.admit(run, &ask, moment)).await;
        let admission = asked.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        match admission.verdict {
            Admitted::Go { .. } => {
                let mut granted = admission.ledger.granted_usd;
                if purpose == Purpose::Iteration {
                    let mut shares = self.shares();
                    let share = rest.map(|rest| rest / f64::from(shares.left.max(1)));
                    granted = granted.into_iter().chain(share).min_by(f64::total_cmp);
                    shares.reserved_usd += granted.unwrap_or(0.0);
                    shares.left = shares.left.saturating_sub(1);
                }
                Ok((Counted { n: N, purpose, ledger: admission.ledger }, granted))
            }
            Admitted::Park(parking) => {
                let wait = human(parking.until.since(self.desk.clock.now()));
                Err(Failed::of(format!("{}; resets in {wait}", parking.about), ExitReason::RateLimited))
            }
            Admitted::Stop(words) => Err(Failed::of(words, ExitReason::Budget)),
        }
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.desk.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it was granted is spent, or free again.
    fn give_back(&self, granted: Option<f64>) {
        let spent = limits::spent(&self.journal.state);
        let mut shares = self.shares();
        shares.reserved_usd -= granted.unwrap_or(0.0);
        shares.spent.usd += spent.usd;
        shares.spent.tokens = shares.spent.tokens.saturating_add(spent.tokens);
    }

    async fn start(
        &mut self,
        model: Option<String>,
        granted: Option<f64>,
        scratch: PathBuf,
        stop: &CancellationToken,
    ) -> Result<(Agent, mpsc::Receiver<AgentEvent>, Option<tempfile::TempPath>), Failed> {
        let Desk { config, workspace, store, .. } = self.desk;
        let (agent, folder) = (&config.agent, workspace.directory());
        let named = git_programs::named(&RealPaths::default(), folder);
        // Nothing of what is under review instructs the reviewer: its own files for Claude are data, too.
        let memory = memory::collect_persons(&self.desk.home).and_then(|text| memory::to_file(&text).ok());
        let options = Options {
            model,
            max_budget_usd: granted,
            setting_sources: agent.setting_sources.clone(),
            own_git: if named.is_some() { OwnGit::Stays } else { OwnGit::default() },
            system_prompt_file: memory.as_ref().map(|path| path.to_path_buf()),
            presence: Presence::Nobody,
            extra: agent.flags.clone(),
            ..Options::default()
        };
        let launch = launching::launch(agent, folder, options, self.run.to_string(), Some(scratch));
        let mut launch = launch.map_err(|error| error.to_string())?;
        launch.patience = Some(Duration::from_secs(config.settings.start_timeout));
        let bounds = Bounds { limit: config.storage.stream, reserve: config.storage.reserve };
        let scrollback = store.scrollback(self.run, classify).map_err(|error| error.to_string())?;
        let sink = scrollback.begin(N, bounds, Box::new(|| {})).map_err(|error| error.to_string())?;
        let (events, seen) = mpsc::channel(channels::AGENT_EVENTS);
        let started = async {
            let found = probe::ask(&launch).await.map_err(|error| error.to_string())?;
            if let Some(refusal) = found.version.refusal() {
                return Err(refusal);
            }
            launch.options.features = found.features;
            let clock = self.desk.clock.clone();
            Agent::spawn(launch, clock, Box::new(sink), events).await.map_err(|error| error.to_string())
        };
        let agent = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Failed::interrupted()),
            started = started => started?,
        };
        Ok((agent, seen, memory))
    }

    /// Stores how it ended.
    async fn end(&mut self, failed: Option<&Failed>, ms: u64) -> Result<(), String> {
        let state = &self.journal.state;
        if state.started.is_none() {
            return Ok(());
        }
        let mut records = Vec::new();
        if let Some(open) = state.open_iteration() {
            records.push(Record::Receipt(limits::receipt(open, None, ms)));
            let outcome = failed.map_or(IterationOutcome::Claimed, |failed| failed.outcome);
            let (changed, fingerprint, reading) = (false, None, None);
            records.push(Record::IterationEnded { n: N, outcome, changed, fingerprint, ms, reading });
        }
        let (reason, detail) =
            failed.map_or((ExitReason::Complete, String::new()), |failed| (failed.reason, failed.words.clone()));
        let (iterations, cost_usd) = (state.iterations, state.cost_usd);
        records.push(Record::RunEnded { reason, detail, iterations, phases_done: 0, phases: 0, cost_usd });
        self.journal.record(records).await
    }
}
