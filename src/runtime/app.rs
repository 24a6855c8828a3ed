//! The one service behind all front ends: answers what they [ask](Request), tells them the news, and knows when all runs
//! have ended. It works in a task of its own, one request after the other; what takes long is answered when it is done.

mod beginning;
mod branch;
mod card;
mod changes;
mod closing;
mod commit;
mod ended;
mod export;
mod files;
mod find;
mod forking;
mod importing;
mod listing;
mod machines;
mod opening;
mod pruning;
pub mod queue;
mod refusals;
mod report;
mod runs;
mod starting;
mod stats;
mod tickets_of;
mod timeline;
mod turns;
mod wheel;

use self::branch::Branch;
use self::files::Files;
use self::queue::Queue;
use self::refusals::{not_decided, not_found, outcome, refused, unknown};
use self::runs::Runs;
use self::turns::Turns;
use crate::adapters::clock::boot_time;
use crate::adapters::file_watch::FileWatch;
use crate::adapters::passphrase::Passphrases;
use crate::adapters::store::Store;
use crate::adapters::tickets::{self, Places};
use crate::base::time::Clock;
use crate::domain::answerer::Answerer;
use crate::domain::approval::Presence;
use crate::domain::news::News;
use crate::domain::request::{Reply, Request};
use crate::domain::ticket::TicketKey;
use crate::runtime::channels;
use crate::runtime::commits::Commits;
use crate::runtime::export::stored::Secrets;
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
use tokio::time::{MissedTickBehavior, interval};

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
    /// The person's home.
    pub person_folder: Option<PathBuf>,
    /// Values that no export shows.
    pub secrets: Secrets,
    /// How many runs may be open at once (`None`: any number), and whether nothing more is started once a ticket has failed.
    pub max_parallel: Option<usize>,
    pub halts: bool,
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

impl App {
    /// Begins to work.
    pub fn start(parts: Parts) -> Self {
        let Parts {
            store,
            clock,
            rules,
            policy_engines,
            places,
            config_folder,
            passphrases,
            user,
            person_folder,
            secrets,
            max_parallel,
            halts,
        } = parts;
        let (asked, asks) = mpsc::channel(channels::ASKS);
        let (ended, endings) = mpsc::unbounded_channel();
        let (told, runs) = watch::channel(Runs::default());
        let (reporter, files) = (Reporter::new(store.clone()), Files::default());
        let supervisor = Supervisor::new(store.clone(), clock.clone(), reporter.clone(), ended);
        let gates = policy_engines.gates();
        let opener = Opener { store: store.clone(), clock: clock.clone(), rules, gates, config_folder };
        let offline =
            Offline { store: store.clone(), clock: clock.clone(), reporter: reporter.clone(), turn: Arc::default() };
        let tickets = tickets_of::tickets_of(&opener.rules, &places);
        let commits = Commits::new(&offline, tickets.clone());
        commits.recover_all();
        let service = Service {
            opener,
            opening: JoinSet::new(),
            waiting: HashMap::new(),
            offline,
            commits,
            tickets,
            others: Others::new(store.clone(), reporter.clone(), clock, &places.folder),
            branch: Branch::of(&places.folder),
            policy_engines,
            places,
            passphrases,
            user,
            person_folder,
            secrets,
            supervisor,
            reporter: reporter.clone(),
            files: files.clone(),
            runs: told,
            later: BTreeMap::new(),
            queue: Queue::of(max_parallel, halts),
            watch: Arc::default(),
            diffs: Turns::default(),
            finds: Turns::default(),
        };
        tokio::spawn(service.work(asks, endings));
        Self { asked, runs, reporter, files }
    }

    /// What is told from now on. `presence`: whether a person can answer there.
    pub fn subscribe(&self, presence: Presence) -> Subscription {
        self.reporter.subscribe(presence)
    }

