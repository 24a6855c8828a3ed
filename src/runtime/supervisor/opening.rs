//! Opening a run, up to where it can begin: its ticket is read and locked, what an earlier process left is swept, its
//! rules and Claude are found. Waits for other programs: for threads that may.

use super::dying::Dying;
use super::open_error::{OpenError, admit};
use super::place;
use crate::adapters::agent::{orphans, probe};
use crate::adapters::chats;
use crate::adapters::clock::fresh_run_id;
use crate::adapters::scratch_folder;
use crate::adapters::soul;
use crate::adapters::store::{Holder, LockError, RunScrollback, Store, StoreError, TicketLock};
use crate::adapters::trust::TrustStore;
use crate::base::id::{RunId, TicketId};
use crate::base::time::Clock;
use crate::config::Config;
use crate::domain::answerer::Answerer;
use crate::domain::chat::ChatAsked;
use crate::domain::merge::MergeHow;
use crate::domain::phase::Mark;
use crate::domain::planning::PlanAsked;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunSummary;
use crate::domain::ticket::{Boxes, Problem, Ticket, TicketKey, TicketStatus};
use crate::domain::workspace::Workspace;
use crate::orchestrator::input::{Input, Start};
use crate::orchestrator::prompt::Templates;
use crate::orchestrator::state::{Chat, State};
use crate::runtime::gate::{Gate, Gates, Judged};
use crate::runtime::offline::{state_of, words_after};
use crate::runtime::ticket_file::{commands, load, said};
use crate::runtime::translate;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The configuration and the templates for runs in a workspace.
pub type Rules = Arc<dyn Fn(&Workspace) -> Result<(Arc<Config>, Arc<Templates>), String> + Send + Sync>;

/// How long a sweep of another program is waited for.
pub(super) const SWEEPS: Duration = Duration::from_secs(15);

/// What is wrong with a ticket's file, in the log of a run.
const PROBLEMS: usize = 5;

/// What opens runs.
#[derive(Clone)]
pub struct Opener {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub rules: Rules,
    pub gates: Gates,
    /// The person's; `None` without a home.
    pub config_folder: Option<PathBuf>,
}

/// The run that a ticket gets: the one that can be resumed, or a fresh one.
pub struct Plan {
    pub run: RunId,
    pub ticket: Ticket,
    pub path: PathBuf,
    pub workspace: Workspace,
    pub config: Arc<Config>,
    pub templates: Arc<Templates>,
    /// What it is before it goes on.
    pub state: State,
    /// What happens to it first.
    pub first: Vec<Input>,
}

impl Plan {
    pub fn key(&self) -> TicketKey {
        TicketKey::new(self.ticket.id.clone(), &self.path)
    }

    /// The file has open phases that the run has not left out.
    fn has_more_to_do(&self) -> bool {
        let is_skipped =
            |text: &str| self.state.phases.iter().any(|phase| phase.text == text && phase.stands() == Mark::Skipped);
        self.ticket.phases.iter().any(|phase| !phase.done && !is_skipped(&phase.text))
    }

    /// It is neither a chat nor a plan, which commit nothing.
    pub fn works(&self) -> bool {
        let other = |input: &Input| matches!(input, Input::ChatAsked(_) | Input::PlanAsked(_));
        self.state.chat.is_none() && self.state.plan.is_none() && !self.first.iter().any(other)
    }

    /// Refuses to work where nothing may be committed.
    fn may_work(&self) -> Result<(), OpenError> {
        if !self.works() || self.state.started.is_some() {
            return Ok(());
        }
        let id = &self.ticket.id;
        place::may_work(&self.workspace, &self.config, id)
            .map_err(|why| OpenError::Config(format!("{id} is not started: {why}")))
    }

    /// Refuses a Claude that is not there.
    fn has_agent(&self) -> Result<(), OpenError> {
        let env = self.config.agent.variables();
        let searched = env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let searched = searched.or_else(|| std::env::var_os("PATH"));
        probe::look_up(&self.config.agent.command, searched.as_deref(), self.workspace.home())
            .map_err(|error| OpenError::NoAgent(self.ticket.id.clone(), error))
    }
}

/// What would be opened, and what keeps it from beginning.
pub struct Rehearsed {
    pub plan: Plan,
    /// Where its rules can be used.
    pub gate: Option<Gate>,
    /// In the order in which a start comes upon them.
    pub refusals: Vec<OpenError>,
}

