//! The commands on the phone that change what a run does, each in its [turn](super::turns).

use super::resuming::resume;
use crate::adapters::store::{Store, StoreError, newest_of_each};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::error::CliError;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::phase::PhaseId;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::runtime::heard::say;
use crate::runtime::offline::state_of;
use std::path::Path;
use std::time::Duration;

/// What they are carried out with.
pub(super) struct Steering {
    pub(super) store: Store,
}

impl Steering {
    /// Does it, and gives what the person is told. `written`: when they wrote it.
    pub(super) async fn steer(&self, name: &str, words: &[String], written: Option<Timestamp>) -> String {
        let all = match to_steer(&self.store) {
            Ok(runs) => runs,
            Err(error) => return error.message,
        };
        match chosen(&all, name, words) {
            Ok(Chosen::Open(run, rest)) => self.say(name, run, rest, written).await,
            Ok(Chosen::Closed(run)) => resume(run).await,
            Err(why) => why,
        }
    }

    async fn say(&self, name: &str, run: &RunSummary, rest: &[String], written: Option<Timestamp>) -> String {
        let text = rest.join(" ");
        let (command, told) = match name {
            "pause" => (UserCommand::Pause, "pauses after this iteration".to_owned()),
            // What waits for a limit asks again now.
            "resume" if run.state == RunState::Parked => (UserCommand::RetryNow, "retries now".to_owned()),
            "resume" => (UserCommand::Resume, "is resumed".to_owned()),
            "stop" => (UserCommand::FinishAndStop, "stops after this iteration".to_owned()),
            "note" if text.is_empty() => return "Add your message: /note TICKET TEXT".to_owned(),
            "note" => (UserCommand::Steer { text }, "gets your message".to_owned()),
            _ => match self.to_skip(run, written) {
                Ok((phase, text)) => (UserCommand::SkipPhase { phase }, format!("skips “{text}”")),
                Err(why) => return why,
            },
        };
        match say(&self.store, run, command, Answerer::PHONE).await {
            Ok(()) => format!("{} {told}.", run.ticket),
            Err(why) => why.words(),
        }
    }

    /// The phase at hand and its text; an error: why none is skipped, in words for the person. `written`: when they wrote it.
    fn to_skip(&self, run: &RunSummary, written: Option<Timestamp>) -> Result<(PhaseId, String), String> {
        let ticket = &run.ticket;
        let unread = |error: StoreError| format!("Not skipped: {error}");
        if let Some(written) = written
            && self.has_gone_on(run, written).map_err(unread)?
        {
            return Err(format!(
                "Not skipped: {ticket} has moved on since you sent that. See /status; send /skip {ticket} again if you still want it."
            ));
        }
        let state = state_of(&self.store, run.run).map_err(unread)?;
        let phase = state.own_phase().or_else(|| state.next_phase());
        let phase = phase.ok_or_else(|| format!("{ticket} is between two phases."))?;
        Ok((phase.id, clean_line(&phase.text, 80)))
    }

    /// The run has begun an iteration since then: what was at hand may be something else by now. Telegram knows only the second.
    fn has_gone_on(&self, run: &RunSummary, since: Timestamp) -> Result<bool, StoreError> {
        let begun = self.store.timed_records_of(run.run, &["iteration_started"])?;
        Ok(begun.last().is_some_and(|(at, _)| *at >= since.plus(Duration::from_secs(1))))
    }
}

/// The last run of each ticket.
pub(super) fn runs(store: &Store) -> Result<Vec<RunSummary>, CliError> {
    newest_of_each(store.runs()?).into_iter().map(|run| Ok(store.as_seen(run)?)).collect()
}

/// The same without tickets whose files are gone, as from where a repository was before: they are nobody's namesakes.
fn to_steer(store: &Store) -> Result<Vec<RunSummary>, CliError> {
    let mut all = runs(store)?;
    all.retain(|run| run.owner() != Owner::Nobody || Path::new(&run.ticket_path).exists());
    Ok(all)
}

/// The file of the ticket that these words name; `None`: that depends on which runs are open.
pub(super) fn named(store: &Store, words: &[String]) -> Option<String> {
    let (word, runs) = (words.first()?, to_steer(store).ok()?);
    let mut named = runs.into_iter().filter(|run| is_called(run, word));
    let first = named.next()?;
    named.next().is_none().then_some(first.ticket_path)
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
pub(super) fn is_called(run: &RunSummary, word: &str) -> bool {
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
pub(super) fn called(runs: &[RunSummary], one: &RunSummary) -> String {
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
pub(super) fn open(runs: &[RunSummary]) -> Vec<&RunSummary> {
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
