//! Telling front ends the news. Any number of them listen; each has a list of its own that holds what it has not taken
//! yet, so that nobody waits for a front end. What becomes of a piece of news when a list is full says
//! [`channels::kept`].

use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::approval::Presence;
use crate::domain::news::{News, RunLeft, StorageAwaited};
use crate::domain::record::Stored;
use crate::domain::scrollback::Scrollback;
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::runtime::channels::{self, About, Kept, kept};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// A run that could not be read is tried again after this time.
const AGAIN: Duration = Duration::from_secs(1);

/// Tells the news to whoever listens.
#[derive(Clone)]
pub struct Reporter {
    store: Store,
    told: Arc<Mutex<Told>>,
}

/// Who listens, and what one who comes later must know.
#[derive(Default)]
struct Told {
    listeners: Vec<Weak<Listener>>,
    runs: BTreeMap<RunId, Opened>,
    /// Those of them that cannot store now.
    waiting: BTreeMap<RunId, StorageAwaited>,
    /// Those that were left without a last record: the store does not say so.
    left: BTreeMap<RunId, RunLeft>,
}

#[derive(Clone)]
struct Opened {
    ticket: TicketKey,
    /// The last record of before.
    earlier: u64,
    /// What Claude prints in it.
    scrollback: Arc<dyn Scrollback>,
    owner: Owner,
}

/// One front end.
struct Listener {
    presence: Presence,
    /// When the person last touched it, in milliseconds since the epoch.
    touched: AtomicI64,
    untaken: Mutex<Untaken>,
    woken: Notify,
}

/// What a front end has not taken yet.
#[derive(Default)]
struct Untaken {
    news: VecDeque<Next>,
    /// Tickets that the list has something about, and runs of which it has how they stand.
    tickets: HashSet<TicketKey>,
    standing: HashSet<RunId>,
    /// Runs that stand as [`Next::Whole`] in the list: their records are not listed as well.
    whole: BTreeSet<RunId>,
    /// Runs that could not be read: they are with their next record, or [later](AGAIN).
    unread: BTreeSet<RunId>,
    /// When they are.
    again: Option<Instant>,
    /// Runs in which Claude has printed something.
    grown: BTreeSet<RunId>,
}

enum Next {
    News(News),
    /// Everything about the run, read from the store when it is taken.
    Whole(RunId),
}

impl Reporter {
    /// Nobody listens yet. `store` has the records.
    pub fn new(store: Store) -> Self {
        Self { store, told: Arc::default() }
    }

    /// What a front end hears from now on, of the runs of this program everything. `presence`: whether a person can answer there.
    pub fn subscribe(&self, presence: Presence) -> Subscription {
        let (touched, untaken, woken) = (AtomicI64::default(), Mutex::default(), Notify::new());
        let listener = Arc::new(Listener { presence, touched, untaken, woken });
        let mut told = lock(&self.told);
        for run in told.runs.keys() {
            listener.whole(*run);
        }
        for waiting in told.waiting.values() {
            listener.tell(&News::StorageAwaited(waiting.clone()));
        }
        for left in told.left.values() {
            listener.tell(&News::RunLeft(left.clone()));
        }
        told.listeners.push(Arc::downgrade(&listener));
        Subscription { listener, reporter: self.clone() }
    }

    /// Whether anybody can be asked now: some front end listens at which a person can answer.
    pub fn presence(&self) -> Presence {
        let attended = self.listeners().iter().any(|listener| listener.presence == Presence::Screen);
        if attended { Presence::Screen } else { Presence::Nobody }
    }

    /// When a person last touched a front end; the epoch when none has.
    pub fn last_touched(&self) -> Timestamp {
        let touched = self.listeners().iter().map(|listener| listener.touched.load(Ordering::Relaxed)).max();
        Timestamp::from_millis(touched.unwrap_or_default())
    }

    pub fn tell(&self, news: &News) {
        for listener in self.listeners() {
            listener.tell(news);
        }
    }

