//! The commands that the person writes on the phone: what the runs do, and what is to become of them.

use super::Relay;
use super::words::line;
use crate::adapters::telegram::pairing::Detail;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::away::kept::Asked;
use crate::cli::away::scope::{Scope, meant, of_runs};
use crate::cli::error::CliError;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::runtime::heard::say;
use crate::runtime::offline::state_of;
use std::time::Duration;

const HELP: &str = "What is understood here:\n\
    the buttons under a question, or a reply to it: yes, no, all (if there is a button for it), or your words, which deny a \
    call and answer a question\n\
    /status – what the runs do\n/queue – what waits for you, again\n/tickets – the last tickets\n/pause TICKET – after its iteration\n\
    /resume TICKET – also one that was stopped, in the background\n/skip TICKET – the phase at hand\n\
    /stop TICKET – after its iteration\n/mute TICKET – nothing of it comes here; /unmute TICKET takes that back\n/note TICKET WORDS – words for Claude\n/report – what was done in the last 8 hours\n\
    The ticket can be left out where only one run is open. A reply to the end of a run goes on with it: your words are its next \
    phase, or go with its next prompt.";

impl Relay {
    /// `written`: when the person wrote it.
    pub(super) async fn command(&mut self, name: &str, words: &[String], written: Option<Timestamp>) -> String {
        match name {
            "start" | "help" => HELP.to_owned(),
            "status" => self.status(true),
            "tickets" => self.status(false),
            "queue" => self.again(),
            "mute" | "unmute" => self.mute(name, words),
            "report" if self.pairing.detail == Detail::Brief => {
                "The report names files and commits, which stay on the machine (`away setup` without --brief)."
                    .to_owned()
            }
            "report" => (self.report)().unwrap_or_else(|error| error.message),
            "pause" | "resume" | "skip" | "stop" | "note" => self.steer(name, words, written).await,
            _ => format!("/{} is not known here. /help says what is.", clean_line(name, 40)),
        }
    }

    /// Has each question that waits told again.
    fn again(&mut self) -> String {
        let scope = Scope::read(self.store.folder());
        let is_asked = |asked: &&mut Asked| asked.is_open() && asked.orphaned.is_none() && scope.has(&asked.ticket);
        let open: Vec<&mut Asked> = self.kept.asked.iter_mut().filter(is_asked).collect();
        let count = open.len();
        for asked in open {
            (asked.repeats, asked.told) = (0, Timestamp::default());
        }
        match count {
            0 => "No question waits for you.".to_owned(),
            count => format!(
                "{} for you.",
                if count == 1 { "1 question waits".to_owned() } else { format!("{count} questions wait") }
            ),
        }
    }

    /// What the runs do: the open ones, or the last of all.
    fn status(&self, only_open: bool) -> String {
        let runs = match self.runs() {
            Ok(runs) => runs,
            Err(error) => return error.message,
        };
        let (is_full, scope) = (self.pairing.detail == Detail::Full, Scope::read(self.store.folder()));
        let shown = runs.iter().filter(|run| !only_open || run.state != RunState::Ended).take(20);
        let lines: Vec<String> = shown
            .map(|run| {
                let muted = if scope.has(&run.ticket) { "" } else { " (muted here)" };
                format!("{}{muted}", line(run, is_full))
            })
            .collect();
        match (lines.is_empty(), only_open) {
            (true, true) => "No run is open.".to_owned(),
            (true, false) => "No ticket was worked on yet.".to_owned(),
            (false, _) => lines.join("\n"),
        }
    }

    /// The last run of each ticket.
    pub(super) fn runs(&self) -> Result<Vec<RunSummary>, CliError> {
        let mut seen = std::collections::BTreeSet::new();
        let runs = self.store.runs()?.into_iter().filter(|run| seen.insert(run.ticket_path.clone()));
        runs.map(|run| Ok(self.store.as_seen(run)?)).collect()
    }

