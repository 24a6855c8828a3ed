//! The relay: asks on the phone what runs ask, whichever program works on them, and says the answers to those programs.
//!
//! It holds nothing that matters: what waits and what became of it are in the store, so a relay that is killed, late or
//! offline loses nothing, and of two answers the first that is recorded counts, wherever it was given.

mod answers;
mod asking;
mod burst;
mod commands;
mod ends;
mod follow;
mod notices;
mod obey;
mod resuming;
mod steering;
mod subject;
mod turns;
mod words;

use self::answers::Settled;
use self::subject::is;
use self::turns::{Turn, Turns};
use self::words::fit;
use super::kept::{Kept, Over};
use super::message;
use super::scope::Scope;
use super::sent::{Sender, SentLog};
use crate::adapters::store::Store;
use crate::adapters::telegram::pairing::{Detail, Pairing};
use crate::adapters::telegram::update::Update;
use crate::adapters::telegram::{Bot, BotError};
use crate::base::id::RunId;
use crate::base::id::TicketId;
use crate::base::time::{Clock, Timestamp};
use crate::cli::answer::{Found, look};
use crate::cli::ended::settle::Answering;
use crate::cli::error::CliError;
use crate::cli::queue::{Folds, Waiting};
use crate::config::away::AwayConfig;
use crate::runtime::shutdown::Signals;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the store is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long Telegram waits for a message before it says that there is none.
const POLL: Duration = Duration::from_secs(25);
/// After so many refusals in a row another program has the bot.
const CONFLICTS: u32 = 3;
/// How long what it does for the person may still take when it is to end; and then how long the person is told that it may not
/// be done.
const LEAVING: Duration = Duration::from_secs(2);
/// The longest pause after an error.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// What was written so long before the relay heard it is not obeyed.
const STALE: Duration = Duration::from_secs(300);
/// How exactly it is kept when messages were heard last.
const MINUTE: Duration = Duration::from_secs(60);

/// What the relay works with.
pub struct Relay {
    bot: Arc<Bot>,
    chat: i64,
    pairing: Pairing,
    settings: AwayConfig,
    store: Store,
    kept: Kept,
    /// What waits, as far as it is folded.
    folds: Folds,
    clock: Arc<dyn Clock>,
    /// Everything that is sent.
    log: SentLog,
    /// What is sent now makes no sound.
    is_hushed: bool,
    /// Of the runs of which no end is to be told: when their records had last changed when that was looked up.
    told: BTreeMap<RunId, Timestamp>,
    /// Nothing is sent before this.
    pause_until: Timestamp,
    pause: Duration,
    report: Report,
    turns: Turns,
    /// What is done beside everything else, and that there is no more time for it.
    tasks: TaskTracker,
    leaving: CancellationToken,
    /// The messages whose decisions are being made, and where what came of them is heard.
    deciding: Vec<i64>,
    decided: mpsc::UnboundedSender<Settled>,
    settled: mpsc::UnboundedReceiver<Settled>,
}

/// Writes what was done lately.
pub type Report = Arc<dyn Fn() -> Result<String, CliError> + Send + Sync>;

/// What is said to what the person has written: at once, or once that is known, beside everything else.
enum Said {
    Now(String),
    /// In its turn, if it has one.
    Later(Option<Turn>, Pin<Box<dyn Future<Output = String> + Send>>),
}

impl Said {
    fn beside(words: impl Future<Output = String> + Send + 'static) -> Self {
        Self::Later(None, Box::pin(words))
    }

    fn in_turn(turn: Turn, words: impl Future<Output = String> + Send + 'static) -> Self {
        Self::Later(Some(turn), Box::pin(words))
    }
}

/// To what the person has written something is said: the press of a button, or a message.
struct To {
    about: Option<TicketId>,
    press: Option<String>,
    message: Option<i64>,
}

/// What the thread that asks for messages has heard, and where it says what was made of it.
type Heard = (Result<Vec<Update>, BotError>, oneshot::Sender<i64>);

impl Relay {
    /// A relay for the runs of this store.
    pub fn new(pairing: Pairing, settings: AwayConfig, store: Store, clock: Arc<dyn Clock>, report: Report) -> Self {
        let mut kept = Kept::of(store.folder(), &pairing.bot, pairing.chat);
        let (bot, now) = (Arc::new(pairing.bot()), clock.now());
        let log = SentLog::of(store.folder(), Arc::clone(&clock));
        kept.since.get_or_insert(now);
        kept.stopped = None;
        let (decided, settled) = mpsc::unbounded_channel();
        Self {
            bot,
            chat: pairing.chat,
            pairing,
            settings,
            store,
            kept,
            folds: Folds::default(),
            clock,
            log,
            is_hushed: false,
            told: BTreeMap::new(),
            pause_until: now,
            pause: Duration::ZERO,
            report,
            turns: Turns::default(),
            tasks: TaskTracker::new(),
            leaving: CancellationToken::new(),
            deciding: Vec::new(),
            decided,
            settled,
        }
    }