    pub fn recorded(&self, stored: Arc<Stored>) {
        lock(&self.told).waiting.remove(&stored.run);
        self.tell(&News::Recorded(stored));
    }

    /// Tells about trouble of ours that is being tried again.
    pub fn trouble(&self, ticket: &TicketKey, message: &str) {
        tracing::warn!(%ticket, message, "told to the person");
        self.tell(&News::Trouble { ticket: ticket.clone(), message: message.to_owned() });
    }

    /// Tells that a run waits because it cannot store.
    pub fn storage_awaited(&self, waiting: StorageAwaited) {
        lock(&self.told).waiting.insert(waiting.run, waiting.clone());
        self.tell(&News::StorageAwaited(waiting));
    }

    /// Tells that a run was left without a last record.
    pub fn left(&self, left: RunLeft) {
        {
            let mut told = lock(&self.told);
            told.waiting.remove(&left.run);
            told.left.insert(left.run, left.clone());
        }
        self.tell(&News::RunLeft(left));
    }

    /// Tells that a run is open, with all its records: `earlier` is the last one of before.
    pub fn opened(&self, run: RunId, ticket: &TicketKey, earlier: u64, scrollback: Arc<dyn Scrollback>) {
        lock(&self.told).left.remove(&run);
        self.tell_whole(run, Opened { ticket: ticket.clone(), earlier, scrollback, owner: Owner::Here });
    }

    /// Tells everything about a run that this program does not work on; no effect where it does.
    pub fn shown(
        &self,
        run: RunId,
        (ticket, owner): (TicketKey, Owner),
        earlier: u64,
        scrollback: Arc<dyn Scrollback>,
    ) {
        self.tell_whole(run, Opened { ticket, earlier, scrollback, owner });
    }

    fn tell_whole(&self, run: RunId, opened: Opened) {
        lock(&self.told).runs.insert(run, opened);
        for listener in self.listeners() {
            listener.whole(run);
        }
    }

    /// The run of the ticket that front ends were told of last.
    pub fn run_of(&self, ticket: &TicketKey) -> Option<RunId> {
        let told = lock(&self.told);
        told.runs.iter().rev().find(|(_, opened)| opened.ticket == *ticket).map(|(run, _)| *run)
    }

    /// This program works on the run.
    pub fn is_here(&self, run: RunId) -> bool {
        lock(&self.told).runs.get(&run).is_some_and(|opened| opened.owner == Owner::Here)
    }

    /// What Claude has printed in an open run.
    pub fn scrollback(&self, run: RunId) -> Option<Arc<dyn Scrollback>> {
        lock(&self.told).runs.get(&run).map(|opened| opened.scrollback.clone())
    }

    /// A callback for the drain: the scrollback of `run` grew.
    pub fn growth(&self, run: RunId) -> Box<dyn Fn() + Send + Sync> {
        let reporter = self.clone();
        Box::new(move || reporter.tell(&News::StreamGrew(run)))
    }

    fn listeners(&self) -> Vec<Arc<Listener>> {
        let mut told = lock(&self.told);
        told.listeners.retain(|listener| listener.strong_count() > 0);
        told.listeners.iter().filter_map(Weak::upgrade).collect()
    }

    fn whole(&self, run: RunId) -> Option<News> {
        let Opened { ticket, earlier, owner, .. } = lock(&self.told).runs.get(&run)?.clone();
        let records = self.store.load(run).ok()?.records;
        Some(News::RunOpened { ticket, run, earlier, records, owner })
    }
}

