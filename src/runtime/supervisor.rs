//! The open runs of this program: opens them, hands them commands, follows their files, counts them out.
//!
//! Each run is a task of its own. One that panics is replaced by one that ends the run with an error.

mod dying;
mod open_error;
mod resume;

pub use open_error::OpenError;
pub use resume::find_run;

use crate::adapters::agent::{orphans, probe};
use crate::adapters::clock::{fresh_id, fresh_run_id};
use crate::adapters::file_watch::FileWatch;
use crate::adapters::scratch_folder;
use crate::adapters::store::{Holder, LockError, Store, StoreError, TicketLock};
use crate::base::id::{RunId, TicketId};
use crate::base::time::Clock;
use crate::config::Config;
use crate::domain::answerer::Answerer;
use crate::domain::approval::QuestionId;
use crate::domain::command::UserCommand;
use crate::domain::news::{News, RunLeft};
use crate::domain::outcome::ExitReason;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunState;
use crate::domain::ticket::{Boxes, Ticket};
use crate::orchestrator::input::{Input, Start};
use crate::orchestrator::prompt::Templates;
use crate::orchestrator::state::State;
use crate::runtime::effects::{Effects, Work};
use crate::runtime::gate::{Gates, Judged};
use crate::runtime::offline::state_of;
use crate::runtime::reporter::Reporter;
use crate::runtime::rules_watch::RulesWatch;
use crate::runtime::storage::StorageWait;
use crate::runtime::ticket_file::{TicketFile, commands, load};
use crate::runtime::ticket_task::{Awaited, Ending, TicketTask};
use crate::runtime::{channels, translate, wishes};
use dying::Dying;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot};

/// The configuration and the templates for runs in a folder.
pub type Rules = Arc<dyn Fn(&Path) -> Result<(Arc<Config>, Arc<Templates>), String> + Send + Sync>;

/// Runs that are looked at for leftovers.
const LATEST: usize = 50;

/// How long a sweep of another program is waited for.
const SWEEPS: Duration = Duration::from_secs(15);

/// The end of a run, or of the try to open one.
pub type Ended = (TicketId, Option<ExitReason>);

/// The open runs.
pub struct Supervisor {
    store: Store,
    clock: Arc<dyn Clock>,
    reporter: Reporter,
    rules: Rules,
    gates: Gates,
    rules_watch: RulesWatch,
    runs: BTreeMap<TicketId, Run>,
    ended: mpsc::UnboundedSender<Ended>,
}

struct Run {
    id: RunId,
    awaited: Awaited,
    inputs: mpsc::Sender<Input>,
    /// Follows the file; ends when dropped.
    _watch: Option<FileWatch>,
}

