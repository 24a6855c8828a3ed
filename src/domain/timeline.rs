//! The snapshots of a ticket in their order, with what led to each. Names and words are raw.

pub mod contents;

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::outcome::IterationOutcome;
use crate::domain::phase::Mark;
use crate::domain::record::{Record, Stored};
use crate::domain::step::StepName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// What a person calls it: `3`, `9b1c22d0/3`, `end`, `restore/1`.
    pub pick: String,
    /// Its git object.
    pub id: String,
    /// `None`: it was saved before something was written for the person.
    pub run: Option<RunId>,
    pub time: Timestamp,
    pub origin: Origin,
    /// What differs from the one before; `None` for the first, or where that is not known.
    pub changed: Option<Changed>,
}

/// What the files of a snapshot are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// As a run found them.
    Start,
    /// As an iteration left them.
    Iteration {
        n: u32,
        step: StepName,
        /// `None`: the whole ticket.
        phase: Option<String>,
        /// What became of the phase in it; `None`: nothing was decided.
        mark: Option<Mark>,
        /// `None`: its end is not known.
        outcome: Option<IterationOutcome>,
    },
    /// As they were before something was written for the person.
    Saved(Before),
    /// With the base merged in for Claude to resolve: conflicts are marked in them.
    Conflict,
    /// The journal of its run is not known here.
    Unknown,
}

/// Before what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    Restore,
    /// A hunk was reverted.
    Revert,
    /// The person worked in the ticket's session.
    Wheel,
    /// The journal does not say.
    Unknown,
}

impl Before {
    pub fn words(self) -> &'static str {
        match self {
            Self::Restore => "before a restore",
            Self::Revert => "before a revert",
            Self::Wheel => "before you took the wheel",
            Self::Unknown => "saved before files were written",
        }
    }
}

/// How much differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    pub files: usize,
    /// Lines.
    pub added: u64,
    pub removed: u64,
}

/// What the records of a run say of its iterations and snapshots.
#[derive(Clone, Debug, Default)]
pub struct Told {
    iterations: BTreeMap<u32, Iteration>,
    /// What was saved before something was written for the person, and when.
    saved: BTreeMap<String, (Before, Timestamp)>,
    /// When each snapshot was taken, by its git object.
    taken: BTreeMap<String, Timestamp>,
    /// What the person has changed in the ticket's session, and until when.
    driven: Vec<(Timestamp, Vec<String>)>,
}

#[derive(Clone, Debug)]
struct Iteration {
    step: StepName,
    phase: Option<String>,
    mark: Option<Mark>,
    outcome: Option<IterationOutcome>,
    ended: Option<Timestamp>,
    /// Claude was begun.
    worked: bool,
    /// The files that it has changed, as far as the evidence names them.
    files: Option<Vec<String>>,
}

impl Told {
    pub fn of(records: &[Arc<Stored>]) -> Self {
        let mut told = Self::default();
        for stored in records {
            told.hear(stored);
        }
        told
    }

    fn hear(&mut self, stored: &Stored) {
        match &stored.record {
            Record::IterationStarted { n, phase, role, .. } => {
                let (step, phase) = (role.step.clone(), phase.clone());
                let iteration =
                    Iteration { step, phase, mark: None, outcome: None, ended: None, worked: false, files: None };
                self.iterations.insert(*n, iteration);
            }
            Record::PhaseDone { n, how, .. } => self.decide(*n, Mark::Done(*how)),
            Record::PhaseChecked { n, how, .. } => self.decide(*n, Mark::Checked(*how)),
            Record::PhaseRejected { n, .. } => self.decide(*n, Mark::Rejected),
            Record::PhaseDisputed { n, .. } => self.decide(*n, Mark::Disputed),
            Record::IterationEnded { n, outcome, .. } => {
                if let Some(iteration) = self.iterations.get_mut(n) {
                    (iteration.outcome, iteration.ended) = (Some(*outcome), Some(stored.time));
                }
            }
            Record::AgentSpawned { n, .. } => {
                if let Some(iteration) = self.iterations.get_mut(n) {
                    iteration.worked = true;
                }
            }
            Record::EvidenceGathered { n, iteration_files, .. } => {
                if let Some(iteration) = self.iterations.get_mut(n) {
                    iteration.files = Some(iteration_files.clone());
                }
            }
            Record::SnapshotTaken { id, .. } => drop(self.taken.insert(id.clone(), stored.time)),
            Record::RevertIntended(intended) => self.save(&intended.saved, Before::Revert, stored.time),
            Record::RestoreIntended(intended) => self.save(&intended.saved, Before::Restore, stored.time),
            Record::WheelTaken(taken) => {
                if let Some(saved) = &taken.saved {
                    self.save(saved, Before::Wheel, stored.time);
                }
            }
            Record::WheelReturned(returned) => self.driven.push((stored.time, returned.files.clone())),
            _ => {}
        }
    }

