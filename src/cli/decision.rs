//! What waits for the person and is no question of Claude's: a draft, proposed phases, changed validation commands, a
//! disputed phase, a limit. Command line and phone show it whole, and answer it in the same words.

pub(super) mod settle;

use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::command::UserCommand;
use crate::domain::evaluation::{Proposal, ProposalAnswer};
use crate::domain::messages::draft_words;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::PhaseId;
use crate::domain::planning::{DraftAnswer, DraftAnswered};
use crate::domain::record::{ChangeAnswered, Record, Stored};
use crate::domain::ticket::draft::Draft;
use crate::orchestrator::state::{PhaseState, Stage, State};
use crate::tui::widgets::spelt;
use jiff::tz::TimeZone;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

/// Such a thing. `queue --json`: add, never rename.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Decision {
    /// Names what is decided: another draft, or other commands, have another name, and so has the same when it comes up again.
    #[serde(skip)]
    pub(super) name: String,
    /// It in a few words.
    #[serde(skip)]
    pub(super) words: String,
    /// Since when it waits.
    #[serde(skip)]
    pub(super) since: Timestamp,
    /// All of it.
    pub(super) text: String,
    pub(super) answers: Vec<Choice>,
    #[serde(skip)]
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Draft(Draft),
    /// The new list.
    Commands(Vec<String>),
    Phases(Proposal),
    Dispute(PhaseId, String),
    /// It waits for a limit, and goes on by itself.
    Parked,
    /// The person has paused it, and goes on with it.
    Paused,
}

/// A way to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Choice {
    /// What is typed.
    pub(super) word: &'static str,
    /// What must follow it; empty: nothing.
    pub(super) needs: &'static str,
    /// It lets something happen: nobody says it who has not seen all of the decision.
    #[serde(skip)]
    pub(super) is_yes: bool,
}

/// What an answer comes to.
pub(super) enum Decided {
    Say(UserCommand),
    /// The phase with this text counts as done, for this reason.
    Accept(String, String),
}

const fn yes(word: &'static str) -> Choice {
    Choice { word, needs: "", is_yes: true }
}

const fn no(word: &'static str) -> Choice {
    Choice { word, needs: "", is_yes: false }
}

/// What waits from a record on.
enum ComesUp {
    Commands,
    Draft,
    Phases,
    Parked,
    Paused,
    Dispute(Option<PhaseId>),
}

impl ComesUp {
    fn with(record: &Record) -> Option<Self> {
        Some(match record {
            Record::ValidationChangeSeen { .. } => Self::Commands,
            Record::DraftMade { .. } => Self::Draft,
            Record::PhasesProposed { .. } => Self::Phases,
            Record::Parked(_) => Self::Parked,
            Record::Paused => Self::Paused,
            Record::PhaseDisputed { id, .. } => Self::Dispute(*id),
            _ => return None,
        })
    }
}

impl Kind {
    /// The record says that it waits from now on.
    fn comes_up(&self, record: &Record) -> bool {
        match (self, ComesUp::with(record)) {
            (Self::Commands(_), Some(ComesUp::Commands))
            | (Self::Draft(_), Some(ComesUp::Draft))
            | (Self::Phases(_), Some(ComesUp::Phases))
            | (Self::Parked, Some(ComesUp::Parked))
            | (Self::Paused, Some(ComesUp::Paused)) => true,
            (Self::Dispute(wanted, _), Some(ComesUp::Dispute(id))) => id.is_none_or(|id| id == *wanted),
            _ => false,
        }
    }

    fn answers(&self) -> Vec<Choice> {
        match self {
            Self::Draft(_) => vec![yes("accept"), no("discard"), Choice { needs: "WORDS", ..no("revise") }],
            Self::Commands(_) => vec![yes("accept"), no("keep")],
            Self::Phases(_) => vec![yes("add"), no("finish")],
            Self::Dispute(..) => {
                vec![yes("retry"), yes("skip"), Choice { needs: "REASON", ..yes("accept") }, no("stop")]
            }
            Self::Parked => vec![yes("try-now")],
            Self::Paused => vec![yes("resume")],
        }
    }
}

impl Decision {
    /// The record is one that [`all`](Self::all) looks at.
    pub(super) fn is_about(record: &Record) -> bool {
        // Where a wait is over, the next one is another.
        ComesUp::with(record).is_some() || matches!(record, Record::Unparked)
    }

