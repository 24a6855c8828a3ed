//! The one service behind all front ends: answers what they [ask](Request), tells them the news, and knows when all runs
//! have ended. It works in a task of its own, one request after the other; what takes long is answered when it is done.

mod card;
mod changes;
mod files;
mod listing;
mod opening;

use self::files::Files;
use crate::adapters::checks;
use crate::adapters::clock::boot_time;
use crate::adapters::file_watch::FileWatch;
use crate::adapters::passphrase::Passphrases;
use crate::adapters::store::Store;
use crate::adapters::tickets::{self, Places};
use crate::base::id::TicketId;
use crate::base::time::Clock;
use crate::domain::answerer::Answerer;
use crate::domain::approval::Presence;
use crate::domain::command::UserCommand;
use crate::domain::outcome::ExitReason;
use crate::domain::passphrase::Checked;
use crate::domain::request::{BoxOutcome, Closing, Refused, Reply, Request};
use crate::runtime::channels;
use crate::runtime::offline::Offline;
use crate::runtime::others::Others;
use crate::runtime::policy_engine::PolicyEngines;
use crate::runtime::reporter::{Reporter, Subscription};
use crate::runtime::supervisor::{Ended, OpenError, Opener, Opening, Rules, Supervisor};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{self, JoinSet};

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
    /// Whom new tickets are for.
    pub user: Option<String>,
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

