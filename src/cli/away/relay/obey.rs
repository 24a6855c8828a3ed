//! What the person has written on the phone is obeyed, and nobody else's words: answers to questions, and commands.

use super::words::{fit, gone};
use super::{Relay, STALE, Said, To, is};
use crate::adapters::telegram::Bot;
use crate::adapters::telegram::pairing::Detail;
use crate::adapters::telegram::update::Update;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::answer::{Found, end, look};
use crate::cli::away::kept::{Asked, Over};
use crate::cli::away::meaning::{Given, Meaning, meaning};
use crate::cli::away::sent::{Sender, SentLog};
use crate::cli::decision::settle::About;
use crate::cli::ended::settle::typed;
use crate::cli::error::CliError;
use crate::cli::question::Question;
use crate::cli::queue::{Subject, Waiting};
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, ApprovalKind, Scope};
use crate::domain::command::UserCommand;
use crate::domain::credentials::masked;
use crate::runtime::heard::{Unsaid, say};
use std::sync::Arc;
use tokio::task::spawn_blocking;

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
            Some(Said::Later(words)) => {
                let saying = self.saying();
                tokio::spawn(async move { saying.say(to, words.await).await });
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
                Some(self.follow(message, run, pressed, &words).unwrap_or_else(|error| Said::Now(error.message)))
            }
            Meaning::Command(name, words, about) => {
                let words = self.about(words, about);
                let written =
                    update.message.as_ref().map(|message| Timestamp::from_millis(message.date.saturating_mul(1_000)));
                Some(self.command(&name, &words, written).await)
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
                let told = match (&asked.question, &given) {
                    (None, Given::Words(words)) => self.decide(&asked, words, &waits).await,
                    _ => self.answer(&asked, given, waits).await,
                };
                Some(Said::Now(told.unwrap_or_else(|error| error.message)))
            }
        }
    }

    /// Answers what is no question of Claude's.
    async fn decide(&mut self, asked: &Asked, words: &str, waits: &[Waiting]) -> Result<String, CliError> {
        if let Some(end) = &asked.end {
            return Ok(end.too_late());
        }
        let Some(Waiting { subject: Subject::Decision(decision), summary: run, interrupted, .. }) =
            waits.iter().find(|one| is(asked, one))
        else {
            return Ok("Too late: it is no longer waiting.".to_owned());
        };
        if *interrupted {
            return Ok(gone(&run.ticket));
        }
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if !asked.can_allow && !decision.is_no(&words) {
            return Ok("It cannot be approved here: use the screen, which shows it in full.".to_owned());
        }
        let accept = async |phase: String, reason: String| {
            let args = ["phase", "accept", "--exact", "--", &run.ticket_path, &phase, &reason];
            typed(&run.folder, &args).await.map(drop).map_err(CliError::failure)
        };
        let told = (About { run, decision }).decide(&self.store, &words, Answerer::PHONE, accept).await?;
        let end = format!("{told}, by you (phone)");
        if let Some(asked) = self.kept.asked.iter_mut().find(|known| known.message == asked.message) {
            asked.end = Some(Over { words: end.clone(), is_agreed: !decision.is_no(&words) });
        }
        Ok(end)
    }

    async fn answer(&self, asked: &Asked, given: Given, waits: Vec<Waiting>) -> Result<String, CliError> {
        if let Some(end) = &asked.end {
            return Ok(end.too_late());
        }
        let Some(id) = &asked.question else {
            return Ok("Press one of its buttons, or reply with one of its answers.".to_owned());
        };
        let Some(one) = waits.into_iter().find(|one| is(asked, one)) else {
            return Ok(match look(&self.store, asked.run, id)? {
                Found::Closed(end) => {
                    format!("Too late: {}", end.told(asked.kind, self.pairing.detail == Detail::Full))
                }
                _ => "Too late: it is no longer waiting.".to_owned(),
            });
        };
        if one.interrupted {
            return Ok(gone(&one.ticket));
        }
        let Subject::Question(approval) = one.subject else {
            return Ok("This can only be answered on the screen.".to_owned());
        };
        let (is_denial, given_all) = (matches!(given, Given::Deny(_)), given == Given::All);
        if !asked.can_allow && !is_denial {
            return Ok("This can only be denied from here: the screen shows it in full.".to_owned());
        }
        let (kind, tool, has_kinds) = (approval.kind, approval.tool.clone(), approval.kinds().is_some());
        let mut question = Question::of(*approval);
        let answer = match (given, kind) {
            (Given::Deny(words), _) => Some(Answer::Deny { words }),
            (Given::Words(words), ApprovalKind::Question) => match question.misses(&words) {
                Some(most) => return Ok(format!("No option {words}: choose 1 to {most}.")),
                None => question.answer(&words),
            },
            (_, ApprovalKind::Question) => return Ok("Claude needs an answer: an option, or your own text.".to_owned()),
            (Given::Allow, _) => question.answer("yes"),
            (Given::All, _) if !has_kinds || !self.settings.bulk_tools.contains(&tool) => {
                return Ok("`all` does not work here: allow it once, or use its button for this run.".to_owned());
            }
            (Given::ForRun | Given::All, ApprovalKind::Call) => {
                let scope = if given_all { Scope::Kind } else { Scope::Ticket };
                match question.answer("yes") {
                    Some(Answer::Allow { input, .. }) => Some(Answer::Allow { input, scope }),
                    other => other,
                }
            }
            (Given::ForRun | Given::All | Given::Words(_), _) => None,
        };
        let Some(answer) = answer else { return Ok("That is not an answer to this question.".to_owned()) };
        tracing::info!(ticket = %one.ticket, %tool, "answered on the phone");
        let command = UserCommand::AnswerApproval { id: id.clone(), answer: answer.clone() };
        let said = say(&self.store, &one.summary, command, Answerer::PHONE).await;
        let is_refused = matches!(said, Err(Unsaid::Refused(_)));
        Ok(match (end(&self.store, one.run, id, !is_refused).await?, said) {
            (Found::Closed(end), _) if !is_refused && end.is_by(&Answerer::PHONE, &answer) => {
                end.told(Some(kind), self.pairing.detail == Detail::Full)
            }
            (Found::Closed(end), _) => {
                format!("Too late: {}", end.told(Some(kind), self.pairing.detail == Detail::Full))
            }
            (_, Err(Unsaid::Refused(why))) => format!("Not answered: {why}"),
            (_, Err(Unsaid::Unanswered(why))) => format!("Sent, but not confirmed: {why}"),
            (Found::Asked, Ok(())) => "Sent, but not applied yet.".to_owned(),
            (Found::Gone, Ok(())) => "Not answered: the rules do not allow it as it is; asking again.".to_owned(),
        })
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