    /// Asks and answers until a signal ends it, or Telegram will not have it any more. What was heard until then is done, or the
    /// person is told that it may not be: Telegram gives no message twice.
    pub async fn run(mut self) -> Result<(), CliError> {
        let ended = self.relay().await;
        self.tasks.close();
        if timeout(LEAVING, self.tasks.wait()).await.is_err() {
            self.leaving.cancel();
            let _ = timeout(LEAVING, self.tasks.wait()).await;
        }
        ended
    }

    async fn relay(&mut self) -> Result<(), CliError> {
        let mut signals = Signals::listen()?;
        let (say, mut heard) = mpsc::channel::<Heard>(1);
        let (bot, offset) = (Arc::clone(&self.bot), self.kept.offset);
        std::thread::Builder::new().name("telegram".to_owned()).spawn(move || listen(&bot, offset, &say))?;
        self.catch_up();
        let mut conflicts = 0;
        // However much is written to the bot, the runs are looked at.
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some((updates, done)) = heard.recv() => match updates {
                    Ok(updates) => {
                        conflicts = 0;
                        let now = self.clock.now();
                        let is_late = self.kept.heard.is_some_and(|heard| now.since(heard) > STALE);
                        for update in updates {
                            // Known to be heard before it is obeyed: a relay that is killed here obeys nothing twice.
                            self.kept.offset = self.kept.offset.max(update.update_id + 1);
                            self.keep();
                            self.hear(&update, is_late).await;
                        }
                        if self.kept.heard.is_none_or(|heard| now.since(heard) > MINUTE) {
                            self.kept.heard = Some(now);
                        }
                        self.keep();
                        let _ = done.send(self.kept.offset);
                    }
                    Err(error) => {
                        conflicts = if error == BotError::Conflict { conflicts + 1 } else { 0 };
                        if conflicts >= CONFLICTS || error == BotError::Unauthorized {
                            return Err(self.stopped(error).await);
                        }
                        tracing::warn!(%error, "the phone's messages could not be fetched");
                        let _ = done.send(self.kept.offset);
                    }
                },
                // Only between two things: what is being heard is heard to its end.
                signal = signals.next() => {
                    tracing::info!(code = signal.exit_code(), "the phone is off");
                    return Ok(());
                }
                Some(settled) = self.settled.recv() => self.settle(settled),
                _ = looks.tick() => if let Err(error) = self.look().await {
                    return Err(self.stopped(error).await);
                },
            }
        }
    }

    /// What came of a decision of the person's.
    fn settle(&mut self, (message, over): Settled) {
        if let Some(at) = self.deciding.iter().position(|deciding| *deciding == message) {
            self.deciding.swap_remove(at);
        }
        if let (Some(over), Some(asked)) = (over, self.kept.asked.iter_mut().find(|asked| asked.message == message)) {
            asked.end.get_or_insert(over);
        }
    }

    /// Does beside everything else what was answered to ends before it began. What comes to nothing is told.
    fn catch_up(&self) {
        let answering = Answering { store: self.store.clone(), clock: Arc::clone(&self.clock) };
        let (bot, chat, log) = (Arc::clone(&self.bot), self.chat, self.log.clone());
        let folder = self.store.folder().to_owned();
        tokio::spawn(async move {
            let failed = answering.catch_up().await.unwrap_or_else(|error| {
                tracing::warn!(error = %error.message, "answers to ends of runs cannot be read");
                Vec::new()
            });
            let tell = move || {
                for (ticket, why) in failed {
                    tracing::warn!(%ticket, why, "an answer could not be carried out");
                    if Scope::read(&folder).has(&ticket) {
                        let words = fit(&format!("{ticket}: your answer had no effect: {why}"));
                        let sender = Sender { bot: &bot, log: &log, ticket: Some(ticket) };
                        let _ = sender.send(chat, &words, &[], None);
                    }
                }
            };
            let _ = spawn_blocking(tell).await;
        });
    }

    /// Says why it stops, also on the phone where that is still possible: nobody may be reading its words elsewhere.
    async fn stopped(&mut self, error: BotError) -> CliError {
        self.kept.stopped = Some(error.to_string());
        self.keep();
        let words = format!("The relay has stopped; no more questions will be sent: {error}");
        tracing::error!(%error, "phone notifications have stopped");
        let told = words.clone();
        let _ = self.with_bot(None, move |bot, chat| bot.send(chat, &fit(&told), &[], None)).await;
        CliError::failure(words)
    }

    /// Asks what is new, and tells what has come to its end. An error: it is of no use to go on.
    async fn look(&mut self) -> Result<(), BotError> {
        if self.clock.now() < self.pause_until {
            return Ok(());
        }
        let mut waits = match self.folds.waiting(&self.store) {
            Ok(waits) => waits,
            Err(error) => {
                tracing::warn!(error = %error.message, "open questions cannot be read");
                return Ok(());
            }
        };
        waits.retain(|one| !one.is_paused());
        self.close(&waits);
        let sent = self.send(&waits).await;
        self.keep();
        match sent {
            Ok(()) => self.pause = Duration::ZERO,
            Err(BotError::Unauthorized) => return Err(BotError::Unauthorized),
            Err(error) => {
                tracing::warn!(%error, "nothing could be sent to the phone");
                let doubled = (self.pause * 2).clamp(Duration::from_secs(1), LONGEST_PAUSE);
                self.pause = if let BotError::Pause(wanted) = error { wanted } else { doubled };
                self.pause_until = self.clock.now().plus(self.pause);
            }
        }
        Ok(())
    }

    /// What became of the questions that wait no more.
    fn close(&mut self, waits: &[Waiting]) {
        let (store, detail) = (&self.store, self.pairing.detail);
        for asked in self.kept.asked.iter_mut().filter(|asked| asked.is_open()) {
            if waits.iter().any(|one| is(asked, one)) || self.deciding.contains(&asked.message) {
                continue;
            }
            asked.end = match &asked.question {
                None if asked.decision.starts_with("parked-") => Some(Over::without("the run no longer needs this")),
                None => Some(Over::without("decided elsewhere, or no longer asked")),
                Some(id) => match look(store, asked.run, id) {
                    Ok(Found::Closed(end)) => {
                        let is_agreed = end.is_yes();
                        Some(Over { words: end.told(asked.kind, detail == Detail::Full), is_agreed })
                    }
                    Ok(Found::Gone) => Some(Over::without("withdrawn: it was asked again, or the run has ended")),
                    // It is asked again, or its records cannot be read now.
                    Ok(Found::Asked(_)) | Err(_) => None,
                },
            };
        }
    }

    /// What is new goes first. What Telegram refuses holds up nothing else.
    async fn send(&mut self, waits: &[Waiting]) -> Result<(), BotError> {
        let scope = Scope::read(self.store.folder());
        self.ask_all(waits, &scope).await?;
        for at in 0..self.kept.asked.len() {
            let asked = &self.kept.asked[at];
            if let Some(end) = asked.end.as_ref().filter(|_| !asked.is_edited) {
                let (message, is_file, text) = (asked.message, asked.is_file, message::ended(asked, end));
                let edit = move |bot: &Sender<'_>, chat| bot.edit(chat, message, &fit(&text), is_file);
                passed(self.with_bot(Some(&asked.ticket), edit).await)?;
                self.kept.asked[at].is_edited = true;
            }
        }
        self.close_bursts().await?;
        self.tell_notices(waits, &scope).await?;
        self.tell_ends(&scope).await
    }

    /// Does what Telegram is to do; all that is sent is noted as being about this ticket.
    async fn with_bot<T: Send + 'static>(
        &self,
        about: Option<&TicketId>,
        ask: impl FnOnce(&Sender<'_>, i64) -> Result<T, BotError> + Send + 'static,
    ) -> Result<T, BotError> {
        self.set_sound();
        let (bot, chat, log, ticket) = (Arc::clone(&self.bot), self.chat, self.log.clone(), about.cloned());
        spawn_blocking(move || ask(&Sender { bot: &bot, log: &log, ticket }, chat))
            .await
            .unwrap_or_else(|error| Err(BotError::Unreachable(error.to_string())))
    }

    /// What is sent from now on makes a sound, or none.
    fn set_sound(&self) {
        let minute = self.clock.now().minute_of_day(&TimeZone::system());
        self.bot.be_silent(self.is_hushed || self.settings.quiet.is_some_and(|hours| hours.has(minute)));
    }

    /// What was sent is known to the next relay. Where that cannot be written, a message may come twice.
    fn keep(&mut self) {
        self.kept.date_ends(self.clock.now());
        let folder: &Path = self.store.folder();
        if let Err(error) = self.kept.write(folder) {
            tracing::warn!(%error, "the record of sent messages cannot be saved");
        }
    }
}

/// Asks for messages, one answer after the other: Telegram forgets what is below the offset, so that follows what was obeyed.
fn listen(bot: &Bot, mut offset: i64, say: &mpsc::Sender<Heard>) {
    let mut pause = Duration::ZERO;
    loop {
        let heard = bot.updates(offset, POLL);
        pause = match &heard {
            Ok(_) => Duration::ZERO,
            Err(BotError::Pause(wanted)) => *wanted,
            Err(_) => (pause * 2).clamp(Duration::from_secs(1), LONGEST_PAUSE),
        };
        let (done, next) = oneshot::channel();
        if say.blocking_send((heard, done)).is_err() {
            return;
        }
        let Ok(next) = next.blocking_recv() else { return };
        offset = next;
        std::thread::sleep(pause);
    }
}

/// A refusal is logged, and comes to nothing else: the same again would be refused again.
fn passed<T>(sent: Result<T, BotError>) -> Result<(), BotError> {
    match sent {
        Err(error @ BotError::Refused { .. }) => {
            tracing::warn!(%error, "Telegram has refused a message");
            Ok(())
        }
        sent => sent.map(drop),
    }
}