/// A run that can begin.
pub struct Opening {
    pub plan: Plan,
    pub gate: Gate,
    pub lock: TicketLock,
    pub scrollback: RunScrollback,
    pub scratch: PathBuf,
}

impl Opening {
    /// The run plans its ticket, which has no phases, and does nothing else.
    pub fn planning(mut self, asked: PlanAsked) -> Result<Self, OpenError> {
        let ticket = &self.plan.ticket;
        let id = &ticket.id;
        let why = if !ticket.phases.is_empty() {
            format!("{id} already has phases; run it with `programmator {id}`")
        } else if ticket.status == Some(TicketStatus::Closed) {
            format!("{id} is closed; reopen it (`status: open` in its file) to plan it")
        } else if self.plan.state.is_complete() {
            format!("{id} is already done; finish its run with `programmator {id}`")
        } else {
            self.plan.first.push(Input::PlanAsked(asked));
            return Ok(self);
        };
        self.give_up();
        Err(OpenError::Config(why))
    }

    /// The run works on its ticket, where it may commit.
    pub fn working(self) -> Result<Self, OpenError> {
        match self.plan.may_work() {
            Ok(()) => Ok(self),
            Err(why) => {
                self.give_up();
                Err(why)
            }
        }
    }

    /// The run begins with Claude resolving the conflict that kept its work from its base.
    pub fn resolving(mut self, by: Answerer) -> Result<Self, OpenError> {
        let state = &self.plan.state;
        let is_conflict = state.merge_failed.as_ref().is_some_and(|failed| !failed.files.is_empty());
        let id = &self.plan.ticket.id;
        let why = if !is_conflict || state.workspace.worktree().is_none() {
            format!("the last run of {id} did not end with a conflict to resolve")
        } else if self.plan.config.settings.git.merge == MergeHow::Off {
            format!("`git.merge` is off, so the result would not be merged. Set it to rebase or merge for {id}")
        } else if self.plan.has_more_to_do() {
            // The yes is for the conflict.
            format!("{id} has open phases again: start it to finish and merge them, or tick them")
        } else {
            self.plan.first.push(Input::ResolveAsked { by });
            return Ok(self);
        };
        self.give_up();
        Err(OpenError::Config(why))
    }

    /// Who opens the run, which is a chat, and whether it is read from stdin.
    #[must_use]
    pub fn chat(mut self, plain: bool, by: Answerer) -> Self {
        let mut first = self.plan.first.iter_mut();
        let asked = first.find_map(|input| if let Input::ChatAsked(asked) = input { Some(asked) } else { None });
        match (asked, &self.plan.state.chat) {
            (Some(asked), _) => (asked.plain, asked.by) = (plain, by),
            (None, Some(chat)) if plain => {
                let asked = ChatAsked { plain, by, ..chat.asked.clone() };
                self.plan.first.push(Input::ChatAsked(asked));
            }
            (None, _) => {}
        }
        self
    }

    /// It does not begin.
    pub fn give_up(self) {
        scratch_folder::remove(self.plan.run);
    }
}

impl Opener {
    /// Opens the ticket's run: the latest one where it can be resumed, else a fresh one in `folder`. No link may be in
    /// `path`, as [`find`](fn@crate::adapters::tickets::find) gives it.
    pub fn open(&self, path: &Path, folder: &Path) -> Result<Opening, OpenError> {
        place::is_no_copy(&self.store, path)?;
        let (ticket, lock) = self.take(path)?;
        self.ready(self.plan(ticket, path, folder)?, lock)
    }

    /// What [`open`](Self::open) would open. Nothing is changed by it.
    pub fn look(&self, path: &Path, folder: &Path) -> Result<Plan, OpenError> {
        let ticket = load(path)?;
        if let Some(holder) = self.store.ticket_holder(path)? {
            return Err(OpenError::Held { ticket: ticket.id, holder });
        }
        self.plan(ticket, path, folder)
    }

    /// The same with everything that would keep it from beginning. An error: it is not even known what would be opened.
    pub fn rehearse(&self, path: &Path, folder: &Path) -> Result<Rehearsed, OpenError> {
        place::is_no_copy(&self.store, path)?;
        let plan = self.look(path, folder)?;
        let (gate, refused) = self.gate(&plan).map_or_else(|why| (None, Some(why)), |gate| (Some(gate), None));
        let refusals = [refused, plan.has_agent().err(), plan.may_work().err()].into_iter().flatten().collect();
        Ok(Rehearsed { plan, gate, refusals })
    }

