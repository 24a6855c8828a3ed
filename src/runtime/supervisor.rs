//! The open runs of this program: begins them, hands them commands, follows their files, counts them out.
//!
//! Each run is a task of its own. One that panics is replaced by one that ends the run with an error.

mod dying;
mod open_error;
mod opening;
mod place;
mod resume;

pub use open_error::OpenError;
pub use opening::{Opener, Opening, Plan, Rehearsed, Rules, chat_of};
pub(in crate::runtime) use place::for_fork;
pub use resume::{Typed, find_run};

use crate::adapters::agent::orphans;
use crate::adapters::clock::fresh_id;
use crate::adapters::file_watch::FileWatch;
use crate::adapters::store::{Store, StoreError};
use crate::adapters::tickets::TicketWriter;
use crate::adapters::{git, scratch_folder};
use crate::base::id::RunId;
use crate::base::time::Clock;
use crate::domain::answerer::Answerer;
use crate::domain::approval::QuestionId;
use crate::domain::command::UserCommand;
use crate::domain::news::{News, RunLeft};
use crate::domain::outcome::ExitReason;
use crate::domain::queue::Slots;
use crate::domain::record::Record;
use crate::domain::summary::RunState;
use crate::domain::ticket::TicketKey;
use crate::orchestrator::input::Input;
use crate::runtime::chat_log::ChatLogger;
use crate::runtime::effects::{Effects, Work};
use crate::runtime::reporter::Reporter;
use crate::runtime::rules_watch::RulesWatch;
use crate::runtime::storage::StorageWait;
use crate::runtime::ticket_file::TicketFile;
use crate::runtime::ticket_task::{Awaited, Ending, TicketTask};
use crate::runtime::{channels, wishes};
use opening::SWEEPS;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Runs that are looked at for leftovers.
const LATEST: usize = 50;

/// The end of a run.
pub type Ended = (TicketKey, Option<ExitReason>);

/// The open runs.
pub struct Supervisor {
    store: Store,
    clock: Arc<dyn Clock>,
    reporter: Reporter,
    rules_watch: RulesWatch,
    runs: BTreeMap<TicketKey, Run>,
    ended: mpsc::UnboundedSender<Ended>,
}

struct Run {
    id: RunId,
    awaited: Awaited,
    /// It is left as it is.
    given_up: CancellationToken,
    inputs: mpsc::Sender<Input>,
    /// Follows the file; ends when dropped.
    _watch: Option<FileWatch>,
}

/// The journal of an open run, for what is done beside it for the person.
pub struct Journal {
    inputs: mpsc::Sender<Input>,
    awaited: Awaited,
}

impl Journal {
    /// Has a record stored. Words for the person where the run has ended before it was.
    pub async fn record(&self, record: Record) -> Result<(), String> {
        let (id, (stored, heard)) = (fresh_id(), oneshot::channel());
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), stored);
        let gone = || "the run has just ended: try again".to_owned();
        self.inputs.send(Input::DoneBeside { id, record: Box::new(record) }).await.map_err(|_| gone())?;
        heard.await.map_err(|_| gone())
    }
}

