//! The one service behind all front ends: answers what they [ask](Request), tells them the news, and knows when all runs
//! have ended. It works in a task of its own, one request after the other; what takes long is answered when it is done.

mod card;

use crate::adapters::clock::boot_time;
use crate::adapters::file_watch::FileWatch;
use crate::adapters::passphrase::Passphrases;
use crate::adapters::store::{Store, StoreError};
use crate::adapters::tickets::{self, Places};
use crate::base::id::TicketId;
use crate::base::time::Clock;
use crate::domain::answerer::Answerer;
use crate::domain::approval::Presence;
use crate::domain::command::UserCommand;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::passphrase::Checked;
use crate::domain::phase::PhaseId;
use crate::domain::request::{Closing, Refused, Reply, Request};
use crate::domain::stream::envelope::classify;
use crate::runtime::policy_engine::PolicyEngines;
use crate::runtime::reporter::{Reporter, Subscription};
use crate::runtime::supervisor::{Ended, OpenError, Rules, Supervisor};
use crate::runtime::{channels, offline, ticking};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};

/// What the service works with.
pub struct Parts {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    /// Configuration and templates of runs.
    pub rules: Rules,
    pub policy_engines: PolicyEngines,
    /// The folder we are in, and where tickets are.
    pub places: Places,
    /// The person's config folder; `None` without a home.
    pub config_folder: Option<PathBuf>,
    pub passphrases: Option<Passphrases>,
}

/// A front end's way to the service.
#[derive(Clone)]
pub struct App {
    asked: mpsc::Sender<Asked>,
    runs: watch::Receiver<Runs>,
    reporter: Reporter,
    files: Files,
}

type Asked = (Request, Answerer, oneshot::Sender<Reply>);

/// How the runs of this program stand.
#[derive(Clone, Debug, Default)]
struct Runs {
    open: usize,
    /// The exit code that each ticket's last run makes, or the try to begin one.
    codes: BTreeMap<TicketId, u8>,
}

/// The files of the tickets that are known.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<BTreeMap<TicketId, PathBuf>>>);

impl App {
    /// Begins to work.
    pub fn start(parts: Parts) -> Self {
        let Parts { store, clock, rules, policy_engines, places, config_folder, passphrases } = parts;
        let (asked, asks) = mpsc::channel(channels::ASKS);
        let (ended, endings) = mpsc::unbounded_channel();
        let (told, runs) = watch::channel(Runs::default());
        let (reporter, files) = (Reporter::new(store.clone()), Files::default());
        tokio::spawn(Supervisor::sweep_leftovers(store.clone()));
        let supervisor =
            Supervisor::new(store.clone(), clock.clone(), reporter.clone(), rules, policy_engines.gates(), ended);
        let service = Service {
            store,
            clock,
            policy_engines,
            places,
            config_folder,
            passphrases,
            supervisor,
            reporter: reporter.clone(),
            files: files.clone(),
            runs: told,
            again: BTreeMap::new(),
            watch: follow_tickets(reporter.clone()),
        };
        tokio::spawn(service.work(asks, endings));
        Self { asked, runs, reporter, files }
    }

    /// What is told from now on. `presence`: whether a person can answer there.
    pub fn subscribe(&self, presence: Presence) -> Subscription {
        self.reporter.subscribe(presence)
    }

    /// Asks for something, and gives the answer. `by`: who wants it.
    pub async fn ask(&self, request: Request, by: Answerer) -> Reply {
        let (reply, replied) = oneshot::channel();
        // Whoever hears no answer asks nobody.
        let _ = self.asked.send((request, by, reply)).await;
        replied.await.unwrap_or(Reply::Done)
    }

    /// Asks for something and waits for nothing. Gives it back where there is too much to do.
    pub fn ask_now(&self, request: Request, by: Answerer) -> Result<oneshot::Receiver<Reply>, Box<Request>> {
        let (reply, replied) = oneshot::channel();
        let asked = self.asked.try_send((request, by, reply));
        asked.map(|()| replied).map_err(|full| Box::new(full.into_inner().0))
    }

    /// Waits until no run is open. The exit code of the worst ticket, by how its last run here ended.
    pub async fn all_ended(&self) -> u8 {
        let mut runs = self.runs.clone();
        match runs.wait_for(|runs| runs.open == 0).await {
            Ok(runs) => runs.codes.values().copied().max().unwrap_or(0),
            Err(_) => 1, // The service went down.
        }
    }

    /// Waits until nobody answers any more, which only a fault of ours does.
    pub async fn gone(&self) {
        self.asked.closed().await;
    }

    /// The file of a ticket that is known.
    pub fn file_of(&self, ticket: &TicketId) -> Option<PathBuf> {
        self.files.of(ticket)
    }
}

/// Tells what a listed ticket says when its file is saved, with a run or without.
fn follow_tickets(reporter: Reporter) -> Option<FileWatch> {
    let watch = FileWatch::new(move |path| {
        if let Ok(ticket) = tickets::load(&path) {
            reporter.tell(&News::TicketRead(Arc::new(ticket)));
        }
    });
    watch.inspect_err(|error| tracing::warn!(%error, "the tickets folder cannot be watched")).ok()
}