    /// What waits in this run, the one that is asked first in front.
    /// `records`: those of the run that [are about](Self::is_about) such things, from the first; others do no harm.
    pub(super) fn all(run: RunId, state: &State, records: &[Arc<Stored>]) -> Vec<Self> {
        let mut found = Vec::new();
        if state.ended.is_some() {
            return found;
        }
        let mut add = |kind: Kind, words: String, text: String| {
            let came_up = records.iter().rev().find(|stored| kind.comes_up(&stored.record));
            // A wait may become longer: it is the same one until it is over. What comes up again in the same words is another.
            let seen = match kind {
                Kind::Parked => waits(records),
                _ => format!("{}\n{text}", came_up.map_or(0, |stored| stored.seq)),
            };
            let seen = Sha256::digest(format!("{run}\n{seen}"));
            // Claude can write what is hashed: so long that no two that differ have the same name.
            let seen = seen.iter().take(12).fold(0_u128, |name, byte| name << 8 | u128::from(*byte));
            let what = match kind {
                Kind::Draft(_) => "draft",
                Kind::Commands(_) => "commands",
                Kind::Phases(_) => "phases",
                Kind::Dispute(..) => "dispute",
                Kind::Parked => "parked",
                Kind::Paused => "paused",
            };
            let since = came_up.map(|stored| stored.time).or(state.updated).unwrap_or_default();
            found.push(Self { name: format!("{what}-{seen:024x}"), words, since, text, answers: kind.answers(), kind });
        };
        if let Some(new) = &state.validation_change {
            let text = commands(&state.validation, new);
            add(Kind::Commands(new.clone()), "validation commands changed".to_owned(), text);
        }
        if let Some(proposal) = state.awaits_phases() {
            let words = "goal not reached: more phases proposed".to_owned();
            add(Kind::Phases(proposal.clone()), words, proposed(proposal));
        }
        if let Some(draft) = state.waiting_draft() {
            add(Kind::Draft(draft.clone()), format!("draft ready: {}", draft_words(draft)), drafted(draft));
        }
        if let Some(parking) = state.limits.parked.as_ref().filter(|_| state.stage == Stage::Parked) {
            let until = moment(parking.until, parked_at(records));
            let text = format!("{}\nIt retries automatically at {until}.\n", clean_line(&parking.about, 400));
            add(Kind::Parked, format!("parked until {until}: {}", clean_line(&parking.about, 200)), text);
        }
        for phase in state.disputes() {
            let words = format!("disputed: “{}”", clean_line(&phase.text, 200));
            add(Kind::Dispute(phase.id, phase.text.clone()), words, disputed_words(phase));
        }
        // What else waits is answered first. A chat goes on with a message.
        let waits = state.validation_change.is_some()
            || state.awaits_phases().is_some()
            || state.waiting_draft().is_some()
            || state.disputes().next().is_some()
            || !state.approvals.is_empty();
        if state.stage == Stage::Paused && state.chat.is_none() && !waits {
            add(Kind::Paused, "paused by you".to_owned(), "Nothing is done until it is resumed.\n".to_owned());
        }
        found
    }

    /// What these words come to, or why to nothing, for the person.
    pub(super) fn decide(&self, words: &[String]) -> Result<Decided, String> {
        let word = words.first().map(|word| word.trim().to_lowercase()).unwrap_or_default();
        let rest = words.get(1..).unwrap_or_default().join(" ").trim().to_owned();
        let Some(choice) = self.answers.iter().find(|choice| choice.word == word) else {
            return Err(format!("`{}` is not a possible answer: {}", clean_line(&word, 40), self.ways().join(", ")));
        };
        match (choice.needs.is_empty(), rest.is_empty()) {
            (true, false) => return Err(format!("`{}` takes no text", choice.word)),
            (false, true) => return Err(format!("text missing: {} {}", choice.word, choice.needs)),
            _ => {}
        }
        Ok(Decided::Say(match (&self.kind, choice.word) {
            (Kind::Draft(seen), word) => {
                let answer = match word {
                    "accept" => DraftAnswer::Accept,
                    "discard" => DraftAnswer::Refuse,
                    _ => DraftAnswer::Revise { words: rest },
                };
                UserCommand::AnswerDraft { answer, seen: Box::new(seen.clone()) }
            }
            (Kind::Commands(seen), word) => {
                UserCommand::AnswerValidationChange { accept: word == "accept", seen: seen.clone() }
            }
            (Kind::Phases(proposal), word) => UserCommand::AnswerProposal {
                n: proposal.n,
                answer: if word == "add" {
                    ProposalAnswer::Add { phases: proposal.phases.clone() }
                } else {
                    ProposalAnswer::Refuse { words: String::new() }
                },
            },
            (Kind::Dispute(phase, _), "retry") => UserCommand::RetryPhase { phase: *phase },
            (Kind::Dispute(phase, _), "skip") => UserCommand::SkipPhase { phase: *phase },
            (Kind::Dispute(..), "stop") => UserCommand::Stop,
            (Kind::Parked, _) => UserCommand::RetryNow,
            (Kind::Paused, _) => UserCommand::Resume,
            (Kind::Dispute(_, text), _) => return Ok(Decided::Accept(text.clone(), rest)),
        }))
    }