impl Supervisor {
    /// A supervisor without runs. Every run that ends is told to `ended`, once.
    pub fn new(store: Store, clock: Arc<dyn Clock>, reporter: Reporter, ended: mpsc::UnboundedSender<Ended>) -> Self {
        Self { store, clock, reporter, rules_watch: RulesWatch::default(), runs: BTreeMap::new(), ended }
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
                    git::sweep(&store.run_folder(run));
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

    /// Begins what can begin. Gives its ticket, and the ticket's file.
    pub fn launch(&mut self, opening: Opening) -> Result<(TicketKey, PathBuf), OpenError> {
        let ticket = opening.plan.key();
        if self.runs.contains_key(&ticket) {
            opening.give_up();
            return Err(OpenError::Held { ticket: ticket.id().clone(), holder: "this program".to_owned() });
        }
        let (run, path) = (opening.plan.run, opening.plan.path.clone());
        // Where nothing begins, nothing is forgotten.
        let forgotten = self.forget_wishes(run).inspect_err(|_| scratch_folder::remove(run))?;
        self.begin(opening, forgotten);
        Ok((ticket, path))
    }

    /// Takes back what was asked of the run and never noted, which is told.
    fn forget_wishes(&self, run: RunId) -> Result<Option<Input>, StoreError> {
        let text = "a `ticket tick` or `untick` was still pending when the run ended and was dropped; repeat it if it still applies";
        Ok((self.store.forget_wishes(run)? > 0).then(|| Input::Warned { text: text.to_owned() }))
    }

    fn begin(&mut self, opening: Opening, forgotten: Option<Input>) {
        let Opening { plan, gate, lock, scrollback, scratch } = opening;
        let (key, works) = (plan.key(), plan.works());
        let Plan { run, ticket, path, workspace, config, templates, state, first } = plan;
        let (id, lock) = (ticket.id.clone(), Arc::new(lock));
        self.reporter.tell(&News::TicketRead(key.clone(), Arc::new(ticket)));
        self.reporter.opened(run, &key, state.seq, Arc::new(scrollback.clone()));
        let (inputs, receiver) = mpsc::channel(channels::INPUTS);
        let store = self.store.clone();
        let writer = TicketWriter::new(path.clone(), self.store.folder().join("locks"));
        let writer = writer.owing(move |sync| store.owe(sync));
        let file = Arc::new(TicketFile {
            path: path.clone(),
            ticket: key.clone(),
            validation: config.validation.clone(),
            reporter: self.reporter.clone(),
            inputs: inputs.clone(),
            // What the run begins with was the first.
            last: Mutex::new(state.reading + 1),
            writer: Arc::new(std::sync::Mutex::new(writer)),
            broken: AtomicBool::default(),
            // What the run knows of them may be of another time.
            has_settings: AtomicBool::new(true),
        });
        // Before anybody else can send: a stop that came first would find no run to stop. There is room for them.
        for input in first.into_iter().chain(forgotten) {
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
            workspace,
            works,
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
        let (awaited, given_up) = (Awaited::default(), CancellationToken::new());
        let task = TicketTask {
            run,
            ticket: id.clone(),
            state: Arc::new(state),
            store: self.store.clone(),
            clock: self.clock.clone(),
            reporter: self.reporter.clone(),
            chat_log: Arc::new(std::sync::Mutex::new(ChatLogger::new(self.store.folder()))),
            storage,
            effects,
            inputs: receiver,
            awaited: awaited.clone(),
            given_up: given_up.clone(),
            owed: Vec::new(),
            later: VecDeque::new(),
        };
        self.runs.insert(key.clone(), Run { id: run, awaited, given_up, inputs: inputs.clone(), _watch: watch });
        let (ended, ticket, reporter) = (self.ended.clone(), id.clone(), self.reporter.clone());
        let store = self.store.clone();
        tokio::spawn(async move {
            let wishes = tokio::spawn(wishes::follow(store, run, inputs.downgrade()));
            drop(inputs);
            let Ending { reason, unstored } = task.guarded().await;
            wishes.abort();
            drop(lock);
            if let Some(message) = unstored {
                reporter.left(RunLeft { run, ticket, reason, message });
            }
            let _ = ended.send((key, reason));
        });
    }

    /// Hands a command to a run. What it gives is told when the run has decided about it and that is stored, and dropped
    /// when it never will. `None`: the run is not open.
    pub async fn command(
        &self,
        ticket: &TicketKey,
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
    pub fn unlocks(&self, ticket: &TicketKey, id: QuestionId, by: Answerer) -> Option<impl FnOnce() + Send + use<>> {
        let inputs = self.runs.get(ticket)?.inputs.clone();
        Some(move || drop(inputs.blocking_send(Input::Unlocked { id, by })))
    }

    /// Tells the run that a lasting yes to this call stands in a file; to be called on a thread that may wait. `None`:
    /// the run is not open.
    pub fn rule_saved(
        &self,
        ticket: &TicketKey,
        id: QuestionId,
        by: Answerer,
    ) -> Option<impl FnOnce(String) + Send + use<>> {
        let inputs = self.runs.get(ticket)?.inputs.clone();
        Some(move |path| drop(inputs.blocking_send(Input::RuleSaved { id, by, path })))
    }

    /// The journal of a run that is open here.
    pub fn journal(&self, run: RunId) -> Option<Journal> {
        let open = self.runs.values().find(|open| open.id == run && !open.inputs.is_closed())?;
        Some(Journal { inputs: open.inputs.clone(), awaited: open.awaited.clone() })
    }

    /// Hands a command to every open run but those that are left already: another program goes on with them as they are.
    pub async fn command_all(&self, by: &Answerer, command: &UserCommand) {
        for (ticket, _) in self.runs.iter().filter(|(_, run)| !run.given_up.is_cancelled()) {
            self.command(ticket, by.clone(), command.clone()).await;
        }
    }

    /// Leaves every open run to another program: Claude is ended by the ladder, and its iteration by the last records here.
    pub fn hand_over(&self) {
        for run in self.runs.values().filter(|run| !run.given_up.is_cancelled()) {
            // Where nothing more can be taken in, it is left as it is.
            let _ = run.inputs.try_send(Input::HandedOver);
        }
        self.leave();
    }

    /// Leaves every open run: its records stay as they are.
    fn leave(&self) {
        self.runs.values().for_each(|run| run.given_up.cancel());
    }

    /// Gives up every open run at once: their processes are killed, their records stay as they are.
    pub async fn abandon(&mut self) {
        let markers: Vec<String> = self.runs.values().map(|run| run.id.to_string()).collect();
        self.leave();
        self.runs.clear();
        let _ = tokio::task::spawn_blocking(move || orphans::sweep(&markers)).await;
    }

    /// This program works on the run.
    pub fn works_on(&self, run: RunId) -> bool {
        self.runs.values().any(|open| open.id == run && !open.inputs.is_closed())
    }

    /// Its run is open, or has ended and what it leaves behind is being cleared away.
    pub fn is_open(&self, ticket: &TicketKey) -> bool {
        self.runs.contains_key(ticket)
    }

    /// The ticket's run has ended, and what it leaves behind is being cleared away.
    pub fn is_ending(&self, ticket: &TicketKey) -> bool {
        self.runs.get(ticket).is_some_and(|run| run.inputs.is_closed())
    }

    /// Forgets a run that has ended.
    pub fn forget(&mut self, ticket: &TicketKey) {
        self.runs.remove(ticket);
    }

    /// How many runs are open, by what they do: of `most` that may be at work.
    pub fn slots(&self, most: Option<usize>) -> Slots {
        let mut slots = Slots { most, ..Slots::default() };
        for run in self.runs.values() {
            // One without a record is just beginning.
            let summary = self.store.run(run.id).ok().flatten().map(|(summary, _)| summary.state);
            match summary {
                Some(RunState::Paused) => {}
                Some(RunState::Parked) => slots.parked += 1,
                _ => slots.at_work += 1,
            }
        }
        slots
    }

    /// The tickets whose runs are open.
    pub fn open_tickets(&self) -> impl Iterator<Item = &TicketKey> {
        self.runs.keys()
    }
}