impl Listener {
    fn tell(&self, news: &News) {
        let mut untaken = lock(&self.untaken);
        let full = untaken.news.len() >= channels::NEWS;
        match kept(news) {
            Kept::Stored(run) if untaken.whole.contains(&run) => return untaken.can_store(run),
            Kept::Stored(run) if full || untaken.unread.contains(&run) => untaken.whole(run),
            Kept::Latest(About::Stream(run)) => drop(untaken.grown.insert(run)),
            Kept::Latest(about) => {
                // Ten thousand tickets and their runs are told of at once: only what is in the list is looked for there.
                let is_listed = match about {
                    About::Ticket(ticket) => !untaken.tickets.insert(ticket.clone()),
                    About::Run(run) => !untaken.standing.insert(run),
                    _ => true,
                };
                if is_listed {
                    untaken.news.retain(|next| !matches!(next, Next::News(old) if kept(old) == Kept::Latest(about)));
                }
                untaken.news.push_back(Next::News(news.clone()));
            }
            Kept::IfRoom if full => return,
            Kept::Stored(_) | Kept::Always | Kept::IfRoom => untaken.news.push_back(Next::News(news.clone())),
        }
        drop(untaken);
        self.woken.notify_one();
    }

    fn whole(&self, run: RunId) {
        lock(&self.untaken).whole(run);
        self.woken.notify_one();
    }
}

impl Untaken {
    /// That the run waits for storage is no longer so.
    fn can_store(&mut self, run: RunId) {
        let waits = |next: &Next| matches!(next, Next::News(News::StorageAwaited(waiting)) if waiting.run == run);
        self.news.retain(|next| !waits(next));
    }

    /// Lists again what could not be read, when it is time.
    fn read_again(&mut self) {
        if self.again.take_if(|again| *again <= Instant::now()).is_some() {
            for run in std::mem::take(&mut self.unread) {
                self.whole(run);
            }
        }
    }

    fn not_read(&mut self, run: RunId) {
        self.unread.insert(run);
        self.again = Some(Instant::now() + AGAIN);
    }

    fn whole(&mut self, run: RunId) {
        self.unread.remove(&run);
        if self.whole.insert(run) {
            self.news.push_back(Next::Whole(run));
        }
    }
}

/// A front end's ear. Dropped, it hears nothing more, and nobody counts on it.
pub struct Subscription {
    listener: Arc<Listener>,
    reporter: Reporter,
}

impl Subscription {
    /// The next piece of news. Nothing is lost when it is not waited for to the end.
    pub async fn next(&mut self) -> News {
        loop {
            if let Some(news) = self.try_next() {
                return news;
            }
            let again = lock(&self.listener.untaken).again;
            tokio::select! {
                () = self.listener.woken.notified() => {}
                () = async { sleep_until(again.unwrap_or_else(Instant::now)).await }, if again.is_some() => {}
            }
        }
    }

    pub fn try_next(&mut self) -> Option<News> {
        loop {
            let mut untaken = lock(&self.listener.untaken);
            untaken.read_again();
            let run = match untaken.news.pop_front() {
                Some(Next::News(news)) => {
                    match kept(&news) {
                        Kept::Latest(About::Ticket(ticket)) => drop(untaken.tickets.remove(ticket)),
                        Kept::Latest(About::Run(run)) => drop(untaken.standing.remove(&run)),
                        _ => {}
                    }
                    return Some(news);
                }
                Some(Next::Whole(run)) => run,
                None => return untaken.grown.pop_first().map(News::StreamGrew),
            };
            // Records that are told from here on are listed again, perhaps twice; none is missing.
            untaken.whole.remove(&run);
            drop(untaken);
            match self.reporter.whole(run) {
                Some(whole) => return Some(whole),
                None => lock(&self.listener.untaken).not_read(run),
            }
        }
    }

    /// The person touched this front end now.
    pub fn touched(&self, now: Timestamp) {
        self.listener.touched.store(now.millis(), Ordering::Relaxed);
    }

    /// When a person last touched any front end; the epoch when none has.
    pub fn last_touched(&self) -> Timestamp {
        self.reporter.last_touched()
    }

    /// What Claude has printed in an open run.
    pub fn scrollback(&self, run: RunId) -> Option<Arc<dyn Scrollback>> {
        self.reporter.scrollback(run)
    }
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