    /// Whether the record decides it as these words do; `None`: it does not decide it.
    pub(super) fn decided_so(&self, record: &Record, words: &[String]) -> Option<bool> {
        let word = words.first().map(|word| word.trim().to_lowercase()).unwrap_or_default();
        match (&self.kind, record) {
            (Kind::Commands(seen), Record::ValidationChangeAnswered(ChangeAnswered { commands, accepted })) => {
                Some(*accepted == (word == "accept") && (!accepted || commands == seen))
            }
            (Kind::Draft(_), Record::DraftAnswered(DraftAnswered { answer, .. })) => match answer {
                DraftAnswer::Accept => Some(word == "accept"),
                DraftAnswer::Refuse => Some(word == "discard"),
                DraftAnswer::Revise { words: said } => Some(word == "revise" && *said == words[1..].join(" ").trim()),
                DraftAnswer::Edit(_) => Some(false),
                DraftAnswer::Try => None,
            },
            (Kind::Phases(_), Record::ProposalAnswered { answer, .. }) => {
                Some(matches!(answer, ProposalAnswer::Add { .. }) == (word == "add"))
            }
            (Kind::Parked, Record::Unparked) | (Kind::Paused, Record::Continued) => Some(true),
            (Kind::Dispute(phase, _), Record::PhaseReopened(by)) if by.of.id == Some(*phase) => Some(word == "retry"),
            (Kind::Dispute(phase, _), Record::PhaseSkipped(of)) if of.id == Some(*phase) => Some(word == "skip"),
            (Kind::Dispute(phase, _), Record::PhaseTicked(by)) if by.of.id == Some(*phase) => Some(word == "accept"),
            (Kind::Dispute(..), Record::RunEnded { reason: ExitReason::UserStopped, .. }) => Some(word == "stop"),
            (Kind::Dispute(..), Record::RunEnded { .. }) => Some(false),
            _ => None,
        }
    }

    /// What became of it by these words, for the person.
    pub(super) fn told(&self, words: &[String]) -> &'static str {
        let word = words.first().map(|word| word.trim().to_lowercase()).unwrap_or_default();
        match (&self.kind, word.as_str()) {
            (Kind::Draft(_), "accept") => "draft accepted",
            (Kind::Draft(_), "discard") => "draft discarded",
            (Kind::Draft(_), _) => "draft sent back to Claude",
            (Kind::Commands(_), "accept") => "the new validation commands apply from now on",
            (Kind::Commands(_), _) => "the old validation commands still apply",
            (Kind::Phases(_), "add") => "phases added",
            (Kind::Phases(_), _) => "no phases added",
            (Kind::Parked, _) => "retrying now",
            (Kind::Paused, _) => "resumed",
            (Kind::Dispute(..), "retry") => "phase reopened",
            (Kind::Dispute(..), "skip") => "phase skipped",
            (Kind::Dispute(..), "stop") => "the run is stopped, and can be resumed",
            (Kind::Dispute(..), _) => "phase accepted",
        }
    }

    /// It is a wait for a limit, which ends without the person, too.
    pub(super) fn is_parked(&self) -> bool {
        matches!(self.kind, Kind::Parked)
    }

    /// It is a pause of the person's own.
    pub(super) fn is_paused(&self) -> bool {
        matches!(self.kind, Kind::Paused)
    }

    /// What is typed for each answer.
    pub(super) fn ways(&self) -> Vec<String> {
        self.answers.iter().map(|choice| format!("{} {}", choice.word, choice.needs).trim_end().to_owned()).collect()
    }

    /// The answer with these words is no yes.
    pub(super) fn is_no(&self, words: &[String]) -> bool {
        let is_it = |choice: &&Choice| words.first().is_some_and(|word| choice.word.eq_ignore_ascii_case(word.trim()));
        self.answers.iter().find(is_it).is_some_and(|choice| !choice.is_yes)
    }
}

