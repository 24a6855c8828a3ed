//! The relay: asks on the phone what runs ask, whichever program works on them, and says the answers to those programs.
//!
//! It holds nothing that matters: what waits and what became of it are in the store, so a relay that is killed, late or
//! offline loses nothing, and of two answers the first that is recorded counts, wherever it was given.

mod obey;
mod words;

use self::words::{ended, fit};
use super::kept::{Asked, Kept};
use super::message::{self, denials};
use crate::adapters::store::Store;
use crate::adapters::telegram::pairing::Pairing;
use crate::adapters::telegram::update::Update;
use crate::adapters::telegram::{Bot, BotError};
use crate::base::time::{Clock, Timestamp, human};
use crate::cli::answer::{Found, look};
use crate::cli::error::CliError;
use crate::cli::queue::{Waiting, waiting};
use crate::domain::summary::RunState;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// How often the store is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long Telegram waits for a message before it says that there is none.
const POLL: Duration = Duration::from_secs(25);
/// A question that nobody has answered is told again after so long, so many times.
const AGAIN: Duration = Duration::from_secs(300);
const REPEATS: u32 = 3;
/// After so many refusals in a row another program has the bot.
const CONFLICTS: u32 = 3;
/// The longest pause after an error.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// What the relay works with.
pub struct Relay {
    bot: Arc<Bot>,
    chat: i64,
    pairing: Pairing,
    store: Store,
    kept: Kept,
    clock: Arc<dyn Clock>,
    since: Timestamp,
    /// Nothing is sent before this.
    pause_until: Timestamp,
    pause: Duration,
    report: Report,
}

/// Writes what was done lately.
pub type Report = Box<dyn Fn() -> Result<String, CliError> + Send>;

/// What the thread that asks for messages has heard, and where it says what was made of it.
type Heard = (Result<Vec<Update>, BotError>, oneshot::Sender<i64>);

impl Relay {
    /// A relay for the runs of this store.
    pub fn new(pairing: Pairing, store: Store, clock: Arc<dyn Clock>, report: Report) -> Result<Self, CliError> {
        let kept = Kept::read(store.folder()).map_err(|error| CliError::failure(error.to_string()))?;
        let (bot, since) = (Arc::new(pairing.bot()), clock.now());
        Ok(Self {
            bot,
            chat: pairing.chat,
            pairing,
            store,
            kept,
            clock,
            since,
            pause_until: since,
            pause: Duration::ZERO,
            report,
        })
    }

    /// Asks and answers until Telegram will not have it any more.
    pub async fn run(mut self) -> Result<(), CliError> {
        let (say, mut heard) = mpsc::channel::<Heard>(1);
        let (bot, offset) = (Arc::clone(&self.bot), self.kept.offset);
        std::thread::Builder::new().name("telegram".to_owned()).spawn(move || listen(&bot, offset, &say))?;
        let mut conflicts = 0;
        loop {
            tokio::select! {
                Some((updates, done)) = heard.recv() => match updates {
                    Ok(updates) => {
                        conflicts = 0;
                        for update in updates {
                            self.kept.offset = self.kept.offset.max(update.update_id + 1);
                            self.hear(&update).await;
                            self.keep();
                        }
                        let _ = done.send(self.kept.offset);
                    }
                    Err(error) => {
                        conflicts = if error == BotError::Conflict { conflicts + 1 } else { 0 };
                        if conflicts >= CONFLICTS || error == BotError::Unauthorized {
                            return Err(self.stopped(error).await);
                        }
                        tracing::warn!(%error, "the phone's messages cannot be had");
                        let _ = done.send(self.kept.offset);
                    }
                },
                () = sleep(LOOK) => if let Err(error) = self.look().await {
                    return Err(self.stopped(error).await);
                },
            }
        }
    }

    /// Says why it stops, also on the phone where that is still possible: nobody may be reading its words elsewhere.
    async fn stopped(&self, error: BotError) -> CliError {
        let words = format!("The relay has stopped, and nothing is asked here any more: {error}");
        tracing::error!(%error, "the phone is asked no more");
        let told = words.clone();
        let _ = self.with_bot(move |bot, chat| bot.send(chat, &fit(&told), &[], None)).await;
        CliError::failure(words)
    }

    /// Asks what is new, and tells what has come to its end. An error: it is of no use to go on.
    async fn look(&mut self) -> Result<(), BotError> {
        if self.clock.now() < self.pause_until {
            return Ok(());
        }
        let waits = match waiting(&self.store) {
            Ok(waits) => waits,
            Err(error) => {
                tracing::warn!(error = %error.message, "what waits cannot be read");
                return Ok(());
            }
        };
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
        let store = &self.store;
        for asked in self.kept.asked.iter_mut().filter(|asked| asked.is_open()) {
            if waits.iter().any(|one| is(asked, one)) {
                continue;
            }
            asked.end = match &asked.question {
                None => Some("no longer waiting".to_owned()),
                Some(id) => match look(store, asked.run, id) {
                    Ok(Found::Closed(end)) => Some(end.words),
                    Ok(Found::Gone) => Some("no longer asked: it was asked again, or the run has ended".to_owned()),
                    // It is asked again, or its records cannot be read now.
                    Ok(Found::Asked) | Err(_) => None,
                },
            };
        }
    }

