//! The end of a ticket's last run, as something that the person can answer: a conflict, work that is incomplete, work that is
//! complete. Command line and phone answer it in the same words.

pub(super) mod settle;

use super::decision::Choice;
use super::error::CliError;
use crate::adapters::store::{Store, StoreError, newest_of_each};
use crate::base::id::{RunId, TicketId};
use crate::base::text::{Clean, clean_line};
use crate::base::time::Timestamp;
use crate::domain::approval::is_no;
use crate::domain::end_answer::{EndAnswer, EndAnswered};
use crate::domain::messages::reason_words;
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::domain::summary::{RunState, RunSummary};
use crate::tui::tab::TabStatus;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// What its name begins with; then come the last characters of the run's id.
const PREFIX: &str = "ended-";
const LATE: &str = "too late: ";
/// Records that tell of ends and what was answered to them.
const KINDS: [&str; 4] = ["run_ended", "end_answered", "run_resumed", "merge_settled"];

/// How a run has ended, for what may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// Both sides have changed the same files.
    Conflict,
    /// Its work is not in the base for another reason.
    NotMerged,
    Incomplete,
    Complete,
}

/// Such an end. `queue --json`: add, never rename.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Ended {
    /// Names this end: another end of the same run has another name.
    #[serde(skip)]
    pub(super) name: String,
    pub(super) kind: Kind,
    /// How it ended, in full.
    pub(super) text: String,
    pub(super) answers: Vec<Choice>,
    #[serde(skip)]
    pub(super) run: RunSummary,
    /// The run has ended before.
    #[serde(skip)]
    pub(super) is_again: bool,
    /// What was answered to it already.
    #[serde(skip)]
    pub(super) answered: Option<EndAnswered>,
    /// The last answer to it, of which nothing came.
    #[serde(skip)]
    pub(super) failed: Option<EndAnswered>,
}

/// What the records say of a run's ends: for each one how, and what was answered last, even if nothing came of it.
#[derive(Debug, Default)]
struct Ends {
    all: Vec<(String, Option<EndAnswered>)>,
    is_conflict: bool,
}

impl Ends {
    fn of(store: &Store, run: &RunSummary) -> Result<Self, StoreError> {
        let mut ends = Self::default();
        for record in store.records_of(run.run, &KINDS)? {
            match record {
                Record::RunEnded { detail, .. } => ends.all.push((detail, None)),
                Record::EndAnswered(said) => {
                    if let Some((_, answered)) = ends.all.last_mut() {
                        *answered = Some(said);
                    }
                }
                Record::MergeSettled(settled) => ends.is_conflict = !settled.files.is_empty(),
                _ => {}
            }
        }
        Ok(ends)
    }
}

fn name(run: &RunSummary, ends: usize) -> String {
    let more = if ends > 1 { format!(".{ends}") } else { String::new() };
    format!("{PREFIX}{}{more}", run.run.short())
}

/// What has to be done before a run whose circuit breaker is open can go on.
pub(super) fn still_open(ticket: &TicketId) -> String {
    format!("While the circuit breaker is open, no run starts: close it with `programmator circuit reset {ticket}`.")
}

impl Ended {
    /// The end of this run; `None`: it has not ended, or nothing follows the end of such a run.
    pub(super) fn of(store: &Store, run: RunSummary) -> Result<Option<Self>, StoreError> {
        if run.state != RunState::Ended || run.is_chat() || run.is_review() || run.is_own_session() {
            return Ok(None);
        }
        let ends = Ends::of(store, &run)?;
        let Some((detail, said)) = ends.all.last() else { return Ok(None) };
        let reason = run.reason.as_deref().and_then(ExitReason::from_word);
        let kind = match reason {
            Some(ExitReason::Complete) => Kind::Complete,
            Some(ExitReason::MergeFailed) if ends.is_conflict => Kind::Conflict,
            Some(ExitReason::MergeFailed) => Kind::NotMerged,
            _ => Kind::Incomplete,
        };
        let how = reason.map_or("ended", reason_words);
        let detail = Clean::new(detail).into_string();
        let mut text = if detail.is_empty() { format!("{how}\n") } else { format!("{how}\n{}\n", detail.trim_end()) };
        if reason == Some(ExitReason::CircuitOpen) {
            let _ = writeln!(text, "{}", still_open(&run.ticket));
        }
        let name = name(&run, ends.all.len());
        let (failed, answered) = said.clone().into_iter().partition::<Vec<_>, _>(|said| said.failed.is_some());
        let (failed, answered) = (failed.into_iter().next(), answered.into_iter().next());
        let is_again = ends.all.len() > 1;
        Ok(Some(Self { name, kind, text, answers: kind.answers(), run, is_again, answered, failed }))
    }