    async fn steer(&self, name: &str, words: &[String], written: Option<Timestamp>) -> String {
        let all = match self.runs() {
            Ok(runs) => runs,
            Err(error) => return error.message,
        };
        // A phone begins a word with a capital letter where it likes.
        let is_named =
            |run: &&RunSummary| words.first().is_some_and(|word| run.ticket.as_str().eq_ignore_ascii_case(word));
        let open = open(&all);
        let named = open.iter().copied().find(is_named);
        if let Some(closed) = all.iter().find(is_named).filter(|_| named.is_none()) {
            return if name == "resume" {
                self.resume(closed).await
            } else {
                format!("No program works on {} now.", closed.ticket)
            };
        }
        let (run, rest) = match (named, open.as_slice()) {
            (Some(run), _) => (run, &words[1..]),
            (None, [run]) if words.is_empty() || name == "note" => (*run, words),
            (None, []) => return format!("No run is open. /tickets lists the last ones; /{name} TICKET names one."),
            (None, open) => {
                let known: Vec<&str> = open.iter().map(|run| run.ticket.as_str()).collect();
                return format!("Say which ticket: /{name} {}", known.join(" or "));
            }
        };
        let text = rest.join(" ");
        let (command, told) = match name {
            "pause" => (UserCommand::Pause, "pauses after its iteration".to_owned()),
            // What waits for a limit asks again now.
            "resume" if run.state == RunState::Parked => (UserCommand::RetryNow, "tries again now".to_owned()),
            "resume" => (UserCommand::Resume, "is resumed".to_owned()),
            "stop" => (UserCommand::FinishAndStop, "stops after its iteration".to_owned()),
            "note" if text.is_empty() => return "Say what Claude is to know: /note TICKET WORDS".to_owned(),
            "note" => (UserCommand::Steer { text }, "gets your message".to_owned()),
            _ if written.is_some_and(|written| self.has_gone_on(run, written)) => {
                return format!(
                    "Not skipped: {} has gone on since you wrote that. /status tells with what; /skip {} once more, if it is \
                     still meant.",
                    run.ticket, run.ticket
                );
            }
            _ => match state_of(&self.store, run.run).ok().and_then(|state| {
                let phase = state.own_phase().or_else(|| state.next_phase())?;
                Some((phase.id, clean_line(&phase.text, 80)))
            }) {
                Some((phase, text)) => (UserCommand::SkipPhase { phase }, format!("skips “{text}”")),
                None => return format!("{} is between two phases.", run.ticket),
            },
        };
        match say(&self.store, run, command, Answerer::PHONE).await {
            Ok(()) => format!("{} {told}.", run.ticket),
            Err(why) => why.words(),
        }
    }

    /// The run has begun an iteration since then: what was at hand may be something else by now. Telegram knows only the second.
    fn has_gone_on(&self, run: &RunSummary, since: Timestamp) -> bool {
        let begun = self.store.timed_records_of(run.run, &["iteration_started"]).unwrap_or_default();
        begun.last().is_some_and(|(at, _)| *at >= since.plus(Duration::from_secs(1)))
    }

    /// A command that replies to the end of a run and names no ticket is about that run's.
    pub(super) fn about(&self, words: Vec<String>, run: Option<RunId>) -> Vec<String> {
        let (Some(run), Ok(runs)) = (run, self.store.runs()) else { return words };
        let names = |word: &String| runs.iter().any(|run| run.ticket.as_str().eq_ignore_ascii_case(word));
        if words.first().is_some_and(names) {
            return words;
        }
        let ticket = runs.iter().find(|known| known.run == run).map(|known| known.ticket.to_string());
        ticket.into_iter().chain(words).collect()
    }

    /// Nothing of a ticket or of a session of the person's own comes here any more, or it does again.
    fn mute(&self, name: &str, words: &[String]) -> String {
        let state = self.store.folder();
        let (known, runs) = match (of_runs(&self.store, state), self.runs()) {
            (Ok(known), Ok(runs)) => (known, runs),
            (Err(error), _) | (_, Err(error)) => return error.message,
        };
        let open = open(&runs);
        let only = open.first().filter(|_| open.len() == 1 && name == "mute").map(|run| run.ticket.to_string());
        let Some(word) = words.first().cloned().or(only) else { return Scope::read(state).told() };
        let said = Scope::change(state, |scope| {
            if name == "unmute"
                && let Some(gone) = meant(&scope.muted, &word).cloned()
            {
                scope.unmute(&gone);
                return format!("{gone} is unmuted.");
            }
            match meant(&known, &word) {
                None => format!("No run of {} is known. /tickets lists the last ones.", clean_line(&word, 40)),
                Some(known) if name == "unmute" => format!("{known} is not muted."),
                Some(known) => format!("{} /unmute {known} takes that back.", scope.mute(known)),
            }
        });
        said.unwrap_or_else(|error| error.to_string())
    }
}

/// The runs that programs work on; of a Claude session of the person's own only its questions are answered elsewhere.
fn open(runs: &[RunSummary]) -> Vec<&RunSummary> {
    runs.iter().filter(|run| run.owner() == Owner::Another && !run.is_own_session()).collect()
}