    async fn send(&mut self, waits: &[Waiting]) -> Result<(), BotError> {
        for at in 0..self.kept.asked.len() {
            let asked = &self.kept.asked[at];
            if let Some(end) = asked.end.as_ref().filter(|_| !asked.is_edited) {
                let (message, is_file, text) = (asked.message, asked.is_file, message::ended(asked, end));
                self.with_bot(move |bot, chat| bot.edit(chat, message, &fit(&text), is_file)).await?;
                self.kept.asked[at].is_edited = true;
            }
        }
        for one in waits.iter().filter(|one| !one.interrupted) {
            match self.kept.asked.iter().position(|asked| asked.is_open() && is(asked, one)) {
                None => self.ask(one).await?,
                Some(at) => self.repeat(at).await?,
            }
        }
        self.tell_ends().await
    }

    async fn ask(&mut self, one: &Waiting) -> Result<(), BotError> {
        let message::Message { text, file, buttons, can_allow } = message::of(one, self.pairing.detail);
        let (told, is_file) = (text.clone(), file.is_some());
        let name = format!("{}.txt", one.ticket);
        let head = format!("{} waits for you. Its question cannot be shown here: the screen shows it.", one.ticket);
        let (message, is_shown) = self
            .with_bot(move |bot, chat| {
                let sent = match &file {
                    None => bot.send(chat, &fit(&text), &buttons, None),
                    Some(file) => bot.send_file(chat, &name, file, &fit(&text), &buttons),
                };
                match sent {
                    // It would be refused for ever, and the others would wait behind it.
                    Err(BotError::Refused { code: 400 | 413, .. }) => {
                        bot.send(chat, &head, &[denials()], None).map(|sent| (sent, false))
                    }
                    sent => sent.map(|sent| (sent, true)),
                }
            })
            .await?;
        self.kept.asked.push(Asked {
            message,
            is_file: is_file && is_shown,
            run: one.run,
            ticket: one.ticket.clone(),
            question: one.approval.as_ref().map(|approval| approval.id.clone()),
            text: told,
            can_allow: can_allow && is_shown,
            repeated: Vec::new(),
            prompts: Vec::new(),
            repeats: 0,
            told: self.clock.now(),
            end: None,
            is_edited: false,
        });
        self.keep();
        Ok(())
    }

    async fn repeat(&mut self, at: usize) -> Result<(), BotError> {
        let (now, asked) = (self.clock.now(), &self.kept.asked[at]);
        if asked.repeats >= REPEATS || now.since(asked.told) < AGAIN {
            return Ok(());
        }
        let words = format!("{} still waits for you, for {} now.", asked.ticket, human(AGAIN * (asked.repeats + 1)));
        let message = asked.message;
        let sent = self.with_bot(move |bot, chat| bot.send(chat, &words, &[], Some(message))).await?;
        let asked = &mut self.kept.asked[at];
        asked.repeated.push(sent);
        asked.repeats += 1;
        asked.told = now;
        Ok(())
    }

    /// Runs that have ended since this began.
    async fn tell_ends(&mut self) -> Result<(), BotError> {
        let Ok(runs) = self.store.runs() else { return Ok(()) };
        for run in runs {
            let is_new = run.state == RunState::Ended && run.updated >= self.since && !run.is_chat();
            if is_new && !self.kept.ended.contains(&run.run) {
                let words = ended(&run);
                self.with_bot(move |bot, chat| bot.send(chat, &fit(&words), &[], None)).await?;
                self.kept.ended.insert(run.run);
            }
        }
        Ok(())
    }

    async fn with_bot<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Bot, i64) -> Result<T, BotError> + Send + 'static,
    ) -> Result<T, BotError> {
        let (bot, chat) = (Arc::clone(&self.bot), self.chat);
        spawn_blocking(move || ask(&bot, chat))
            .await
            .unwrap_or_else(|error| Err(BotError::Unreachable(error.to_string())))
    }

    /// What was sent is known to the next relay. Where that cannot be written, a message may come twice.
    fn keep(&mut self) {
        let folder: &Path = self.store.folder();
        if let Err(error) = self.kept.write(folder) {
            tracing::warn!(%error, "what was sent to the phone cannot be kept");
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

/// It is the question that this message asks.
fn is(asked: &Asked, one: &Waiting) -> bool {
    asked.run == one.run && asked.question.as_ref() == one.approval.as_ref().map(|approval| &approval.id)
}