    /// It in a few words.
    pub(super) fn words(&self) -> String {
        let how = match self.kind {
            Kind::Conflict => "merge conflict",
            _ => self.text.lines().next().unwrap_or_default(),
        };
        match &self.answered {
            Some(said) => format!("{how}; {}", said.told()),
            None => how.to_owned(),
        }
    }

    /// It was answered, and whoever has taken the answer was killed before anything came of it, or is at it now.
    pub(super) fn is_begun(&self) -> bool {
        self.answered.as_ref().is_some_and(|said| said.answer != EndAnswer::Leave)
    }

    /// What these words come to, or why to nothing, for the person.
    pub(super) fn read(&self, words: &[String]) -> Result<(EndAnswer, String), String> {
        let all = words.join(" ").trim().to_owned();
        if self.kind == Kind::Complete {
            return if all.is_empty() {
                Err("describe what to do next: TEXT".to_owned())
            } else {
                Ok((EndAnswer::Phase, all))
            };
        }
        let word = words.first().map(|word| word.trim().to_lowercase()).unwrap_or_default();
        let rest = words.get(1..).unwrap_or_default().join(" ").trim().to_owned();
        let Some(choice) = self.answers.iter().find(|choice| choice.word == word) else {
            return Err(format!("`{}` is not a possible answer: {}", clean_line(&word, 40), self.ways().join(", ")));
        };
        if choice.needs.is_empty() && !rest.is_empty() {
            return Err(format!("`{}` takes no text", choice.word));
        }
        let answer = EndAnswer::from_word(choice.word).unwrap_or(EndAnswer::Leave);
        Ok((answer, rest))
    }

    /// What a reply on the phone comes to: one of the answers, or words for Claude, or why nothing comes of it.
    pub(super) fn reply(&self, text: &str) -> Result<(EndAnswer, String), String> {
        let text = text.trim();
        let (is_yes, is_no, bare) = (is_yes(text), is_no(text), text.trim_end_matches(['.', '!']));
        let (word, rest) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
        let typed: Vec<String> = [word, rest].iter().filter(|word| !word.is_empty()).map(|&word| word.into()).collect();
        let is_bare_answer = rest.is_empty() && EndAnswer::from_word(&word.to_lowercase()).is_some();
        match (self.kind, self.read(&typed)) {
            (Kind::Complete, _) if is_yes || is_no => {
                Err(format!("{} is complete: reply with what to do next.", self.run.ticket))
            }
            // A word that answers another end is no work to do.
            (Kind::Complete, _) if is_bare_answer => {
                Err(format!("{} is complete: reply with what to do next.", self.run.ticket))
            }
            (Kind::Complete, _) => Ok((EndAnswer::Phase, text.to_owned())),
            _ if is_no => Ok((EndAnswer::Leave, String::new())),
            (Kind::Incomplete, _) if is_yes => Ok((EndAnswer::Resume, String::new())),
            (_, Ok(read)) => Ok(read),
            (Kind::Incomplete, Err(_)) if !is_bare_answer => Ok((EndAnswer::Resume, text.to_owned())),
            (_, why) => why,
        }
    }

    /// What is typed for each answer.
    pub(super) fn ways(&self) -> Vec<String> {
        self.answers.iter().map(|choice| format!("{} {}", choice.word, choice.needs).trim().to_owned()).collect()
    }
}

impl Kind {
    fn answers(self) -> Vec<Choice> {
        let choice = |word, needs, is_yes| Choice { word, needs, is_yes };
        let (merge, leave) = (choice("merge", "", true), choice("leave", "", false));
        match self {
            Self::Conflict => vec![choice("resolve", "", true), merge, leave],
            Self::NotMerged => vec![merge, leave],
            Self::Incomplete => vec![choice("resume", "[WORDS]", true), leave],
            Self::Complete => vec![choice("", "WORDS", true)],
        }
    }
}

fn is_yes(text: &str) -> bool {
    ["y", "yes", "ok"].contains(&text.trim_end_matches(['.', '!']).to_lowercase().as_str())
}

/// These words alone answer the end of a run, and are not for Claude.
pub(super) fn is_answer(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    text.is_empty() || is_yes(&text) || is_no(&text) || EndAnswer::from_word(&text).is_some()
}

/// The last ends of all tickets to which an answer was given, and nothing came of it yet.
pub(super) fn begun(store: &Store) -> Result<Vec<Ended>, CliError> {
    let mut found = Vec::new();
    for run in newest_of_each(store.runs()?) {
        found.extend(Ended::of(store, run)?.filter(Ended::is_begun));
    }
    Ok(found)
}

