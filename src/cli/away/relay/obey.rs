//! What the person has written on the phone is obeyed, and nobody else's words: answers to questions, and commands.

use super::answers::Answers;
use super::follow::Following;
use super::turns::Turn;
use super::words::fit;
use super::{Relay, STALE, Said, To, is};
use crate::adapters::telegram::Bot;
use crate::adapters::telegram::pairing::Detail;
use crate::adapters::telegram::update::Update;
use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::away::kept::Asked;
use crate::cli::away::meaning::{Given, Meaning, meaning};
use crate::cli::away::sent::{Sender, SentLog};
use crate::cli::queue::Waiting;
use crate::domain::approval::ApprovalKind;
use crate::domain::credentials::masked;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// To what the relay did not come to the end of before it left.
const LEFT: &str = "The phone relay was stopped before this was done; it may have had no effect.";

impl Relay {
    /// Obeys what the person has written; what anybody else has is not answered.
    /// `is_late`: nobody has read for long, so a button may have been pressed long ago; a press does not say when.
    pub(super) async fn hear(&mut self, update: &Update, is_late: bool) {
        let Some((user, chat)) = update.from() else { return };
        if (user.id, chat) != (self.pairing.user, self.pairing.chat) {
            tracing::warn!(user = user.id, "ignored a message to the bot from somebody else");
            return;
        }
        let about = self.noted(update);
        let written = update.message.as_ref().map(|message| Timestamp::from_millis(message.date.saturating_mul(1_000)));
        let press = update.press.as_ref().map(|press| press.id.clone());
        let to = To { about, press, message: update.message.as_ref().map(|message| message.message_id) };
        let is_stale = written.map_or(is_late, |written| self.clock.now().since(written) > STALE);
        let said = if is_stale {
            Some(Said::Now(
                "Ignored: this message was more than five minutes old when it was received. Send it again if you still want it."
                    .to_owned(),
            ))
        } else {
            self.obey(update).await
        };
        match said {
            // A button waits for an answer, also one without words.
            None if to.press.is_none() => {}
            None => self.saying().say(to, String::new()).await,
            Some(Said::Now(words)) => self.saying().say(to, words).await,
            Some(Said::Later(turn, words)) => {
                let (saying, leaving) = (self.saying(), self.leaving.clone());
                self.tasks.spawn(async move {
                    let words = async {
                        if let Some(turn) = &turn {
                            turn.come().await;
                        }
                        words.await
                    };
                    let words = leaving.run_until_cancelled(words).await;
                    saying.say(to, words.unwrap_or_else(|| LEFT.to_owned())).await;
                    // What comes next is answered below this.
                    drop(turn);
                });
            }
        }
    }

    /// Says something beside everything else.
    fn saying(&self) -> Saying {
        self.set_sound();
        Saying { bot: Arc::clone(&self.bot), chat: self.chat, log: self.log.clone() }
    }

    /// Notes what the person has said. Gives the ticket of the message that it is said to.
    fn noted(&self, update: &Update) -> Option<TicketId> {
        let (to, said) = match (&update.press, &update.message) {
            (Some(press), _) => (press.message.as_ref().map(|message| message.message_id), press.data.as_deref()),
            (None, Some(message)) => (message.answers.as_ref().map(|to| to.message_id), message.text.as_deref()),
            (None, None) => return None,
        };
        let asked = to.and_then(|to| self.kept.asked.iter().find(|asked| asked.has(to)));
        let about = asked.map(|asked| asked.ticket.clone());
        self.log.heard(about.as_ref(), said.unwrap_or_default());
        about
    }

    /// Gives what the person is told at once.
    async fn obey(&mut self, update: &Update) -> Option<Said> {
        let waits = match self.folds.waiting(&self.store) {
            Ok(waits) => waits,
            Err(error) => return Some(Said::Now(error.message)),
        };
        let is_question = |asked: &Asked| {
            let approval = waits.iter().find(|one| is(asked, one)).and_then(Waiting::question);
            approval.is_some_and(|approval| approval.kind == ApprovalKind::Question)
        };
        match meaning(update, &self.kept, self.settings.bare_answers, is_question) {
            Meaning::Nothing => None,
            Meaning::Unclear(words) => Some(Said::Now(words)),
            Meaning::Follow(message, run, pressed, words) => {
                let seen = self.kept.end_messages.iter().find(|seen| seen.message == message).cloned();
                let following = Following { store: self.store.clone(), clock: Arc::clone(&self.clock), seen };
                let turn = self.turn_of(run);
                Some(Said::in_turn(turn, async move {
                    following.follow(run, pressed, &words).await.unwrap_or_else(|error| error.message)
                }))
            }
            Meaning::Command(name, words, about) => {
                let words = self.about(words, about);
                let written =
                    update.message.as_ref().map(|message| Timestamp::from_millis(message.date.saturating_mul(1_000)));
                Some(self.command(name, words, written))
            }
            Meaning::AskForWords(message) => {
                let at = self.kept.asked.iter().position(|asked| asked.message == message)?;
                if let Some(end) = &self.kept.asked[at].end {
                    return Some(Said::Now(end.too_late()));
                }
                let ticket = &self.kept.asked[at].ticket;
                let words = format!("{ticket}: reply with what Claude should do instead. Any reply denies the call.");
                let about = ticket.clone();
                match self.with_bot(Some(&about), move |bot, chat| bot.ask_for_words(chat, &words)).await {
                    Ok(sent) => self.kept.asked[at].prompts.push(sent),
                    Err(error) => return Some(Said::Now(error.to_string())),
                }
                None
            }
            Meaning::Answer(message, given) => {
                let asked = self.kept.asked.iter().find(|asked| asked.message == message)?.clone();
                if let Some(end) = &asked.end {
                    return Some(Said::Now(end.too_late()));
                }
                let (turn, answers) = (self.turn_of(asked.run), self.answers());
                if asked.question.is_none() && matches!(given, Given::Words(_)) {
                    self.deciding.push(message);
                }
                Some(Said::in_turn(turn, async move {
                    let told = match given {
                        Given::Words(words) if asked.question.is_none() => answers.decide(&asked, &words).await,
                        given => answers.answer(&asked, given).await,
                    };
                    told.unwrap_or_else(|error| error.message)
                }))
            }
        }
    }

    /// The turn of what is about this run's ticket.
    fn turn_of(&mut self, run: RunId) -> Turn {
        let run = self.store.run(run).ok().flatten();
        self.turns.next(run.map(|(run, _)| run.ticket_path))
    }

    fn answers(&self) -> Answers {
        Answers {
            store: self.store.clone(),
            bulk_tools: self.settings.bulk_tools.clone(),
            is_full: self.pairing.detail == Detail::Full,
            decided: self.decided.clone(),
        }
    }
}

/// What something is said with, whatever the relay does meanwhile.
struct Saying {
    bot: Arc<Bot>,
    chat: i64,
    log: SentLog,
}

impl Saying {
    async fn say(self, to: To, words: String) {
        let Self { bot, chat, log } = self;
        let said = spawn_blocking(move || {
            let sender = Sender { bot: &bot, log: &log, ticket: to.about };
            match to.press {
                Some(press) => sender.acknowledge(&press, &clean_line(&masked(&words), 190)),
                None => sender.send(chat, &fit(&words), &[], to.message).map(drop),
            }
        });
        match said.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the phone could not be answered"),
            Err(error) => tracing::warn!(%error, "the phone could not be answered"),
        }
    }
}
