//! The commands that the person writes on the phone. What changes a run has its [turn](super::turns), the rest is answered at once.

use super::steering::{Steering, called, is_called, named, open, runs};
use super::words::line;
use super::{Relay, Said};
use crate::adapters::telegram::pairing::Detail;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::away::kept::Asked;
use crate::cli::away::scope::{Scope, meant, of_runs};
use crate::domain::summary::RunState;
use std::sync::Arc;
use tokio::task::spawn_blocking;

const HELP: &str = "Commands:\n\
    the buttons under a question, or a reply to it: yes, no, all (if there is a button for it), or any other text, which denies a call and answers a question\n\
    /status – the state of your runs\n/queue – what is waiting for you, again\n/tickets – the last tickets\n/pause TICKET – after its iteration\n\
    /resume TICKET – in the background; also a stopped run\n/skip TICKET – the current phase\n\
    /stop TICKET – after its iteration\n/mute TICKET – send nothing of it here; /unmute TICKET undoes that\n/note TICKET TEXT – a message for Claude\n/report – what was done in the last 8 hours\n\
    The ticket can be omitted if only one run is open. A reply to the end of a run continues it: your text becomes its next phase, or goes into its next prompt.";

impl Relay {
    /// `written`: when the person wrote it.
    pub(super) fn command(&mut self, name: String, words: Vec<String>, written: Option<Timestamp>) -> Said {
        Said::Now(match name.as_str() {
            "pause" | "resume" | "skip" | "stop" | "note" => {
                let turn = self.turns.next(named(&self.store, &words));
                let steering = Steering { store: self.store.clone() };
                return Said::in_turn(turn, async move { steering.steer(&name, &words, written).await });
            }
            "start" | "help" => HELP.to_owned(),
            "status" => self.status(true),
            "tickets" => self.status(false),
            "queue" => self.again(),
            "mute" | "unmute" => self.mute(&name, &words),
            "report" if self.pairing.detail == Detail::Brief => {
                "The report contains files and commits, which --brief does not send (run `away setup` without --brief)."
                    .to_owned()
            }
            "report" => {
                let report = Arc::clone(&self.report);
                return Said::beside(async move {
                    let written = spawn_blocking(move || report()).await;
                    written.map_or_else(|error| error.to_string(), |text| text.unwrap_or_else(|error| error.message))
                });
            }
            _ => format!("Unknown command /{}. /help lists the commands.", clean_line(&name, 40)),
        })
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
            0 => "No question is waiting for you.".to_owned(),
            count => format!(
                "{} for you.",
                if count == 1 { "1 question waits".to_owned() } else { format!("{count} questions wait") }
            ),
        }
    }

    /// What the runs do: the open ones, or the last of all.
    fn status(&self, only_open: bool) -> String {
        let runs = match runs(&self.store) {
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

    /// A command that replies to the end of a run and names no ticket is about that run's.
    pub(super) fn about(&self, words: Vec<String>, run: Option<RunId>) -> Vec<String> {
        let (Some(run), Ok(runs)) = (run, self.store.runs()) else { return words };
        if words.first().is_some_and(|word| runs.iter().any(|run| is_called(run, word))) {
            return words;
        }
        let known = runs.iter().find(|known| known.run == run);
        let ticket = known.map(|known| called(&runs, known));
        ticket.into_iter().chain(words).collect()
    }

    /// Nothing of a ticket or of a session of the person's own comes here any more, or it does again.
    fn mute(&self, name: &str, words: &[String]) -> String {
        let state = self.store.folder();
        let (known, runs) = match (of_runs(&self.store, state), runs(&self.store)) {
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
                None => format!("No run of {} found. /tickets lists recent ones.", clean_line(&word, 40)),
                Some(known) if name == "unmute" => format!("{known} is not muted."),
                Some(known) => format!("{} Undo with /unmute {known}.", scope.mute(known)),
            }
        });
        said.unwrap_or_else(|error| error.to_string())
    }
}