/// When the run began to wait for a limit.
fn parked_at(records: &[Arc<Stored>]) -> Timestamp {
    let parked = records.iter().rev().find(|stored| matches!(stored.record, Record::Parked(_)));
    parked.map_or_else(Timestamp::default, |stored| stored.time)
}

/// `HH:MM`, with the day in front where it is a day or more after this.
fn moment(until: Timestamp, after: Timestamp) -> String {
    let zone = TimeZone::system();
    let day = if until.is_within_a_day_of(after) { String::new() } else { until.day(&zone) + " " };
    day + &until.minute(&zone)
}

/// How many waits for a limit were over before this one.
fn waits(records: &[Arc<Stored>]) -> String {
    records.iter().filter(|stored| matches!(stored.record, Record::Unparked)).count().to_string()
}

fn commands(old: &[String], new: &[String]) -> String {
    let mut out = String::new();
    let mut section = |title: &str, commands: Vec<&String>| {
        if !commands.is_empty() {
            let _ = writeln!(out, "{title}");
            for command in commands {
                let _ = writeln!(out, "  {}", spelt::visible(command));
            }
        }
    };
    section("Added:", new.iter().filter(|one| !old.contains(one)).collect());
    section("Removed:", old.iter().filter(|one| !new.contains(one)).collect());
    section("Unchanged:", new.iter().filter(|one| old.contains(one)).collect());
    out
}

fn proposed(proposal: &Proposal) -> String {
    let mut out = format!("{}\n", spelt::visible(&proposal.why));
    for phase in &proposal.phases {
        let _ = writeln!(out, "  + {}", spelt::visible(phase));
    }
    if proposal.left_out > 0 {
        let _ = writeln!(out, "    and {} more, above the limit of a run", proposal.left_out);
    }
    out
}

fn drafted(draft: &Draft) -> String {
    draft.body().lines().fold(String::new(), |out, line| out + &spelt::line(line) + "\n")
}

