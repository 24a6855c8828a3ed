//! What the person has written on the phone is obeyed, and nobody else's words: answers to questions, and commands.

use super::words::{fit, line};
use super::{Relay, is};
use crate::adapters::telegram::pairing::Detail;
use crate::adapters::telegram::update::Update;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::answer::{End, Found, end, look};
use crate::cli::away::kept::Asked;
use crate::cli::away::meaning::{Given, Meaning, meaning};
use crate::cli::error::CliError;
use crate::cli::question::Question;
use crate::cli::queue::{Waiting, waiting};
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, ApprovalKind, Scope};
use crate::domain::command::UserCommand;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::runtime::heard::{Unsaid, say};
use crate::runtime::offline::state_of;
use std::time::Duration;

/// What was written so long before the relay heard it is not obeyed.
const STALE: Duration = Duration::from_secs(300);
/// Tools whose calls can be allowed for a run by the word `all`: what they write is seen in Changes and can be taken back.
const BULK: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];
const HELP: &str = "What is understood here:\n\
    the buttons under a question, or a reply to it: yes, no, all (this run, for edits of files), or your words\n\
    /status – what the runs do\n/tickets – the last tickets\n/pause TICKET, /resume TICKET, /skip TICKET\n\
    /stop TICKET – after its iteration\n/note TICKET WORDS – words for Claude\n/report – what was done in the last 8 hours\n\
    The ticket can be left out where only one run is open.";

impl Relay {
    /// Obeys what the person has written; what anybody else has is not answered.
    pub(super) async fn hear(&mut self, update: &Update) {
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
                let words = fit(&words);
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
                    Ok(sent) => self.kept.asked[at].prompts.push(sent),
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
            (Given::ForRun | Given::All | Given::Words(_), _) => None,
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
            "report" if self.pairing.detail == Detail::Brief => {
                "The report names files and commits, which stay on the machine (`away setup` without --brief)."
                    .to_owned()
            }
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
            _ => match state_of(&self.store, run.run)
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
}