impl Supervisor {
    /// A supervisor without runs. Every run that ends is told to `ended`, once.
    pub fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        reporter: Reporter,
        rules: Rules,
        gates: Gates,
        ended: mpsc::UnboundedSender<Ended>,
    ) -> Self {
        Self { store, clock, reporter, rules, gates, rules_watch: RulesWatch::default(), runs: BTreeMap::new(), ended }
    }

    /// Ends what programs that died have left running, and removes their scratch folders: of every run that is at work by
    /// its records and that nobody works on.
    pub async fn sweep_leftovers(store: Store) {
        let sweep = move || -> Result<u32, StoreError> {
            let mut swept: u32 = 0;
            for summary in store.runs()?.into_iter().take(LATEST).filter(|run| run.state != RunState::Ended) {
                let run = summary.run;
                // Whoever goes on with it meanwhile waits for this; whoever has gone on with it is seen now.
                let _sweeping = store.lock_sweep(Path::new(&summary.ticket_path), SWEEPS)?;
                if store.as_seen(summary)?.state == RunState::Interrupted {
                    swept = swept.saturating_add(orphans::sweep_interrupted(&[run.to_string()]));
                    scratch_folder::remove(run);
                }
            }
            Ok(swept)
        };
        match tokio::task::spawn_blocking(sweep).await {
            Ok(Ok(0)) => {}
            Ok(Ok(swept)) => tracing::warn!(swept, "leftover processes of interrupted runs were terminated"),
            Ok(Err(error)) => tracing::warn!(%error, "cannot look for leftover processes of interrupted runs"),
            Err(error) => tracing::warn!(%error, "the search for leftover processes crashed"),
        }
    }

    /// Opens the ticket's run: resumes the latest one where it can be resumed, else begins anew
    /// in `folder`. No link may be in `path`, as [`find`](fn@crate::adapters::tickets::find) gives it.
    pub fn open(&mut self, path: &Path, folder: &Path) -> Result<TicketId, OpenError> {
        let (ticket, lock) = self.take(path)?;
        let latest = self.store.latest_for(&path.display().to_string())?;
        let earlier = latest.map(|summary| state_of(&self.store, summary.run)).transpose()?;
        match earlier {
            Some(state) if state.is_resumable() => self.go_on(ticket, path.to_owned(), state, lock),
            earlier => self.begin(ticket, earlier.unwrap_or_default(), path.to_owned(), folder, lock),
        }
    }

    /// The ticket and its lock. It is read under the lock: before, another program may have been at work on it.
    fn take(&self, path: &Path) -> Result<(Ticket, TicketLock), OpenError> {
        let id = load(path)?.id;
        let lock = self.lock(&id, path)?;
        Ok((Ticket { id, ..load(path)? }, lock))
    }

    fn lock(&self, ticket: &TicketId, path: &Path) -> Result<TicketLock, OpenError> {
        if self.runs.contains_key(ticket) {
            let holder = "this program, perhaps from another file with the same name".to_owned();
            return Err(OpenError::Held { ticket: ticket.clone(), holder });
        }
        let holder = Holder { pid: std::process::id(), ticket: ticket.clone(), run: None, since: self.clock.now() };
        let dying = Dying::since_now();
        loop {
            match self.store.lock_ticket(path, &holder) {
                Ok(lock) => return Ok(lock),
                Err(LockError::Held { .. }) if dying.waited() => {}
                Err(LockError::Held { holder }) => return Err(OpenError::Held { ticket: ticket.clone(), holder }),
                Err(LockError::Store(error)) => return Err(OpenError::Store(error)),
            }
        }
    }

    /// A fresh run. Of the one before, its unverified ticks, its circuit breaker and its sessions are carried over.
    fn begin(
        &mut self,
        ticket: Ticket,
        earlier: State,
        path: PathBuf,
        folder: &Path,
        lock: TicketLock,
    ) -> Result<TicketId, OpenError> {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let (config, templates) = (self.rules)(&folder).map_err(OpenError::Config)?;
        open_error::admit(&ticket.id, &earlier.breaker, &config.settings.breaker, self.clock.now())?;
        let phases = translate::phases(&ticket);
        let start = Input::Started(Box::new(Start {
            folder: folder.display().to_string(),
            ticket_path: path.display().to_string(),
            title: ticket.title.clone(),
            ticket_status: ticket.status,
            unverified: earlier.unverified_in(&phases),
            carried: earlier.carried_into(&phases),
            phases,
            validation: commands(&ticket, &config.validation),
            settings: config.settings.clone(),
            breaker: earlier.breaker,
            sessions: earlier.sessions,
        }));
        let run = fresh_run_id();
        let state = State::of(run, ticket.id.clone());
        self.launch(Opening { run, ticket, path, folder, config, templates, state, lock }, vec![start])
    }

    fn go_on(&mut self, ticket: Ticket, path: PathBuf, state: State, lock: TicketLock) -> Result<TicketId, OpenError> {
        let Some(run) = state.run else {
            return Err(OpenError::NoRun("the run has no records".into()));
        };
        let folder = PathBuf::from(&state.folder);
        let (config, templates) = (self.rules)(&folder).map_err(OpenError::Config)?;
        open_error::admit(&ticket.id, &state.breaker, &config.settings.breaker, self.clock.now())?;
        // What an earlier process left running would work against us. We have the ticket, so that no sweep begins after
        // the one that is waited for.
        let swept = tokio::task::block_in_place(|| {
            drop(self.store.lock_sweep(&path, SWEEPS)?);
            Ok::<_, StoreError>(orphans::sweep_interrupted(&[run.to_string()]))
        })?;
        if swept > 0 {
            tracing::warn!(%run, swept, "leftover processes of the interrupted run were terminated");
        }
        let resumed = Input::Resumed {
            pid: std::process::id(),
            reading: state.reading + 1,
            phases: translate::phases(&ticket),
            settings: Some(Box::new(config.over(&state.settings))),
        };
        let first = vec![resumed, Input::LimitsRead(config.settings.limits.clone())];
        self.launch(Opening { run, ticket, path, folder, config, templates, state, lock }, first)
    }

    /// Takes back what was asked of the run and never noted, which is told.
    fn forget_wishes(&self, run: RunId, first: &mut Vec<Input>) -> Result<(), StoreError> {
        if self.store.forget_wishes(run)? > 0 {
            let text = "a `ticket tick` or `untick` was still pending when the run ended; it was dropped, repeat it if it \
                        still applies";
            first.push(Input::Warned { text: text.to_owned() });
        }
        Ok(())
    }

    fn launch(&mut self, opening: Opening, mut first: Vec<Input>) -> Result<TicketId, OpenError> {
        let Opening { run, ticket, path, folder, config, templates, state, mut lock } = opening;
        let id = ticket.id.clone();
        // Without rules everything would be blocked: Claude would be paid for finding that out.
        // The boxes of a plan without phases are Claude's to tick.
        let plan = ticket.phases.is_empty() && ticket.boxes != Boxes::default();
        let (ticket_file, env) = ((!plan).then_some(path.as_path()), config.agent.variables());
        let judged = Judged { run, folder: &folder, ticket: ticket_file, profile: config.profile, env: &env };
        let gate = (self.gates)(&judged);
        if let Some(why) = gate.trouble() {
            return Err(OpenError::Config(format!("{id} is not started: {why}")));
        }
        let searched = env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let searched = searched.or_else(|| std::env::var_os("PATH"));
        probe::look_up(&config.agent.command, searched.as_deref(), &folder)
            .map_err(|error| OpenError::NoAgent(id.clone(), error))?;
        let holder = Holder { pid: std::process::id(), ticket: id.clone(), run: Some(run), since: self.clock.now() };
        lock.describe(&holder)?;
        let lock = Arc::new(lock);
        let scrollback = self.store.scrollback(run, classify)?;
        // Last, so that it is not left behind by what fails. Without it `$TMPDIR` were the person's, and the gate took it
        // for the run's.
        let scratch = tokio::task::block_in_place(|| scratch_folder::make(run))
            .map_err(|why| OpenError::Config(format!("{id} is not started: {why}")))?;
        // Where nothing begins, nothing is forgotten.
        self.forget_wishes(run, &mut first).inspect_err(|_| scratch_folder::remove(run))?;
        let ticket = Arc::new(ticket);
        self.reporter.tell(&News::TicketRead(ticket.clone()));
        self.reporter.opened(run, &id, state.seq, Arc::new(scrollback.clone()));
        let (inputs, receiver) = mpsc::channel(channels::INPUTS);
        let file = Arc::new(TicketFile {
            path: path.clone(),
            ticket: id.clone(),
            validation: config.validation.clone(),
            reporter: self.reporter.clone(),
            inputs: inputs.clone(),
            // What the run begins with was the first.
            last: Mutex::new(state.reading + 1),
        });
        // Before anybody else can send: a stop that came first would find no run to stop. There is room for them.
        for input in first.into_iter().chain(file.boxes_said(&ticket, state.reading + 1)) {
            let _ = inputs.try_send(input);
        }
        let watch = file.clone().follow(Arc::downgrade(&lock));
        self.rules_watch.add(&gate, &inputs);
        let storage = StorageWait::new(run, &id, config.storage.patience, &self.clock, &self.reporter);
        let effects = Effects {
            run,
            ticket: id.clone(),
            ticket_path: path,
            ticket_file: file,
            folder,
            scratch,
            store: self.store.clone(),
            scrollback,
            clock: self.clock.clone(),
            gate,
            config,
            templates,
            reporter: self.reporter.clone(),
            inputs: inputs.clone(),
            work: Work::default(),
        };
        let awaited = Awaited::default();
        let task = TicketTask {
            run,
            ticket: id.clone(),
            state: Arc::new(state),
            store: self.store.clone(),
            clock: self.clock.clone(),
            reporter: self.reporter.clone(),
            storage,
            effects,
            inputs: receiver,
            awaited: awaited.clone(),
            owed: Vec::new(),
            later: VecDeque::new(),
        };
        self.runs.insert(id.clone(), Run { id: run, awaited, inputs: inputs.clone(), _watch: watch });
        let (ended, ticket, reporter) = (self.ended.clone(), id.clone(), self.reporter.clone());
        let store = self.store.clone();
        tokio::spawn(async move {
            let wishes = tokio::spawn(wishes::follow(store, run, inputs.downgrade()));
            drop(inputs);
            let Ending { reason, unstored } = task.guarded().await;
            wishes.abort();
            drop(lock);
            if let Some(message) = unstored {
                reporter.left(RunLeft { run, ticket: ticket.clone(), reason, message });
            }
            let _ = ended.send((ticket, reason));
        });
        Ok(id)
    }

    /// Hands a command to a run. What it gives is told when the run has decided about it and that is stored, and dropped
    /// when it never will. `None`: the run is not open.
    pub async fn command(
        &self,
        ticket: &TicketId,
        by: Answerer,
        command: UserCommand,
    ) -> Option<oneshot::Receiver<()>> {
        let run = self.runs.get(ticket)?;
        let (id, (decided, heard)) = (fresh_id(), oneshot::channel());
        run.awaited.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), decided);
        run.inputs.send(Input::Commanded { id, by, command }).await.ok()?;
        Some(heard)
    }

    /// What lets a call run that needs the passphrase; to be called when a right one was typed, on a thread that may
    /// wait. `None`: the run is not open.
    pub fn unlocks(&self, ticket: &TicketId, id: QuestionId, by: Answerer) -> Option<impl FnOnce() + Send + use<>> {
        let inputs = self.runs.get(ticket)?.inputs.clone();
        Some(move || drop(inputs.blocking_send(Input::Unlocked { id, by })))
    }

    /// Tells the run that a lasting yes to this call stands in a file; to be called on a thread that may wait. `None`:
    /// the run is not open.
    pub fn rule_saved(
        &self,
        ticket: &TicketId,
        id: QuestionId,
        by: Answerer,
    ) -> Option<impl FnOnce(String) + Send + use<>> {
        let inputs = self.runs.get(ticket)?.inputs.clone();
        Some(move |path| drop(inputs.blocking_send(Input::RuleSaved { id, by, path })))
    }

    /// Hands a command to every open run.
    pub async fn command_all(&self, by: &Answerer, command: &UserCommand) {
        for ticket in self.runs.keys() {
            self.command(ticket, by.clone(), command.clone()).await;
        }
    }

    /// Gives up every open run at once: their processes are killed, their records stay as they are.
    pub async fn abandon(&mut self) {
        let markers: Vec<String> = self.runs.values().map(|run| run.id.to_string()).collect();
        self.runs.clear();
        let _ = tokio::task::spawn_blocking(move || orphans::sweep(&markers)).await;
    }

    /// The ticket's run has ended, and what it leaves behind is being cleared away.
    pub fn is_ending(&self, ticket: &TicketId) -> bool {
        self.runs.get(ticket).is_some_and(|run| run.inputs.is_closed())
    }

    /// Forgets a run that has ended.
    pub fn forget(&mut self, ticket: &TicketId) {
        self.runs.remove(ticket);
    }

    /// The tickets whose runs are open.
    pub fn open_tickets(&self) -> impl Iterator<Item = &TicketId> {
        self.runs.keys()
    }
}

/// Everything that a run begins with.
struct Opening {
    run: RunId,
    ticket: Ticket,
    path: PathBuf,
    folder: PathBuf,
    config: Arc<Config>,
    templates: Arc<Templates>,
    state: State,
    lock: TicketLock,
}
