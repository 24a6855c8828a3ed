//! The snapshots of a ticket in their order, with what led to each. Names and words are raw.

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
    /// The journal does not say.
    Unknown,
}

impl Before {
    pub fn words(self) -> &'static str {
        match self {
            Self::Restore => "before a restore",
            Self::Revert => "before a revert",
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
    saved: BTreeMap<String, Before>,
}

#[derive(Clone, Debug)]
struct Iteration {
    step: StepName,
    phase: Option<String>,
    mark: Option<Mark>,
    outcome: Option<IterationOutcome>,
    ended: Option<Timestamp>,
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
                let iteration = Iteration { step, phase, mark: None, outcome: None, ended: None };
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
            Record::RevertIntended(intended) => {
                self.saved.insert(intended.saved.clone(), Before::Revert);
            }
            Record::RestoreIntended(intended) => {
                self.saved.insert(intended.saved.clone(), Before::Restore);
            }
            _ => {}
        }
    }

    fn decide(&mut self, n: u32, mark: Mark) {
        if let Some(iteration) = self.iterations.get_mut(&n) {
            iteration.mark = Some(mark);
        }
    }

    /// What the files of a snapshot before iteration `n` are, or, at the end, of one after it; and when that was seen.
    pub fn origin(&self, n: u32, is_end: bool) -> (Origin, Option<Timestamp>) {
        let known = if is_end { self.iterations.get_key_value(&n) } else { self.iterations.range(..n).next_back() };
        let Some((n, iteration)) = known else { return (Origin::Start, None) };
        let Iteration { step, phase, mark, outcome, ended } = iteration.clone();
        (Origin::Iteration { n: *n, step, phase, mark, outcome }, ended.filter(|_| is_end))
    }

    /// What the files of this snapshot were saved before; `None`: this run does not know it.
    pub fn saved(&self, pick: &str) -> Option<Before> {
        self.saved.get(pick).copied()
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
        let records = [
            started(1, "One"),
            done,
            ended(1, IterationOutcome::Claimed),
            started(2, "Two"),
            ended(2, IterationOutcome::Idle),
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
        assert_eq!(words(2, false), "1 One Some(Done(Verified)) Some(Claimed)");
        assert_eq!(words(2, true), "2 Two None Some(Idle)");
        assert_eq!((told.origin(2, true).1, told.origin(2, false).1), (Some(time), None));
    }
}
