//! The commands that the person writes on the phone: what the runs do, and what is to become of them.

use super::follow::resume;
use super::words::line;
use super::{Relay, Said};
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
use std::path::Path;
use std::time::Duration;

const HELP: &str = "Commands:\n\
    the buttons under a question, or a reply to it: yes, no, all (if there is a button for it), or any other text, which denies a call and answers a question\n\
    /status – the state of your runs\n/queue – what is waiting for you, again\n/tickets – the last tickets\n/pause TICKET – after its iteration\n\
    /resume TICKET – in the background; also a stopped run\n/skip TICKET – the current phase\n\
    /stop TICKET – after its iteration\n/mute TICKET – send nothing of it here; /unmute TICKET undoes that\n/note TICKET TEXT – a message for Claude\n/report – what was done in the last 8 hours\n\
    The ticket can be omitted if only one run is open. A reply to the end of a run continues it: your text becomes its next phase, or goes into its next prompt.";

impl Relay {
    /// `written`: when the person wrote it.
    pub(super) async fn command(&mut self, name: &str, words: &[String], written: Option<Timestamp>) -> Said {
        if let "pause" | "resume" | "skip" | "stop" | "note" = name {
            return self.steer(name, words, written).await;
        }
        Said::Now(match name {
            "start" | "help" => HELP.to_owned(),
            "status" => self.status(true),
            "tickets" => self.status(false),
            "queue" => self.again(),
            "mute" | "unmute" => self.mute(name, words),
            "report" if self.pairing.detail == Detail::Brief => {
                "The report contains files and commits, which --brief does not send (run `away setup` without --brief)."
                    .to_owned()
            }
            "report" => (self.report)().unwrap_or_else(|error| error.message),
            _ => format!("Unknown command /{}. /help lists the commands.", clean_line(name, 40)),
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

    async fn steer(&self, name: &str, words: &[String], written: Option<Timestamp>) -> Said {
        let mut all = match self.runs() {
            Ok(runs) => runs,
            Err(error) => return Said::Now(error.message),
        };
        // A ticket whose file is gone, as from where a repository was before, is nobody's namesake.
        all.retain(|run| run.owner() != Owner::Nobody || Path::new(&run.ticket_path).exists());
        let (run, rest) = match chosen(&all, name, words) {
            Ok(Chosen::Open(run, rest)) => (run, rest),
            Ok(Chosen::Closed(run)) => {
                let run = run.clone();
                return Said::later(async move { resume(&run).await });
            }
            Err(why) => return Said::Now(why),
        };
        Said::Now(self.steered(name, run, rest, written).await)
    }

    async fn steered(&self, name: &str, run: &RunSummary, rest: &[String], written: Option<Timestamp>) -> String {
        let text = rest.join(" ");
        let (command, told) = match name {
            "pause" => (UserCommand::Pause, "pauses after this iteration".to_owned()),
            // What waits for a limit asks again now.
            "resume" if run.state == RunState::Parked => (UserCommand::RetryNow, "retries now".to_owned()),
            "resume" => (UserCommand::Resume, "is resumed".to_owned()),
            "stop" => (UserCommand::FinishAndStop, "stops after this iteration".to_owned()),
            "note" if text.is_empty() => return "Add your message: /note TICKET TEXT".to_owned(),
            "note" => (UserCommand::Steer { text }, "gets your message".to_owned()),
            _ if written.is_some_and(|written| self.has_gone_on(run, written)) => {
                return format!(
                    "Not skipped: {} has moved on since you sent that. See /status; send /skip {} again if you still want it.",
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
                None => format!("No run of {} found. /tickets lists recent ones.", clean_line(&word, 40)),
                Some(known) if name == "unmute" => format!("{known} is not muted."),
                Some(known) => format!("{} Undo with /unmute {known}.", scope.mute(known)),
            }
        });
        said.unwrap_or_else(|error| error.to_string())
    }
}

/// The run that a command is about, and what follows its name.
enum Chosen<'a> {
    Open(&'a RunSummary, &'a [String]),
    /// No program works on it, and it is to be resumed.
    Closed(&'a RunSummary),
}

/// The last run of each ticket is one of `all`. An error: why none is meant, in words for the person.
fn chosen<'a>(all: &'a [RunSummary], name: &str, words: &'a [String]) -> Result<Chosen<'a>, String> {
    let open = open(all);
    let named: Vec<&RunSummary> =
        words.first().map(|word| all.iter().filter(|run| is_called(run, word)).collect()).unwrap_or_default();
    let listed = |runs: &[&RunSummary]| {
        let full = |run: &&RunSummary| called(all, run);
        runs.iter().map(full).collect::<Vec<_>>().join(" or ")
    };
    match (named.as_slice(), open.as_slice()) {
        ([run], open) if open.iter().any(|known| known.run == run.run) => Ok(Chosen::Open(run, &words[1..])),
        ([closed], _) if name == "resume" => Ok(Chosen::Closed(closed)),
        ([closed], _) => Err(format!("{} is not running.", closed.ticket)),
        // Two repositories have a ticket of this id: nothing is done to the wrong one.
        ([_, ..], _) => Err(format!("Several tickets have this id. Choose one: /{name} {}", listed(&named))),
        ([], [run]) if name == "note" && !words.first().is_some_and(|word| is_like_an_id(all, word)) => {
            Ok(Chosen::Open(run, words))
        }
        ([], [run]) if words.is_empty() => Ok(Chosen::Open(run, words)),
        ([], []) => Err(format!("No run is open. /tickets lists recent ones; use /{name} TICKET.")),
        ([], [run]) if name == "note" => Err(format!(
            "No run of {} found, so the message was not delivered. To send it to {}: /note {} {}",
            clean_line(&words[0], 40),
            run.ticket,
            listed(&[*run]),
            clean_line(&words.join(" "), 200)
        )),
        ([], open) => Err(format!("Which ticket? /{name} {}", listed(open))),
    }
}

/// The run's ticket is called so: by its id, or by that and the name of its directory, as in `tk-1@shop`, or the end of the run's id.
/// A phone begins a word with a capital letter where it likes.
fn is_called(run: &RunSummary, word: &str) -> bool {
    let (id, place) = word.split_once('@').map_or((word, None), |(id, place)| (id, Some(place)));
    let is_there = |place: &str| place == directory(run) || place == run.run.short();
    run.ticket.as_str().eq_ignore_ascii_case(word)
        || run.ticket.as_str().eq_ignore_ascii_case(id) && place.is_some_and(is_there)
}

/// The last part of the directory that the person was in.
fn directory(run: &RunSummary) -> String {
    let name = Path::new(&run.folder).file_name().unwrap_or_default().to_string_lossy();
    clean_line(&name, 40)
}

/// What names it, and no ticket of the same id elsewhere.
fn called(runs: &[RunSummary], one: &RunSummary) -> String {
    let is_namesake = |run: &&RunSummary| run.ticket == one.ticket && run.ticket_path != one.ticket_path;
    let namesakes: Vec<&RunSummary> = runs.iter().filter(is_namesake).collect();
    let place = directory(one);
    let is_clear = !place.is_empty() && !place.contains(' ') && namesakes.iter().all(|run| directory(run) != place);
    match (namesakes.is_empty(), is_clear) {
        (true, _) => one.ticket.to_string(),
        (false, true) => format!("{}@{place}", one.ticket),
        (false, false) => format!("{}@{}", one.ticket, one.run.short()),
    }
}

/// A ticket is meant, and not words: it begins as the ids of known ones do, or has a dash and then a digit.
fn is_like_an_id(all: &[RunSummary], word: &str) -> bool {
    let prefix = |id: &str| id.split_once('-').map(|(prefix, _)| prefix.to_ascii_lowercase());
    let Some((_, rest)) = word.split_once('-') else { return false };
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@".contains(c)) && !rest.is_empty();
    is_plain
        && (rest.chars().any(|c| c.is_ascii_digit())
            || all.iter().any(|run| prefix(run.ticket.as_str()) == prefix(word)))
}

/// The runs that programs work on; of a Claude session of the person's own only its questions are answered elsewhere.
fn open(runs: &[RunSummary]) -> Vec<&RunSummary> {
    runs.iter().filter(|run| run.owner() == Owner::Another && !run.is_own_session()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    fn meant(all: &[RunSummary], line: &str) -> String {
        let mut words = line.split(' ').map(str::to_owned);
        let name = words.next().unwrap();
        let words: Vec<String> = words.collect();
        match chosen(all, &name, &words) {
            Ok(Chosen::Open(run, rest)) => format!("{}: {}", run.folder, rest.join(" ")),
            Ok(Chosen::Closed(run)) => format!("{} is closed", run.folder),
            Err(why) => why,
        }
    }

    #[test]
    fn of_two_tickets_with_one_id_the_person_is_asked_which_is_meant() {
        let (shop, blog) = (sample::seen("tk-1", "/w/shop"), sample::seen("tk-1", "/w/blog"));
        let both = [RunSummary { run: sample::run("a"), ..shop.clone() }, RunSummary { run: sample::run("b"), ..blog }];
        assert_eq!(
            meant(&both, "pause tk-1"),
            "Several tickets have this id. Choose one: /pause tk-1@shop or tk-1@blog"
        );
        assert_eq!(meant(&both, "pause Tk-1@blog"), "/w/blog: ");
        assert_eq!(meant(&both, "note tk-1@shop be careful"), "/w/shop: be careful");
        // One of them has ended: it may be the one that is meant.
        let ended = RunSummary { state: RunState::Ended, ..both[0].clone() };
        let ended = [ended, both[1].clone()];
        assert!(meant(&ended, "pause tk-1").starts_with("Several tickets have this id."));
        assert_eq!(meant(&ended, "resume tk-1@shop"), "/w/shop is closed");
        assert_eq!(meant(&[shop], "pause tk-1"), "/w/shop: ");
    }

    #[test]
    fn a_note_to_a_ticket_that_is_not_known_is_for_nobody_else() {
        let one = [sample::seen("tk-1", "/w/shop")];
        for line in ["note tk-9 be careful", "note tk-abcd be careful", "note shop-12 x"] {
            assert!(meant(&one, line).contains("the message was not delivered"), "{line}");
        }
        assert_eq!(meant(&one, "note re-check the tests"), "/w/shop: re-check the tests");
        assert_eq!(meant(&one, "note be careful"), "/w/shop: be careful");
        assert_eq!(meant(&one, "pause tk-9"), "Which ticket? /pause tk-1");
    }
}
