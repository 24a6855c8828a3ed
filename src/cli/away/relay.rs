//! The relay: asks on the phone what runs ask, whichever program works on them, and says the answers to those programs.
//!
//! It holds nothing that matters: what waits and what became of it are in the store, so a relay that is killed, late or
//! offline loses nothing, and of two answers the first that is recorded counts, wherever it was given.

use super::kept::{Asked, Kept};
use super::meaning::{Given, Meaning, meaning};
use super::message;
use crate::adapters::store::Store;
use crate::adapters::telegram::pairing::Pairing;
use crate::adapters::telegram::update::Update;
use crate::adapters::telegram::{Bot, BotError, LONGEST};
use crate::base::text::clean_line;
use crate::base::time::{Clock, Timestamp, human};
use crate::cli::answer::{End, Found, end, look};
use crate::cli::error::CliError;
use crate::cli::question::Question;
use crate::cli::queue::{Waiting, waiting};
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, ApprovalKind, Scope};
use crate::domain::command::UserCommand;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::runtime::heard::{Unsaid, say};
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
/// What was written so long before the relay heard it is not obeyed.
const STALE: Duration = Duration::from_secs(300);
/// After so many refusals in a row another program has the bot.
const CONFLICTS: u32 = 3;
/// The longest pause after an error.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Tools whose calls can be allowed for a run by the word `all`: what they write is seen in Changes and can be taken back.
const BULK: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];
const HELP: &str = "What is understood here:\n\
    the buttons under a question, or a reply to it: yes, no, all (this run, for edits of files), or your words\n\
    /status – what the runs do\n/tickets – the last tickets\n/pause TICKET, /resume TICKET, /skip TICKET\n\
    /stop TICKET – after its iteration\n/note TICKET WORDS – words for Claude\n/report – what was done in the last 8 hours\n\
    The ticket can be left out where only one run is open.";

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
                        }
                        self.keep();
                        let _ = done.send(self.kept.offset);
                    }
                    Err(error) => {
                        conflicts = if error == BotError::Conflict { conflicts + 1 } else { 0 };
                        if conflicts >= CONFLICTS || error == BotError::Unauthorized {
                            return Err(CliError::failure(format!("the relay has stopped: {error}")));
                        }
                        tracing::warn!(%error, "the phone's messages cannot be had");
                        let _ = done.send(self.kept.offset);
                    }
                },
                () = sleep(LOOK) => self.look().await?,
            }
        }
    }

    /// Asks what is new, and tells what has come to its end.
    async fn look(&mut self) -> Result<(), CliError> {
        if self.clock.now() < self.pause_until {
            return Ok(());
        }
        let waits = waiting(&self.store)?;
        self.close(&waits);
        let sent = self.send(&waits).await;
        self.keep();
        match sent {
            Ok(()) => self.pause = Duration::ZERO,
            Err(BotError::Unauthorized) => {
                return Err(CliError::failure(format!("the relay has stopped: {}", BotError::Unauthorized)));
            }
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
                self.with_bot(move |bot, chat| bot.edit(chat, message, &cut(&text), is_file)).await?;
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
        let message = self
            .with_bot(move |bot, chat| match &file {
                None => bot.send(chat, &cut(&text), &buttons, None),
                Some(file) => bot.send_file(chat, &name, file, &text, &buttons),
            })
            .await?;
        self.kept.asked.push(Asked {
            message,
            is_file,
            run: one.run,
            ticket: one.ticket.clone(),
            question: one.approval.as_ref().map(|approval| approval.id.clone()),
            text: told,
            can_allow,
            others: Vec::new(),
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
        let words = format!("{} still waits for you, for {} now.", asked.ticket, human(now.since(asked.told)));
        let message = asked.message;
        let sent = self.with_bot(move |bot, chat| bot.send(chat, &words, &[], Some(message))).await?;
        let asked = &mut self.kept.asked[at];
        asked.others.push(sent);
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
                self.with_bot(move |bot, chat| bot.send(chat, &words, &[], None)).await?;
                self.kept.ended.insert(run.run);
            }
        }
        Ok(())
    }

    /// Obeys what the person has written; what anybody else has is not answered.
    async fn hear(&mut self, update: &Update) {
        let Some((user, chat)) = update.from() else { return };
        if (user.id, chat) != (self.pairing.user, self.pairing.chat) {
            tracing::warn!(user = user.id, "somebody else has written to the bot, and is not obeyed");
            return;
        }
        let written = update.message.as_ref().map(|message| Timestamp::from_millis(message.date.saturating_mul(1_000)));
        let press = update.press.as_ref().map(|press| press.id.clone());
        let answers = update.message.as_ref().map(|message| message.message_id);
        let is_stale = written.is_some_and(|written| self.clock.now().since(written) > STALE);
        let words = if is_stale {
            Some(
                "This came too late to be obeyed: it was written more than five minutes before I could read it."
                    .to_owned(),
            )
        } else {
            self.obey(update).await
        };
        let said = match (press, words) {
            (Some(press), words) => {
                let words = clean_line(&words.unwrap_or_default(), 190);
                self.with_bot(move |bot, _| bot.acknowledge(&press, &words)).await
            }
            (None, Some(words)) => {
                let words = cut(&words);
                self.with_bot(move |bot, chat| bot.send(chat, &words, &[], answers)).await.map(drop)
            }
            (None, None) => Ok(()),
        };
        if let Err(error) = said {
            tracing::warn!(%error, "the phone could not be answered");
        }
    }

    /// Gives what the person is told at once.
    async fn obey(&mut self, update: &Update) -> Option<String> {
        let waits = match waiting(&self.store) {
            Ok(waits) => waits,
            Err(error) => return Some(error.message),
        };
        let is_question = |asked: &Asked| {
            let approval = waits.iter().find(|one| is(asked, one)).and_then(|one| one.approval.as_ref());
            approval.is_some_and(|approval| approval.kind == ApprovalKind::Question)
        };
        match meaning(update, &self.kept, is_question) {
            Meaning::Nothing => None,
            Meaning::Unclear(words) => Some(words),
            Meaning::Command(name, words) => Some(self.command(&name, &words).await),
            Meaning::AskForWords(message) => {
                let at = self.kept.asked.iter().position(|asked| asked.message == message)?;
                if let Some(end) = &self.kept.asked[at].end {
                    return Some(format!("Too late: {end}"));
                }
                let words = "Reply to this: what should Claude do instead?";
                match self.with_bot(move |bot, chat| bot.ask_for_words(chat, words)).await {
                    Ok(sent) => self.kept.asked[at].others.push(sent),
                    Err(error) => return Some(error.to_string()),
                }
                None
            }
            Meaning::Answer(message, given) => {
                let asked = self.kept.asked.iter().find(|asked| asked.message == message)?.clone();
                Some(self.answer(&asked, given, waits).await.unwrap_or_else(|error| error.message))
            }
        }
    }

    async fn answer(&self, asked: &Asked, given: Given, waits: Vec<Waiting>) -> Result<String, CliError> {
        if let Some(end) = &asked.end {
            return Ok(format!("Too late: {end}"));
        }
        let Some(id) = &asked.question else {
            return Ok(format!("Only the screen takes this answer: programmator {}", asked.ticket));
        };
        let Some(one) = waits.into_iter().find(|one| is(asked, one)) else {
            return Ok(match look(&self.store, asked.run, id)? {
                Found::Closed(End { words, .. }) => format!("Too late: {words}"),
                _ => "Too late: it waits no more.".to_owned(),
            });
        };
        if one.interrupted {
            return Ok(format!("No program works on {} now: it asks again once it is resumed.", one.ticket));
        }
        let Some(approval) = one.approval else { return Ok("Only the screen takes this answer.".to_owned()) };
        let is_denial = matches!(given, Given::Deny(_));
        if !asked.can_allow && !is_denial {
            return Ok("This can only be denied from here: the screen shows all of it.".to_owned());
        }
        let (kind, tool) = (approval.kind, approval.tool.clone());
        let mut question = Question::of(approval);
        let answer = match (given, kind) {
            (Given::Deny(words), _) => Some(Answer::Deny { words }),
            (Given::Words(words), ApprovalKind::Question) => question.answer(&words),
            (_, ApprovalKind::Question) => return Ok("Claude asks for an answer: an option, or your words.".to_owned()),
            (Given::Words(_), _) => None,
            (Given::Allow, _) => question.answer("yes"),
            (Given::All, _) if !BULK.contains(&tool.as_str()) => {
                return Ok(
                    "`all` is for edits of files: allow this one once, or by its button for this run.".to_owned()
                );
            }
            (Given::ForRun | Given::All, ApprovalKind::Call) => match question.answer("yes") {
                Some(Answer::Allow { input, .. }) => Some(Answer::Allow { input, scope: Scope::Ticket }),
                other => other,
            },
            (Given::ForRun | Given::All, _) => None,
        };
        let Some(answer) = answer else { return Ok("That is no answer to this question.".to_owned()) };
        tracing::info!(ticket = %one.ticket, %tool, "answered on the phone");
        let command = UserCommand::AnswerApproval { id: id.clone(), answer: answer.clone() };
        let said = say(&self.store, &one.summary, command, Answerer::PHONE).await;
        let is_refused = matches!(said, Err(Unsaid::Refused(_)));
        Ok(match (end(&self.store, one.run, id, !is_refused).await?, said) {
            (Found::Closed(end), _) if !is_refused && end.is_by(&Answerer::PHONE, &answer) => end.words,
            (Found::Closed(end), _) => format!("Too late: {}", end.words),
            (_, Err(Unsaid::Refused(why))) => format!("Not answered: {why}"),
            (_, Err(Unsaid::Unanswered(why))) => format!("Not known to be answered: {why}"),
            (Found::Asked, Ok(())) => "Sent, and not acted on yet.".to_owned(),
            (Found::Gone, Ok(())) => {
                "Not answered: the rules do not let it through as it is; it is asked again.".to_owned()
            }
        })
    }

    async fn command(&self, name: &str, words: &[String]) -> String {
        match name {
            "start" | "help" => HELP.to_owned(),
            "status" => self.status(true),
            "tickets" => self.status(false),
            "report" => (self.report)().unwrap_or_else(|error| error.message),
            "pause" | "resume" | "skip" | "stop" | "note" => self.steer(name, words).await,
            _ => format!("/{} is not known here. /help says what is.", clean_line(name, 40)),
        }
    }

    /// What the runs do: the open ones, or the last of all.
    fn status(&self, only_open: bool) -> String {
        let runs = match self.runs() {
            Ok(runs) => runs,
            Err(error) => return error.message,
        };
        let lines: Vec<String> =
            runs.iter().filter(|run| !only_open || run.state != RunState::Ended).take(20).map(line).collect();
        match (lines.is_empty(), only_open) {
            (true, true) => "No run is open.".to_owned(),
            (true, false) => "No ticket was worked on yet.".to_owned(),
            (false, _) => lines.join("\n"),
        }
    }

    /// The last run of each ticket.
    fn runs(&self) -> Result<Vec<RunSummary>, CliError> {
        let mut seen = std::collections::BTreeSet::new();
        let runs = self.store.runs()?.into_iter().filter(|run| seen.insert(run.ticket_path.clone()));
        runs.map(|run| Ok(self.store.as_seen(run)?)).collect()
    }

    async fn steer(&self, name: &str, words: &[String]) -> String {
        let open: Vec<RunSummary> = match self.runs() {
            Ok(runs) => runs.into_iter().filter(|run| run.owner() == Owner::Another).collect(),
            Err(error) => return error.message,
        };
        let named = words.first().and_then(|word| open.iter().find(|run| run.ticket.as_str() == word.as_str()));
        let (run, rest) = match (named, open.as_slice()) {
            (Some(run), _) => (run, &words[1..]),
            (None, [run]) if words.is_empty() || name == "note" => (run, words),
            (None, []) => return "No run is open.".to_owned(),
            (None, open) => {
                let known: Vec<&str> = open.iter().map(|run| run.ticket.as_str()).collect();
                return format!("Say which ticket: /{name} {}", known.join(" or "));
            }
        };
        let text = rest.join(" ");
        let (command, told) = match name {
            "pause" => (UserCommand::Pause, "pauses after its iteration"),
            "resume" => (UserCommand::Resume, "goes on"),
            "stop" => (UserCommand::FinishAndStop, "stops after its iteration"),
            "note" if text.is_empty() => return "Say what Claude is to know: /note TICKET WORDS".to_owned(),
            "note" => (UserCommand::Steer { text }, "is told"),
            _ => match crate::runtime::offline::state_of(&self.store, run.run)
                .ok()
                .and_then(|state| Some(state.own_phase().or_else(|| state.next_phase())?.id))
            {
                Some(phase) => (UserCommand::SkipPhase { phase }, "goes on with the next phase"),
                None => return format!("{} is between two phases.", run.ticket),
            },
        };
        match say(&self.store, run, command, Answerer::PHONE).await {
            Ok(()) => format!("{} {told}.", run.ticket),
            Err(why) => why.words(),
        }
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
        if let Err(error) = self.kept.write(&folder.to_owned()) {
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

/// How a run has ended.
fn ended(run: &RunSummary) -> String {
    let reason = run.reason.as_deref().unwrap_or("ended").replace('_', " ");
    format!("{}\n\nThe run has ended: {reason}.", line(run))
}

/// A run in a line.
fn line(run: &RunSummary) -> String {
    let title = clean_line(&run.title, 80);
    let does = match (&run.needs, &run.phase) {
        (Some(_), _) if run.owner() != Owner::Nobody => "waits for you".to_owned(),
        (_, Some(phase)) if run.state == RunState::Running => format!("works on “{}”", clean_line(phase, 60)),
        _ => run.state.word().to_owned(),
    };
    let cost = run.cost_usd + run.carried_usd;
    format!("{} · {title}: {does}, {}/{} phases, ${cost:.2}", run.ticket, run.phases_done, run.phases)
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 2).chain(" …".chars()).collect()
}