    /// Tells all front ends.
    pub fn tell(&self, news: &News) {
        self.reporter.tell(news);
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

    /// Waits until no run is open and no commit or revert is being made. The exit code of the worst ticket, by how its last run here ended.
    pub async fn all_ended(&self) -> u8 {
        let mut runs = self.runs.clone();
        match runs
            .wait_for(|runs| runs.open == 0 && (runs.commits == 0 || runs.leaves_commits && runs.prepared == 0))
            .await
        {
            Ok(runs) => runs.codes.values().copied().max().unwrap_or(0),
            Err(_) => 1, // The service went down.
        }
    }

    /// Waits until nobody answers any more, which only a fault of ours does.
    pub async fn gone(&self) {
        self.asked.closed().await;
    }

    pub fn file_of(&self, ticket: &TicketKey) -> Option<PathBuf> {
        self.files.of(ticket)
    }
}

/// Who waits for a run to be opened.
struct Waiting {
    /// As far as it is known.
    ticket: TicketKey,
    path: Option<PathBuf>,
    /// What the person typed for it.
    asked: Option<String>,
    reply: Option<oneshot::Sender<Reply>>,
}

struct Service {
    others: Others,
    branch: Branch,
    offline: Offline,
    commits: Commits,
    tickets: crate::runtime::restoring::TicketsOf,
    policy_engines: PolicyEngines,
    places: Places,
    passphrases: Option<Passphrases>,
    user: Option<String>,
    person_folder: Option<PathBuf>,
    secrets: Secrets,
    supervisor: Supervisor,
    opener: Opener,
    /// Runs that are being opened, and who waits for each.
    opening: JoinSet<Result<Opening, OpenError>>,
    waiting: HashMap<task::Id, Waiting>,
    reporter: Reporter,
    files: Files,
    runs: watch::Sender<Runs>,
    /// What was asked of a run that was being opened, or had ended while what it left was being cleared away: asked again then.
    later: BTreeMap<TicketKey, Vec<Asked>>,
    queue: Queue,
    /// Follows the files of listed tickets.
    watch: Arc<Mutex<Option<FileWatch>>>,
    diffs: Turns,
    finds: Turns,
}

impl Service {
    async fn work(mut self, mut asks: mpsc::Receiver<Asked>, mut endings: mpsc::UnboundedReceiver<Ended>) {
        let mut looks = interval(queue::LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                Some((ticket, reason)) = endings.recv() => self.ended(&ticket, reason).await,
                Some(opened) = self.opening.join_next_with_id() => self.opened(opened).await,
                // Before what is asked: a front end that asks all the time does not keep it from happening.
                _ = looks.tick(), if self.queue.len() > 0 => self.pump(),
                asked = asks.recv() => match asked {
                    Some((request, by, reply)) => self.answer(request, by, reply).await,
                    None => break,
                },
            }
        }
    }