/// The ends in this directory that wait for the person, the oldest first.
pub(super) fn left(store: &Store, folder: &Path) -> Result<Vec<Ended>, CliError> {
    let mut found = Vec::new();
    for run in newest_of_each(store.runs()?) {
        // It has not gone well, they have not stopped it, and have not said to leave it so.
        if TabStatus::of(&run) == TabStatus::Halted && run.workspace().contains(folder) {
            found.extend(Ended::of(store, run)?);
        }
    }
    found.reverse();
    Ok(found)
}

/// The end of this name. An error: it is over.
pub(super) fn named(store: &Store, name: &str) -> Result<Option<Ended>, CliError> {
    find(store, name, |_| false)
}

/// The end of this name, or of this ticket's last run among those that can be meant. An error: it is over, or several are meant.
pub(super) fn find(store: &Store, id: &str, is_meant: impl Fn(&RunSummary) -> bool) -> Result<Option<Ended>, CliError> {
    let runs = store.runs()?;
    let is_named = |run: &RunSummary| {
        let short = id.strip_prefix(PREFIX).and_then(|rest| rest.split('.').next());
        short.is_some_and(|short| run.run.short() == short)
    };
    if let Some(run) = runs.iter().find(|run| is_named(run)).cloned() {
        let is_last = newest_of_each(runs).iter().any(|last| last.run == run.run);
        let ends = Ends::of(store, &run)?;
        let at = (1..=ends.all.len()).find(|at| name(&run, *at) == id);
        let Some(at) = at else { return Ok(None) };
        let is_open = run.state == RunState::Ended && is_last && at == ends.all.len();
        if !is_open {
            let said = ends.all[at - 1].1.as_ref().filter(|said| said.failed.is_none());
            let told = said.map_or_else(|| "a new run has started since".to_owned(), EndAnswered::told);
            return Err(too_late(&told));
        }
        return Ok(Ended::of(store, run)?);
    }
    let mut of_ticket = newest_of_each(runs).into_iter().filter(|run| run.ticket.as_str() == id && is_meant(run));
    match (of_ticket.next(), of_ticket.next()) {
        (Some(run), None) => Ok(Ended::of(store, run)?),
        (Some(_), Some(_)) => Err(CliError::usage(format!(
            "several tickets have the id `{}`: use the name of an ended run",
            clean_line(id, 40)
        ))),
        (None, _) => Ok(None),
    }
}

/// When each end of this run was, oldest first.
pub(super) fn times(store: &Store, run: RunId) -> Result<Vec<Timestamp>, StoreError> {
    Ok(store.timed_records_of(run, &["run_ended"])?.into_iter().map(|(time, _)| time).collect())
}

/// What became of the end of this name, for the person; `None`: it can still be answered, or is being answered.
pub(super) fn over(store: &Store, name: &str) -> Option<String> {
    match named(store, name) {
        Ok(Some(end)) => end.answered.filter(|said| said.answer == EndAnswer::Leave).map(|said| said.told()),
        Ok(None) => Some("it no longer exists".to_owned()),
        Err(why) => why.message.strip_prefix(LATE).map(str::to_owned),
    }
}

fn too_late(told: &str) -> CliError {
    CliError::failure(format!("{LATE}{told}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(kind: Kind) -> Ended {
        let run = crate::tui::sample::seen("tk-1", "/w");
        Ended {
            name: "m".into(),
            kind,
            text: String::new(),
            answers: kind.answers(),
            run,
            is_again: false,
            answered: None,
            failed: None,
        }
    }

    #[test]
    fn a_reply_is_one_of_the_answers_or_else_for_claude() {
        let of = |kind, text| ended(kind).reply(text).map(|(answer, words)| format!("{} {words}", answer.word()));
        let cases = [
            (Kind::Incomplete, "Leave", "leave "),
            (Kind::Incomplete, "no!", "leave "),
            (Kind::Incomplete, "ok", "resume "),
            (Kind::Incomplete, "resume.", "resume "),
            (Kind::Incomplete, "resume The key\nis 7", "resume The key\nis 7"),
            (Kind::Incomplete, "Leave the tests alone", "resume Leave the tests alone"),
            (Kind::Conflict, "resolve", "resolve "),
            (Kind::Conflict, "Merge", "merge "),
            (Kind::NotMerged, "No", "leave "),
            (Kind::Complete, "Leave a note", "phase Leave a note"),
        ];
        for (kind, text, answer) in cases {
            assert_eq!(of(kind, text).as_deref(), Ok(answer), "{text}");
        }
        assert!(of(Kind::Complete, "Ok").unwrap_err().contains("reply with what to do next"));
        assert!(
            of(Kind::Conflict, "ours, please").unwrap_err().contains("not a possible answer: resolve, merge, leave")
        );
    }
}