    fn save(&mut self, pick: &str, before: Before, time: Timestamp) {
        self.saved.insert(pick.to_owned(), (before, time));
    }

    fn decide(&mut self, n: u32, mark: Mark) {
        if let Some(iteration) = self.iterations.get_mut(&n) {
            iteration.mark = Some(mark);
        }
    }

    /// What the files of a snapshot before iteration `n` are, or, at the end, of one after it; and when that was seen.
    pub fn origin(&self, n: u32, is_end: bool) -> (Origin, Option<Timestamp>) {
        let before = n;
        let known = if is_end { self.iterations.get_key_value(&n) } else { self.iterations.range(..n).next_back() };
        let Some((n, iteration)) = known else { return (Origin::Start, None) };
        // Between the two the base was merged in.
        let resolves = |one: &Iteration| one.step == StepName::RESOLVE;
        if !is_end && !resolves(iteration) && self.iterations.get(&before).is_some_and(resolves) {
            return (Origin::Conflict, None);
        }
        let Iteration { step, phase, mark, outcome, ended, .. } = iteration.clone();
        (Origin::Iteration { n: *n, step, phase, mark, outcome }, ended.filter(|_| is_end))
    }

    /// What the files of this snapshot were saved before; `None`: this run does not know it.
    pub fn saved(&self, pick: &str) -> Option<Before> {
        self.saved.get(pick).map(|(before, _)| *before)
    }

    /// When the files were as a snapshot has them, to the millisecond; `None`: this run does not know it.
    pub fn seen(&self, pick: &str, id: &str, end_of: Option<u32>) -> Option<Timestamp> {
        match end_of {
            Some(n) => self.iterations.get(&n)?.ended,
            None => self.taken.get(id).copied().or_else(|| self.saved.get(pick).map(|(_, time)| *time)),
        }
    }

    /// The iterations in which Claude worked at this time or later, each with the files that it changed as far as the
    /// evidence names them; `None`: there is none.
    pub fn worked_since(&self, at: Timestamp) -> impl Iterator<Item = (u32, Option<&[String]>)> {
        let since = self.iterations.iter().filter(move |(_, one)| one.worked && one.ended.is_none_or(|end| end >= at));
        since.map(|(n, one)| (*n, one.files.as_deref()))
    }

    /// Files that the person has changed in the ticket's session since then.
    pub fn driven_since(&self, at: Timestamp) -> impl Iterator<Item = &String> {
        self.driven.iter().filter(move |(until, _)| *until >= at).flat_map(|(_, files)| files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::TicketId;
    use crate::domain::outcome::DoneHow;

    #[test]
    fn a_snapshot_is_told_by_the_iteration_before_it() {
        let started = |n, phase: &str| Record::IterationStarted {
            n,
            phase: Some(phase.into()),
            session: None,
            id: None,
            role: <_>::default(),
        };
        let ended =
            |n, outcome| Record::IterationEnded { n, outcome, changed: true, fingerprint: None, ms: 1, reading: None };
        let done = Record::PhaseDone { n: 1, phase: Some("One".into()), how: DoneHow::Verified, id: None };
        let role = crate::domain::step::Role { step: StepName::RESOLVE, ..<_>::default() };
        let resolves = Record::IterationStarted { n: 3, phase: Some("Two".into()), session: None, id: None, role };
        let records = [
            started(1, "One"),
            done,
            ended(1, IterationOutcome::Claimed),
            started(2, "Two"),
            ended(2, IterationOutcome::Idle),
            resolves,
        ];
        let time = Timestamp::from_millis(7);
        let run = RunId::parse("0192aaaa-0000-7000-8000-000000000001").unwrap();
        let store = |(seq, record)| Stored { v: 1, seq, time, run, ticket: TicketId::parse("tk-1").unwrap(), record };
        let stored: Vec<Arc<Stored>> = (1..).zip(records).map(|one| Arc::new(store(one))).collect();
        let told = Told::of(&stored);
        let words = |n, is_end| match told.origin(n, is_end).0 {
            Origin::Iteration { n, phase, mark, outcome, .. } => {
                format!("{n} {} {mark:?} {outcome:?}", phase.unwrap_or_default())
            }
            other => format!("{other:?}"),
        };
        assert_eq!(words(1, false), "Start");
        assert_eq!(words(3, false), "Conflict", "of the files with markers nothing was verified");
        assert_eq!(words(4, false), "3 Two None None");
        assert_eq!(words(2, false), "1 One Some(Done(Verified)) Some(Claimed)");
        assert_eq!(words(2, true), "2 Two None Some(Idle)");
        assert_eq!((told.origin(2, true).1, told.origin(2, false).1), (Some(time), None));
    }
}
