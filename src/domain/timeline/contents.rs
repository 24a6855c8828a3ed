//! Which phases' work the files of each snapshot have, as the journals of a ticket's runs tell it: what a restore takes back.

use crate::base::id::RunId;
use crate::domain::outcome::DoneHow;
use crate::domain::record::{Record, Stored};
use crate::domain::ticket::fork::Ticks;
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Files that the evidence of an iteration names at most: there may be more.
pub const EVIDENCE_FILES: usize = 200;

/// Texts of phases; the whole ticket is the empty one.
type Phases = BTreeSet<String>;

/// The work that is in the files.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Phases that runs have found done.
    done: Phases,
    /// Those whose work is in the files now.
    now: Phases,
    /// The same when a snapshot was taken, by its key.
    at: HashMap<String, Phases>,
    /// Phases that are ticked, by a run or a person, and those that were when a snapshot was taken.
    ticked: Phases,
    /// An iteration is open.
    is_open: bool,
    ticked_at: HashMap<String, Phases>,
    /// The files that each was done with.
    files: BTreeMap<String, Vec<String>>,
    /// The last evidence.
    evidence: Vec<String>,
}

/// What is restored.
#[derive(Clone, Copy)]
pub enum Restores<'a> {
    All,
    /// The files that this holds for.
    Files(&'a dyn Fn(&str) -> bool),
}

/// The key of how the files were at the end of an iteration. Others are known by the snapshot's git object, or by what a
/// person calls it where it was saved for them.
pub fn end_key(run: RunId, n: u32) -> String {
    format!("{run}/{n}/end")
}

impl Contents {
    /// From the records of all runs of a ticket, in their order.
    pub fn of<S: Borrow<Stored>>(records: impl IntoIterator<Item = S>) -> Self {
        let mut contents = Self::default();
        for stored in records {
            let stored = stored.borrow();
            contents.hear(stored.run, &stored.record);
        }
        contents
    }

    fn hear(&mut self, run: RunId, record: &Record) {
        self.tick(record);
        match record {
            Record::SnapshotTaken { id, .. } => self.keep(id.clone()),
            Record::IterationEnded { n, .. } => self.keep(end_key(run, *n)),
            Record::RestoreIntended(intended) => self.keep(intended.saved.clone()),
            Record::RevertIntended(intended) => self.keep(intended.saved.clone()),
            Record::WheelTaken(taken) => self.keep(taken.saved.clone().unwrap_or_default()),
            Record::EvidenceGathered { phase_files, .. } => self.evidence.clone_from(phase_files),
            Record::PhaseDone { n: 1.., phase, how, .. } if *how != DoneHow::TickedByPerson => {
                let phase = phase.clone().unwrap_or_default();
                self.files.insert(phase.clone(), self.evidence.clone());
                self.done.insert(phase.clone());
                self.now.insert(phase);
            }
            Record::PhaseReopened(by) => {
                self.done.remove(&by.of.phase);
                self.now.remove(&by.of.phase);
            }
            Record::RestoreSettled(settled) => {
                if let Some(taken) = &settled.taken_back {
                    self.now = self.done.iter().filter(|phase| !taken.contains(phase)).cloned().collect();
                }
            }
            _ => {}
        }
    }

    fn tick(&mut self, record: &Record) {
        match record {
            Record::PhaseDone { phase: Some(phase), .. } => drop(self.ticked.insert(phase.clone())),
            Record::PhaseTicked(by) => drop(self.ticked.insert(by.of.phase.clone())),
            Record::PhaseReopened(by) => drop(self.ticked.remove(&by.of.phase)),
            Record::UntickSettled(settled) => drop(self.ticked.remove(&settled.phase.phase)),
            // The file says it, also of what was ticked or renamed there; what Claude may have ticked is no more than a claim.
            Record::RunStarted { phases, .. } | Record::TicketRead { phases, .. } => {
                let read = phases.iter().filter(|seed| seed.done).map(|seed| seed.text.clone()).collect();
                self.ticked = if self.is_open { self.ticked.intersection(&read).cloned().collect() } else { read };
            }
            Record::IterationStarted { .. } => self.is_open = true,
            Record::IterationEnded { .. } => self.is_open = false,
            _ => {}
        }
    }

    fn keep(&mut self, key: String) {
        self.ticked_at.insert(key.clone(), self.ticked.clone());
        self.at.insert(key, self.now.clone());
    }

    /// The boxes as they were when the snapshot of this key was taken, where that differs from those of the file that are
    /// ticked `now`; `None`: it is not known.
    pub fn boxes_at(&self, key: &str, now: &Phases) -> Option<Ticks> {
        let (ticked, there) = (self.ticked_at.get(key)?, self.at.get(key)?);
        let then: Phases =
            ticked.iter().filter(|phase| there.contains(*phase) || !self.done.contains(*phase)).cloned().collect();
        let without = |one: &Phases, other: &Phases| one.difference(other).cloned().collect();
        Some(Ticks { ticked: without(&then, now), opened: without(now, &then) })
    }