impl Files {
    fn of(&self, ticket: &TicketId) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(ticket).cloned()
    }

    /// The ticket that lives in the file, else the one that its name says.
    fn ticket(&self, path: &Path) -> TicketId {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = known.iter().find(|(_, known)| *known == path).map(|(id, _)| id.clone());
        id.unwrap_or_else(|| TicketId::from_file_name(&path.file_stem().unwrap_or_default().to_string_lossy()))
    }

    fn learn(&self, ticket: &TicketId, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ticket.clone(), path.to_owned());
    }
}

struct Service {
    store: Store,
    clock: Arc<dyn Clock>,
    policy_engines: PolicyEngines,
    places: Places,
    config_folder: Option<PathBuf>,
    passphrases: Option<Passphrases>,
    supervisor: Supervisor,
    reporter: Reporter,
    files: Files,
    runs: watch::Sender<Runs>,
    /// Tickets that were started again while their last run was being cleared away, and who is to be answered.
    again: BTreeMap<TicketId, oneshot::Sender<Reply>>,
    /// Follows the files of listed tickets.
    watch: Option<FileWatch>,
}

impl Service {
    async fn work(mut self, mut asks: mpsc::Receiver<Asked>, mut endings: mpsc::UnboundedReceiver<Ended>) {
        loop {
            tokio::select! {
                biased;
                Some((ticket, reason)) = endings.recv() => self.ended(&ticket, reason),
                asked = asks.recv() => match asked {
                    Some((request, by, reply)) => self.answer(request, by, reply).await,
                    None => break,
                },
            }
        }
    }

    async fn answer(&mut self, request: Request, by: Answerer, reply: oneshot::Sender<Reply>) {
        let replied = match request {
            Request::ListTickets => self.list(),
            Request::Open(name) => match tickets::find(&name, &self.places) {
                Ok(path) => return self.start(self.files.ticket(&path), &path, reply),
                Err(error) => refused(&TicketId::from_file_name(&name), error.to_string(), 2),
            },
            Request::Start(ticket) => match self.files.of(&ticket) {
                Some(path) => return self.start(ticket, &path, reply),
                None => unknown(&ticket),
            },
            Request::Resume(run) => self.resume(run.as_deref()),
            Request::Command(ticket, command) => {
                match self.supervisor.command(&ticket, by.clone(), command.clone()).await {
                    Some(decided) => {
                        // Where the run ends before it has decided, that is news.
                        let replied =
                            async move { decided.await.map_or(Reply::Done, |()| Reply::Decided { ticket, command }) };
                        tokio::spawn(async move { reply.send(replied.await) });
                        return;
                    }
                    None => self.command(&ticket, by, command).await,
                }
            }
            Request::LookUpPassphrase { ticket, id } => {
                return self.passphrase(ticket, id, reply, |passphrases| passphrases.standing(boot_time()));
            }
            Request::TryPassphrase { ticket, id, secret } => {
                let unlock = self.supervisor.unlocks(&ticket, id.clone(), by);
                return self.passphrase(ticket, id, reply, move |passphrases| {
                    let checked = passphrases.check(&secret, boot_time())?;
                    if checked == Checked::Right
                        && let Some(unlock) = unlock
                    {
                        unlock();
                    }
                    Ok(checked)
                });
            }
            Request::SaveRule { ticket, id, rules, before } => {
                return self.save_rule(ticket, (id, by), rules, before, reply);
            }
            Request::Close(how) => self.close(how, &by).await,
        };
        let _ = reply.send(replied);
    }

    fn ended(&mut self, ticket: &TicketId, reason: Option<ExitReason>) {
        self.supervisor.forget(ticket);
        self.outcome(ticket, reason.map_or(1, ExitReason::exit_code));
        if let Some(reply) = self.again.remove(ticket)
            && let Some(path) = self.files.of(ticket)
        {
            self.start(ticket.clone(), &path, reply);
        }
    }

    /// Says how a ticket came out, and how many runs are open.
    fn outcome(&self, ticket: &TicketId, code: u8) {
        let open = self.supervisor.open_tickets().count();
        self.runs.send_modify(|runs| {
            runs.open = open;
            runs.codes.insert(ticket.clone(), code);
        });
    }

    fn count(&self) {
        self.runs.send_modify(|runs| runs.open = self.supervisor.open_tickets().count());
    }

    /// Tells about every ticket of the tickets folder.
    fn list(&mut self) -> Reply {
        for listed in tickets::list(&self.places.dir()).unwrap_or_default() {
            if let Ok(ticket) = listed.ticket {
                self.files.learn(&ticket.id, &listed.path);
                if let Some(Err(error)) = self.watch.as_mut().map(|watch| watch.add(&listed.path)) {
                    tracing::warn!(%error, "a ticket cannot be watched");
                }
                self.reporter.tell(&News::TicketRead(Arc::new(ticket)));
            }
        }
        Reply::Done
    }