impl App {
    /// Begins to work.
    pub fn start(parts: Parts) -> Self {
        let Parts { store, clock, rules, policy_engines, places, config_folder, passphrases, user } = parts;
        let (asked, asks) = mpsc::channel(channels::ASKS);
        let (ended, endings) = mpsc::unbounded_channel();
        let (told, runs) = watch::channel(Runs::default());
        let (reporter, files) = (Reporter::new(store.clone()), Files::default());
        let supervisor = Supervisor::new(store.clone(), clock.clone(), reporter.clone(), ended);
        let opener = Opener { store: store.clone(), clock: clock.clone(), rules, gates: policy_engines.gates() };
        let service = Service {
            opener,
            opening: JoinSet::new(),
            waiting: HashMap::new(),
            offline: Offline { store: store.clone(), clock, reporter: reporter.clone(), turn: Arc::default() },
            others: Others::new(store.clone(), reporter.clone()),
            policy_engines,
            places,
            config_folder,
            passphrases,
            user,
            supervisor,
            reporter: reporter.clone(),
            files: files.clone(),
            runs: told,
            later: BTreeMap::new(),
            watch: Arc::default(),
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

    pub fn file_of(&self, ticket: &TicketId) -> Option<PathBuf> {
        self.files.of(ticket)
    }
}

/// Who waits for a run to be opened.
struct Waiting {
    /// As far as it is known.
    ticket: TicketId,
    path: Option<PathBuf>,
    /// What the person typed for it.
    asked: Option<String>,
    reply: oneshot::Sender<Reply>,
}

struct Service {
    others: Others,
    offline: Offline,
    policy_engines: PolicyEngines,
    places: Places,
    config_folder: Option<PathBuf>,
    passphrases: Option<Passphrases>,
    user: Option<String>,
    supervisor: Supervisor,
    opener: Opener,
    /// Runs that are being opened, and who waits for each.
    opening: JoinSet<Result<Opening, OpenError>>,
    waiting: HashMap<task::Id, Waiting>,
    reporter: Reporter,
    files: Files,
    runs: watch::Sender<Runs>,
    /// What was asked of a run that had ended, while what it left was being cleared away: asked again then.
    later: BTreeMap<TicketId, Vec<Asked>>,
    /// Follows the files of listed tickets.
    watch: Arc<Mutex<Option<FileWatch>>>,
}

impl Service {
    async fn work(mut self, mut asks: mpsc::Receiver<Asked>, mut endings: mpsc::UnboundedReceiver<Ended>) {
        loop {
            tokio::select! {
                biased;
                Some((ticket, reason)) = endings.recv() => self.ended(&ticket, reason).await,
                Some(opened) = self.opening.join_next_with_id() => self.opened(opened),
                asked = asks.recv() => match asked {
                    Some((request, by, reply)) => self.answer(request, by, reply).await,
                    None => break,
                },
            }
        }
    }

    async fn answer(&mut self, request: Request, by: Answerer, reply: oneshot::Sender<Reply>) {
        let replied = match request {
            Request::ListTickets => return self.list(reply),
            Request::Show(run) => self.show(run),
            Request::SuggestChecks => Reply::Checks(checks::usual(&self.places.folder)),
            Request::Create(draft) => Reply::Created(self.create(&draft)),
            Request::Open(name) => match tickets::find(&name, &self.places) {
                Ok(path) => return self.start(self.files.ticket(&path), path, Some(name), (by, reply)),
                Err(error) => {
                    let ticket = TicketId::from_file_name(&name);
                    Reply::Refused(Refused { ticket, message: error.to_string(), exit_code: 2, asked: Some(name) })
                }
            },
            Request::Start(ticket) => match self.files.of(&ticket) {
                Some(path) => return self.start(ticket, path, None, (by, reply)),
                None => unknown(&ticket),
            },
            Request::Resume(run) => return self.resume(run, reply),
            Request::Command(ticket, command) => {
                match self.supervisor.command(&ticket, by.clone(), command.clone()).await {
                    Some(decided) => {
                        // Where the run ends before it has decided, that is news.
                        let replied =
                            async move { decided.await.map_or(Reply::Done, |()| Reply::Decided { ticket, command }) };
                        tokio::spawn(async move { reply.send(replied.await) });
                        return;
                    }
                    None if self.supervisor.is_open(&ticket) => {
                        let asked = (Request::Command(ticket.clone(), command), by, reply);
                        return self.later.entry(ticket).or_default().push(asked);
                    }
                    None => return self.command(ticket, by, command, reply),
                }
            }
            Request::SetBox(path, wanted) => {
                let (ticket, offline) = (self.files.ticket(&path), self.offline.clone());
                let work = async move { offline.set_box(&path, &wanted, by).await.map(Reply::BoxSet) };
                return beside(ticket, reply, work);
            }
            Request::ResetBreaker(path) => {
                let (ticket, offline) = (self.files.ticket(&path), self.offline.clone());
                let reset = async move { offline.reset_breaker(&path, by).await };
                return beside(ticket, reply, async { Ok(Reply::Reset { changed: reset.await? }) });
            }
            Request::ResetSessions(path) => {
                let (ticket, offline) = (self.files.ticket(&path), self.offline.clone());
                let reset = async move { offline.reset_sessions(&path, &by).await };
                return beside(ticket, reply, async { Ok(Reply::Reset { changed: reset.await? }) });
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
            Request::Changes(run, since) => return self.changes(run, since, reply),
            Request::Diff(run, since, path) => return self.diff(run, since, path, reply),
            Request::Close(how) => self.close(how, &by).await,
        };
        let _ = reply.send(replied);
    }

    async fn ended(&mut self, ticket: &TicketId, reason: Option<ExitReason>) {
        self.supervisor.forget(ticket);
        self.outcome(ticket, reason.map_or(1, ExitReason::exit_code));
        for (request, by, reply) in self.later.remove(ticket).unwrap_or_default() {
            self.answer(request, by, reply).await;
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

    /// To a ticket whose run is not open.
    fn command(&self, ticket: TicketId, by: Answerer, command: UserCommand, reply: oneshot::Sender<Reply>) {
        if self.waiting.values().any(|waiting| waiting.ticket == ticket) {
            return drop(reply.send(refused(&ticket, "the run is being opened; try again".to_owned(), 0)));
        }
        // The number of a phase is that of the run which the person looks at, whatever another program has run since.
        let known = self.files.of(&ticket).map(|path| real(&path)).zip(self.reporter.run_of(&ticket));
        let offline = self.offline.clone();
        match (command, known) {
            (UserCommand::ResetBreaker | UserCommand::TickPhase { .. }, None) => drop(reply.send(unknown(&ticket))),
            (UserCommand::ResetBreaker, Some((path, _))) => {
                beside(ticket.clone(), reply, async move {
                    if offline.reset_breaker(&path, by).await? {
                        return Ok(Reply::Done);
                    }
                    // Another program has closed it since this one read its journal.
                    offline.show_latest(&ticket, &path)?;
                    Ok(refused(&ticket, format!("the circuit breaker of {ticket} is already closed"), 0))
                });
            }
            (UserCommand::TickPhase { phase }, Some((path, run))) => beside(ticket.clone(), reply, async move {
                match offline.tick(&path, run, phase, by).await? {
                    BoxOutcome::NotWritten(why) => offline.reporter.trouble(&ticket, &why),
                    BoxOutcome::NotTaken { holder } => offline
                        .reporter
                        .trouble(&ticket, &format!("not ticked: {holder} is running it and did not respond")),
                    BoxOutcome::Unknown { holder } => {
                        let why =
                            format!("not ticked: {holder} is running it and has not seen the phase yet; try again");
                        offline.reporter.trouble(&ticket, &why);
                    }
                    BoxOutcome::Done | BoxOutcome::Already | BoxOutcome::Handed { .. } => {}
                }
                Ok(Reply::Done)
            }),
            _ => drop(reply.send(refused(&ticket, "the run has already ended".to_owned(), 0))),
        }
    }

    async fn close(&mut self, how: Closing, by: &Answerer) -> Reply {
        // What was to begin would be open when everything has ended: it is stopped before it begins.
        let mut stopped: Vec<_> =
            std::mem::take(&mut self.waiting).into_values().map(|at| (at.ticket, at.reply)).collect();
        for (ticket, asked) in &mut self.later {
            let starts = asked.extract_if(.., |(request, ..)| matches!(request, Request::Start(_) | Request::Open(_)));
            stopped.extend(starts.map(|(_, _, reply)| (ticket.clone(), reply)));
        }
        for (ticket, reply) in stopped {
            self.outcome(&ticket, ExitReason::UserStopped.exit_code());
            let words = "programmator is shutting down; nothing new is started";
            let _ = reply.send(refused(&ticket, words.to_owned(), 0));
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
}

/// Does what may wait for another program, and answers then.
fn beside(
    ticket: TicketId,
    reply: oneshot::Sender<Reply>,
    work: impl Future<Output = Result<Reply, OpenError>> + Send + 'static,
) {
    tokio::spawn(async move {
        let replied = work.await.unwrap_or_else(|error| refused(&ticket, error.to_string(), error.exit_code()));
        reply.send(replied)
    });
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn refused(ticket: &TicketId, message: String, exit_code: u8) -> Reply {
    Reply::Refused(Refused { ticket: ticket.clone(), message, exit_code, asked: None })
}

fn unknown(ticket: &TicketId) -> Reply {
    refused(ticket, format!("no ticket file is known for {ticket}"), 1)
}