    /// The phases that were found done and whose work is not in the files once they are restored from the snapshot of this
    /// key; `None`: it is not known what that has.
    pub fn taken_back(&self, key: &str, restores: Restores<'_>) -> Option<Vec<String>> {
        let then = self.at.get(key)?;
        let is_lost = |phase: &&String| match restores {
            Restores::All => !then.contains(*phase),
            Restores::Files(is_restored) => {
                let files = self.files.get(*phase).map_or(&[][..], Vec::as_slice);
                let is_known = files.len() < EVIDENCE_FILES;
                let is_touched = !is_known || files.iter().any(|file| is_restored(file));
                let is_whole = is_known && !files.is_empty() && files.iter().all(|file| is_restored(file));
                // What is not there now comes back with all of its files.
                let is_gone = !self.now.contains(*phase);
                if then.contains(*phase) { is_gone && !is_whole } else { is_gone || is_touched }
            }
        };
        Some(self.done.iter().filter(is_lost).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::TicketId;
    use crate::base::time::Timestamp;
    use crate::domain::outcome::IterationOutcome;
    use crate::domain::restore::{RestoreIntended, RestoreSettled};

    fn contents(records: &[Record]) -> Contents {
        let run = run();
        let store = |(seq, record): (u64, &Record)| Stored {
            v: 1,
            seq,
            time: Timestamp::from_millis(7),
            run,
            ticket: TicketId::parse("tk-1").unwrap(),
            record: record.clone(),
        };
        Contents::of((1..).zip(records).map(store))
    }

    fn run() -> RunId {
        RunId::parse("0192aaaa-0000-7000-8000-000000000001").unwrap()
    }

    fn iteration(n: u32, phase: &str, file: &str) -> [Record; 4] {
        let files = vec![file.to_owned()];
        let outcome = IterationOutcome::Claimed;
        [
            Record::SnapshotTaken { n, id: format!("s{n}") },
            Record::EvidenceGathered { n, iteration_files: files.clone(), phase_files: files },
            Record::PhaseDone { n, phase: Some(phase.into()), how: DoneHow::Verified, id: None },
            Record::IterationEnded { n, outcome, changed: true, fingerprint: None, ms: 1, reading: None },
        ]
    }

    fn restored(saved: &str, taken: &[&str]) -> [Record; 2] {
        let taken_back = Some(taken.iter().map(ToString::to_string).collect());
        [
            Record::RestoreIntended(RestoreIntended { saved: saved.into(), ..RestoreIntended::default() }),
            Record::RestoreSettled(RestoreSettled { taken_back, ..RestoreSettled::default() }),
        ]
    }

    #[test]
    fn a_restore_takes_back_what_came_after_the_snapshot_and_a_later_one_brings_it_back() {
        let mut records = [iteration(1, "One", "a"), iteration(2, "Two", "b")].concat();
        let all = |records: &[Record], key: &str| contents(records).taken_back(key, Restores::All).unwrap();
        assert_eq!(all(&records, "s1"), ["One", "Two"]);
        assert_eq!(all(&records, "s2"), ["Two"]);
        assert_eq!(all(&records, &end_key(run(), 2)), [""; 0]);
        records.extend(restored("restore/1", &["One", "Two"]));
        assert_eq!(all(&records, "restore/1"), [""; 0], "what was saved before it has them");
        // What is done now is done without them, also in the snapshots that follow.
        records.extend(iteration(3, "Three", "c"));
        records.extend(iteration(4, "Four", "d"));
        assert_eq!(all(&records, "s4"), ["Four", "One", "Two"]);
        assert_eq!(contents(&records).taken_back("s9", Restores::All), None, "nobody knows that one");
    }

    #[test]
    fn some_files_take_back_the_phases_that_were_done_with_them() {
        let records = [iteration(1, "One", "a"), iteration(2, "Two", "b")].concat();
        let is_b = |path: &str| path == "b";
        assert_eq!(contents(&records).taken_back("s1", Restores::Files(&is_b)).unwrap(), ["Two"]);
        // What is gone comes back with its files, and only with them.
        let gone = [records.clone(), restored("restore/1", &["One", "Two"]).to_vec()].concat();
        let of = |is_restored: &dyn Fn(&str) -> bool| {
            contents(&gone).taken_back("restore/1", Restores::Files(is_restored)).unwrap()
        };
        assert_eq!((of(&is_b), of(&|_| false)), (vec!["One".to_owned()], vec!["One".to_owned(), "Two".to_owned()]));
        let reopened = Record::PhaseReopened(crate::domain::record::PhaseByPerson {
            of: crate::domain::record::OfPhase { phase: "Two".into(), id: None },
            by: crate::domain::answerer::Answerer::SCREEN,
            why: None,
        });
        let records = [records, vec![reopened]].concat();
        assert_eq!(
            contents(&records).taken_back("s1", Restores::All).unwrap(),
            ["One"],
            "it is to be done again anyway"
        );
    }
}