    fn start(&mut self, ticket: TicketId, path: &Path, reply: oneshot::Sender<Reply>) {
        if self.supervisor.is_ending(&ticket) {
            self.again.insert(ticket, reply);
            return;
        }
        let replied = if self.supervisor.open_tickets().any(|open| *open == ticket) {
            // Nothing failed: the run is at work in its tab.
            self.reporter.trouble(&ticket, "is open already");
            Reply::Done
        } else {
            match self.supervisor.open(path, &self.places.folder) {
                Ok(ticket) => {
                    self.files.learn(&ticket, path);
                    self.count();
                    Reply::Done
                }
                Err(error) => self.not_opened(ticket, path, &error),
            }
        };
        let _ = reply.send(replied);
    }

    /// Says why a ticket cannot be worked on. Where its breaker is open, the run that opened it is shown: what it
    /// counted, and the key that closes it, are about that one.
    fn not_opened(&self, mut id: TicketId, path: &Path, error: &OpenError) -> Reply {
        if let OpenError::CircuitOpen { ticket, .. } = error {
            self.files.learn(ticket, path);
            if let Err(trouble) = self.show_latest(ticket, path) {
                self.reporter.trouble(ticket, &trouble.to_string());
            }
            id = ticket.clone();
        }
        self.outcome(&id, error.exit_code());
        refused(&id, error.to_string(), error.exit_code())
    }

    fn show_latest(&self, ticket: &TicketId, path: &Path) -> Result<(), StoreError> {
        if let Some(latest) = self.store.latest_for(&real(path).display().to_string())? {
            let (run, earlier) = (latest.run, self.store.load(latest.run)?.records.last().map_or(0, |last| last.seq));
            self.reporter.opened(run, ticket, earlier, Arc::new(self.store.scrollback(run, classify)?));
        }
        Ok(())
    }

    fn resume(&mut self, run: Option<&str>) -> Reply {
        let (ticket, path) = match self.supervisor.resume(run, &self.places.folder) {
            Ok(resumed) => resumed,
            Err(error) => {
                return refused(&TicketId::from_file_name(run.unwrap_or("run")), error.to_string(), error.exit_code());
            }
        };
        self.files.learn(&ticket, &path);
        self.count();
        Reply::Done
    }

    /// To a ticket whose run has ended.
    async fn command(&self, ticket: &TicketId, by: Answerer, command: UserCommand) -> Reply {
        match (command, self.files.of(ticket)) {
            (UserCommand::ResetBreaker | UserCommand::TickPhase { .. }, None) => unknown(ticket),
            (UserCommand::ResetBreaker, Some(path)) => self.reset(ticket, &real(&path), by).await,
            (UserCommand::TickPhase { phase }, Some(path)) => self.tick(ticket, &real(&path), phase, by).await,
            _ => refused(ticket, "the run has already ended".to_owned(), 0),
        }
    }

    async fn close(&mut self, how: Closing, by: &Answerer) -> Reply {
        // What was to begin again would be open when everything has ended.
        for (ticket, reply) in std::mem::take(&mut self.again) {
            let _ = reply.send(refused(&ticket, "all runs are being ended".to_owned(), 0));
        }
        match how {
            Closing::AfterIteration => self.supervisor.command_all(by, &UserCommand::FinishAndStop).await,
            Closing::Now => self.supervisor.command_all(by, &UserCommand::Stop).await,
            Closing::Abandon => {
                self.supervisor.abandon().await;
                self.count();
            }
        }
        Reply::Done
    }

    /// Closes the breaker of a ticket whose run has ended.
    async fn reset(&self, ticket: &TicketId, path: &Path, by: Answerer) -> Reply {
        match offline::reset_breaker(&self.store, &*self.clock, path, by).await {
            Ok(all) => all.into_iter().for_each(|stored| self.reporter.recorded(stored)),
            Err(error) => return refused(ticket, error.to_string(), error.exit_code()),
        }
        Reply::Done
    }

    /// Ticks a phase of a ticket whose run has ended.
    async fn tick(&self, ticket: &TicketId, path: &Path, phase: PhaseId, by: Answerer) -> Reply {
        match ticking::tick(&self.store, &*self.clock, path, phase, by).await {
            Ok(ticking::Outcome::Done(all)) => all.into_iter().for_each(|stored| self.reporter.recorded(stored)),
            Ok(ticking::Outcome::NotWritten(why)) => self.reporter.trouble(ticket, &why),
            Ok(ticking::Outcome::NotTaken { holder } | ticking::Outcome::Unknown { holder }) => {
                self.reporter.trouble(ticket, &format!("not ticked: {holder} is running it and did not respond"));
            }
            Ok(ticking::Outcome::Already | ticking::Outcome::Handed { .. }) => {}
            Err(error) => return refused(ticket, error.to_string(), error.exit_code()),
        }
        Reply::Done
    }
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn refused(ticket: &TicketId, message: String, exit_code: u8) -> Reply {
    Reply::Refused(Refused { ticket: ticket.clone(), message, exit_code })
}

fn unknown(ticket: &TicketId) -> Reply {
    refused(ticket, format!("no ticket file is known for {ticket}"), 1)
}