fn disputed_words(phase: &PhaseState) -> String {
    let why = phase.dispute.as_deref().unwrap_or("claim not confirmed");
    format!("Claude says that “{}” is done.\nThe check failed: {}\n", spelt::visible(&phase.text), spelt::visible(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn decision(kind: Kind) -> Decision {
        Decision {
            name: "m".into(),
            words: String::new(),
            since: Timestamp::default(),
            text: String::new(),
            answers: kind.answers(),
            kind,
        }
    }

    fn draft() -> Kind {
        Kind::Draft(Draft { title: "T".into(), ..Draft::default() })
    }

    fn commands() -> Kind {
        Kind::Commands(vec!["make".into()])
    }

    fn typed(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn said(kind: Kind, line: &str) -> UserCommand {
        match decision(kind).decide(&typed(line)) {
            Ok(Decided::Say(command)) => command,
            Ok(Decided::Accept(..)) => panic!("{line} accepts a phase"),
            Err(why) => panic!("{line}: {why}"),
        }
    }

    #[test]
    fn a_limit_that_is_days_away_is_told_with_its_day() {
        let (now, hour) = (Timestamp::from_millis(1_795_269_733_120), Duration::from_secs(3_600));
        assert_eq!(moment(now.plus(hour * 23), now), now.plus(hour * 23).minute(&TimeZone::system()));
        let far = moment(now.plus(hour * 120), now);
        assert!(far.starts_with(&now.plus(hour * 120).day(&TimeZone::system())) && far.len() > 6, "{far}");
    }

    #[test]
    fn what_comes_up_again_in_the_same_words_has_another_name() {
        let run = RunId(uuid::Uuid::from_u128(1));
        let ticket = crate::base::id::TicketId::parse("tk-1").unwrap();
        let stored = |(at, record)| {
            let time = Timestamp::from_millis(1_000);
            Arc::new(Stored { v: 1, seq: at, time, run, ticket: ticket.clone(), record })
        };
        let seen = || Record::ValidationChangeSeen { commands: vec!["make".into()] };
        let kept = ChangeAnswered { commands: Vec::new(), accepted: false };
        let records = [seen(), Record::ValidationChangeAnswered(kept), seen()];
        let records: Vec<_> = (1..).zip(records).map(stored).collect();
        let name = |records: &[Arc<Stored>]| {
            let state = crate::orchestrator::apply::folded(records.to_vec());
            Decision::all(run, &state, records).remove(0).name
        };
        assert_ne!(name(&records[..1]), name(&records));
        assert_eq!(name(&records), name(&records));
    }

    #[test]
    fn each_answer_is_one_command() {
        let answered = |answer| {
            let Kind::Draft(seen) = draft() else { panic!("it is one") };
            UserCommand::AnswerDraft { answer, seen: Box::new(seen) }
        };
        let phases = || Proposal { n: 4, phases: vec!["Docs".into()], left_out: 0, why: String::new() };
        let dispute = || Kind::Dispute(PhaseId(2), "Alpha".into());
        assert_eq!(said(draft(), "Accept"), answered(DraftAnswer::Accept));
        assert_eq!(said(draft(), "discard"), answered(DraftAnswer::Refuse));
        let words = "in two parts".to_owned();
        assert_eq!(said(draft(), "revise in two parts"), answered(DraftAnswer::Revise { words }));
        let change = |accept| UserCommand::AnswerValidationChange { accept, seen: vec!["make".into()] };
        assert_eq!(said(commands(), "accept"), change(true));
        assert_eq!(said(commands(), "keep"), change(false));
        let add = ProposalAnswer::Add { phases: vec!["Docs".into()] };
        assert_eq!(said(Kind::Phases(phases()), "add"), UserCommand::AnswerProposal { n: 4, answer: add });
        let refuse = ProposalAnswer::Refuse { words: String::new() };
        assert_eq!(said(Kind::Phases(phases()), "finish"), UserCommand::AnswerProposal { n: 4, answer: refuse });
        assert_eq!(said(dispute(), "retry"), UserCommand::RetryPhase { phase: PhaseId(2) });
        assert_eq!(said(dispute(), "skip"), UserCommand::SkipPhase { phase: PhaseId(2) });
        assert_eq!(said(dispute(), "stop"), UserCommand::Stop);
        assert_eq!(said(Kind::Parked, "try-now"), UserCommand::RetryNow);
        assert_eq!(said(Kind::Paused, "resume"), UserCommand::Resume);
        let accepted = decision(dispute()).decide(&typed("accept seen by hand"));
        assert!(matches!(accepted, Ok(Decided::Accept(phase, why)) if (&*phase, &*why) == ("Alpha", "seen by hand")));
    }

    #[test]
    fn what_is_no_answer_says_which_there_are() {
        let why = |kind: Kind, line: &str| decision(kind).decide(&typed(line)).err().unwrap();
        assert_eq!(why(commands(), "yes"), "`yes` is not a possible answer: accept, keep");
        assert_eq!(why(commands(), "accept all"), "`accept` takes no text");
        assert_eq!(why(draft(), "revise"), "text missing: revise WORDS");
        assert_eq!(why(Kind::Dispute(PhaseId(1), "A".into()), "accept"), "text missing: accept REASON");
        assert_eq!(why(draft(), ""), "`` is not a possible answer: accept, discard, revise WORDS");
    }

    #[test]
    fn what_lets_something_happen_is_a_yes() {
        let dispute = || Kind::Dispute(PhaseId(1), "A".into());
        for (kind, line, is_no) in [
            (draft(), "revise it", true),
            (draft(), "accept", false),
            (commands(), "KEEP", true),
            (dispute(), "skip", false),
            (Kind::Parked, "try-now", false),
            (Kind::Paused, "resume", false),
            (dispute(), "accept it", false),
            (commands(), "perhaps", false),
        ] {
            assert_eq!(decision(kind).is_no(&typed(line)), is_no, "{line}");
        }
    }
}