    /// The ticket and its lock. It is read under the lock: before, another program may have been at work on it.
    pub(super) fn take(&self, path: &Path) -> Result<(Ticket, TicketLock), OpenError> {
        let id = load(path)?.id;
        let lock = self.lock(&id, path)?;
        Ok((Ticket { id, ..load(path)? }, lock))
    }

    fn lock(&self, ticket: &TicketId, path: &Path) -> Result<TicketLock, OpenError> {
        let dying = Dying::since_now();
        loop {
            match self.store.lock_ticket(path, &self.holder(ticket, None)) {
                Ok(lock) => return Ok(lock),
                Err(LockError::Held { .. }) if dying.waited() => {}
                Err(LockError::Held { holder }) => return Err(OpenError::Held { ticket: ticket.clone(), holder }),
                Err(LockError::Store(error)) => return Err(OpenError::Store(error)),
            }
        }
    }

    fn holder(&self, ticket: &TicketId, run: Option<RunId>) -> Holder {
        Holder { pid: std::process::id(), ticket: ticket.clone(), run, since: self.clock.now() }
    }

    fn plan(&self, ticket: Ticket, path: &Path, here: &Path) -> Result<Plan, OpenError> {
        let latest = self.store.latest_for(&path.display().to_string())?;
        let earlier = latest.map(|summary| state_of(&self.store, summary.run)).transpose()?;
        self.after(earlier.unwrap_or_default(), ticket, path, here)
    }

    /// What comes after this run of the ticket: the run itself where it can be resumed, else a fresh one, to which the
    /// claimed ticks, the circuit breaker and the sessions of this one are carried over.
    pub(super) fn after(&self, earlier: State, ticket: Ticket, path: &Path, here: &Path) -> Result<Plan, OpenError> {
        // A plan that the person has written themselves is not made any more.
        let is_planned = earlier.plan.is_some() && !ticket.phases.is_empty();
        let resumed = earlier.run.filter(|_| earlier.is_resumable() && !is_planned);
        // Where a run works is decided here and nowhere else: where the person is when it begins, or in a worktree.
        let workspace = match resumed {
            Some(_) => earlier.workspace.clone(),
            None => Workspace::shared(std::fs::canonicalize(here).unwrap_or_else(|_| here.to_owned())),
        };
        let (mut config, templates) = (self.rules)(&workspace).map_err(OpenError::Config)?;
        let is_chat = chats::is_chat(self.store.folder(), path);
        let mut warnings = Vec::new();
        if is_chat {
            let trust = TrustStore::new(self.store.folder());
            let soul =
                soul::read(self.config_folder.as_deref(), workspace.home(), &trust).map_err(OpenError::Config)?;
            config = Arc::new(Config { soul: soul.text, ..(*config).clone() });
            warnings.extend(soul.ignored);
        }
        let workspace = if resumed.is_some() || is_chat {
            workspace
        } else {
            let own = place::worktree(earlier.workspace.worktree(), &workspace, &config, (&ticket.id, path));
            let not_started = |why| OpenError::Config(format!("{} is not started: {why}", ticket.id));
            workspace.in_worktree(own.map_err(not_started)?)
        };
        let phases = translate::phases(&ticket);
        let words = words_after(&self.store, &earlier)?;
        let claimed_ticks = earlier.claimed_ticks_in(&phases);
        // Where nothing is left to do, nothing is run: the ticket is closed.
        if phases.is_empty() || !claimed_ticks.is_empty() || phases.iter().any(|phase| !phase.done) {
            admit(&ticket.id, &earlier.breaker, &config.settings.breaker, self.clock.now())?;
        }
        let (run, state, mut first) = if let Some(run) = resumed {
            let settings = Some(Box::new(config.over(&earlier.settings)));
            let resumed = Input::Resumed { pid: std::process::id(), reading: earlier.reading + 1, phases, settings };
            (run, earlier, vec![resumed, Input::LimitsRead(config.settings.limits.clone())])
        } else {
            let start = Start {
                workspace: workspace.clone(),
                ticket_path: path.display().to_string(),
                title: ticket.title.clone(),
                ticket_status: ticket.status,
                claimed_ticks,
                carried: earlier.carried_into(&phases, &workspace),
                phases,
                validation: commands(&ticket, &config.validation),
                settings: config.settings.clone(),
                breaker: earlier.breaker,
                sessions: earlier.sessions,
            };
            let run = fresh_run_id();
            (run, State::of(run, ticket.id.clone()), vec![Input::Started(Box::new(start))])
        };
        // Its file says nothing to work on: one that was killed before it was known to be a chat must not become a ticket.
        if is_chat && (resumed.is_none() || state.chat.is_none()) {
            let last = self.last_chat(workspace.home())?.unwrap_or_default();
            // One in which nothing was said passes on what it was told.
            let earlier = if last.topics.is_empty() { last.asked.earlier } else { last.topics };
            first.push(Input::ChatAsked(ChatAsked { earlier, ..ChatAsked::default() }));
        }
        first.extend(words);
        if ticket.phases.iter().any(|phase| !phase.settings.is_empty()) {
            first.push(translate::phase_settings(&ticket));
        }
        // A ticket with boxes that are no phases: they may be all ticked, and then nothing needs to be called.
        if has_own_boxes(&ticket) {
            first.push(said(&ticket, state.reading + 1, &config.validation));
        }
        let told = |problem: &Problem| Input::Warned { text: format!("line {}: {}", problem.line, problem.message) };
        first.extend(ticket.problems.iter().take(PROBLEMS).map(told));
        first.extend(warnings.into_iter().map(|text| Input::Warned { text }));
        Ok(Plan { run, ticket, path: path.to_owned(), workspace, config, templates, state, first })
    }