    async fn answer(&mut self, request: Request, by: Answerer, reply: oneshot::Sender<Reply>) {
        let replied = match request {
            Request::ListTickets => {
                self.branch.follow(&self.reporter);
                return self.list(reply);
            }
            Request::Diagnose => return self.diagnose(reply),
            Request::Show(run) => self.show(run),
            Request::Suggest => self.suggest(),
            Request::Archive(tickets, archived) => self.archive(&tickets, archived),
            Request::Create(draft) => Reply::Created(self.create(&draft)),
            Request::Open(name) => match tickets::find(&name, &self.places) {
                Ok(path) => return self.start(self.files.ticket(&path), path, Some(name), (by, reply)),
                Err(error) => not_found(name, &error),
            },
            Request::Chat(wanted) => return self.chat(wanted, by, reply),
            Request::Plan(name, asked) => match tickets::find(&name, &self.places) {
                Ok(path) => return self.plan(path, name, asked, (by, reply)),
                Err(error) => not_found(name, &error),
            },
            Request::Start(ticket) => match self.files.of(&ticket) {
                Some(path) => return self.start(ticket, path, None, (by, reply)),
                None => unknown(&ticket),
            },
            Request::Resolve(ticket) => match self.files.of(&ticket) {
                Some(path) => return self.resolve(ticket, path, (by, reply)),
                None => unknown(&ticket),
            },
            Request::ResolveNamed(name) => match tickets::find(&name, &self.places) {
                Ok(path) => return self.resolve(self.files.ticket(&path), path, (by, reply)),
                Err(error) => not_found(name, &error),
            },
            Request::StartAll(names) => self.start_all(names),
            Request::Unqueue(tickets) => self.unqueue(&tickets),
            Request::Reopen(ticket) => {
                let Some(path) = self.files.of(&ticket) else { return drop(reply.send(unknown(&ticket))) };
                let offline = self.offline.clone();
                return beside(ticket.clone(), reply, async move {
                    let trouble = offline.reopen(&real(&path), &by).await?;
                    Ok(trouble.map_or_else(|| Reply::Reopened(ticket.clone()), |why| refused(&ticket, why, 1)))
                });
            }
            Request::Resume(run) => return self.resume(run, reply),
            Request::Command(ticket, command) => {
                match self.supervisor.command(&ticket, by.clone(), command.clone()).await {
                    Some(decided) => {
                        tokio::spawn(async move {
                            let is_decided = decided.await.is_ok();
                            reply.send(outcome(ticket, command, is_decided))
                        });
                        return;
                    }
                    None if self.supervisor.is_open(&ticket) || self.may_be_opening(&ticket) => {
                        let asked = (Request::Command(ticket.clone(), command), by, reply);
                        return self.later.entry(ticket).or_default().push(asked);
                    }
                    None => return self.command(ticket, by, command, reply),
                }
            }
            Request::SetBox(path, wanted) => {
                let (ticket, offline) = (self.files.ticket(&path), self.offline.clone());
                let work = async move { offline.set_box(&real(&path), &wanted, by).await.map(Reply::BoxSet) };
                return beside(ticket, reply, work);
            }
            Request::EditPhases(path, edit) => {
                let (ticket, offline) = (self.files.ticket(&path), self.offline.clone());
                return beside(ticket.clone(), reply, async move {
                    let (outcome, revised) = offline.edit(&ticket, &real(&path), &edit, by).await?;
                    Ok(Reply::PhasesEdited(ticket, outcome, revised.map(Box::new)))
                });
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
                    if checked == crate::domain::passphrase::Checked::Right
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
            Request::Revert(run, since, path, hunk) => return self.revert((run, since), (path, hunk), by, reply),
            Request::Timeline(run) => return self.timeline(run, reply),
            Request::PlanRestore(run, wanted) => return self.plan_restore(run, wanted, reply),
            Request::Restore(run, wanted, tree) => return self.restore((run, wanted), tree, by, reply),
            Request::Fork(run, snapshot, id) => return self.fork(run, (snapshot, id), reply),
            Request::PlanCommit(run) => return self.plan_commit(run, reply),
            Request::Export(wanted) => return self.export(wanted, reply),
            Request::Commit(run, agreed) => return self.commit(run, agreed, by, reply),
            Request::TakeWheel { run, ungated } => return self.take_wheel(run, ungated, by, reply),
            Request::InitGit => Reply::GitInitialised(self.init_git().await),
            Request::Find(find) => return self.find(find, reply),
            Request::Import(asked) => return self.import(asked, reply),
            Request::Machines => return self.machines(reply),
            Request::Stats => return self.stats(reply),
            Request::Report(since) => return self.report(since, reply),
            Request::LeaveCommits => self.leave_commits(),
            Request::Close(how) => self.close(how, &by).await,
        };
        let _ = reply.send(replied);
    }
}

/// Does what may wait for another program, and answers then.
fn beside(
    ticket: TicketKey,
    reply: oneshot::Sender<Reply>,
    work: impl Future<Output = Result<Reply, OpenError>> + Send + 'static,
) {
    tokio::spawn(async move {
        let replied = work.await.unwrap_or_else(|error| refused(&ticket, error.to_string(), error.exit_code()));
        reply.send(replied)
    });
}

/// The path without links, where it can be found.
pub fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