    /// The last chat in this directory.
    fn last_chat(&self, folder: &Path) -> Result<Option<Chat>, OpenError> {
        let Some(last) = chat_of(&self.store, folder)? else { return Ok(None) };
        let state = state_of(&self.store, last.run)?;
        Ok(state.chat.map(Arc::unwrap_or_clone))
    }

    /// Finds and makes what the run needs.
    pub(super) fn ready(&self, mut plan: Plan, mut lock: TicketLock) -> Result<Opening, OpenError> {
        let (run, id) = (plan.run, &plan.ticket.id);
        if plan.state.started.is_some() {
            // What an earlier process left running would work against us. We have the ticket, so that no sweep begins
            // after the one that is waited for.
            drop(self.store.lock_sweep(&plan.path, SWEEPS)?);
            let swept = orphans::sweep_interrupted(&[run.to_string()]);
            if swept > 0 {
                tracing::warn!(%run, swept, "leftover processes of the interrupted run were terminated");
            }
        }
        let gate = self.gate(&plan)?;
        plan.has_agent()?;
        lock.describe(&self.holder(id, Some(run)))?;
        let scrollback = self.store.scrollback(run, classify)?;
        // Last, so that it is not left behind by what fails. Without it `$TMPDIR` were the person's, and the gate took it
        // for the run's.
        let scratch =
            scratch_folder::make(run).map_err(|why| OpenError::Config(format!("{id} is not started: {why}")))?;
        if let Some(rules) = gate.rules() {
            // Behind what opens the run, before anything that could ask.
            plan.first.insert(1, Input::RulesKnown { rules });
        }
        Ok(Opening { plan, gate, lock, scrollback, scratch })
    }

    /// What judges the calls of the run. Without rules everything would be blocked: Claude would be paid for finding that
    /// out.
    pub fn gate(&self, plan: &Plan) -> Result<Gate, OpenError> {
        let Plan { run, ticket, path, workspace, config, .. } = plan;
        let (file, env) = ((!has_own_boxes(ticket)).then_some(path.as_path()), config.agent.variables());
        let gate = (self.gates)(&Judged { run: *run, workspace, ticket: file, profile: config.profile, env: &env });
        match gate.trouble() {
            Some(why) => Err(OpenError::Config(format!("{} is not started: {why}", ticket.id))),
            None => Ok(gate),
        }
    }
}

/// The last run in this directory that is a chat.
pub fn chat_of(store: &Store, folder: &Path) -> Result<Option<RunSummary>, StoreError> {
    let is_one = |run: &RunSummary| {
        Path::new(&run.folder) == folder && chats::is_chat(store.folder(), Path::new(&run.ticket_path))
    };
    Ok(store.runs()?.into_iter().filter(is_one).max_by_key(|run| run.updated))
}

/// The boxes of a plan without phases are Claude's to tick.
fn has_own_boxes(ticket: &Ticket) -> bool {
    ticket.phases.is_empty() && ticket.boxes != Boxes::default()
}
