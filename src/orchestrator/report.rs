//! What a run has come to since a moment: a fold of its records, told of the part behind that moment.

use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::claim::fingerprint::telling_line;
use crate::domain::messages::reason_words;
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{Record, Stored};
use crate::domain::report::{Became, CLAIMS, DisputedClaim, FILES, PhaseReport, RunReport};
use crate::orchestrator::apply::apply;
use crate::orchestrator::state::{Ended, PhaseState, State};
use crate::orchestrator::summary::summary;
use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Characters of what is told of a phase or an end at most.
const WORDS: usize = 200;

/// Tells what the run has come to since then; `None` where nothing was recorded of it since.
pub fn report<S: Borrow<Stored>>(journal: impl IntoIterator<Item = S>, since: Timestamp) -> Option<RunReport> {
    let mut state = State::default();
    let mut before: Option<State> = None;
    // A run that has begun since then has done nothing of what stood in the file at its first iteration.
    let mut begun: Option<State> = None;
    let mut heard = Heard::default();
    for stored in journal {
        let stored = stored.borrow();
        if before.is_none() && stored.time >= since {
            before = Some(state.clone());
        }
        if begun.is_none() && matches!(stored.record, Record::IterationStarted { .. }) {
            begun = Some(state.clone());
        }
        apply(&mut state, stored);
        heard.record(&state, &stored.record, before.is_some());
    }
    let before = before?;
    let run = summary(&state)?;
    let (added, removed) = (state.lines.0.saturating_sub(before.lines.0), state.lines.1.saturating_sub(before.lines.1));
    let begun = begun.unwrap_or_else(|| state.clone());
    let at_first = if before.started.is_some() { &before } else { &begun };
    let files_count = u32::try_from(heard.files.len()).unwrap_or(u32::MAX);
    Some(RunReport {
        decided: decided(at_first, &state, &heard),
        waits: waits(&state),
        unsent: Vec::new(),
        denied: state.gate.unasked.clone(),
        denied_count: state.gate.unasked_count,
        ended: state.ended.as_ref().map(ended_words),
        files: heard.files.into_iter().take(FILES).collect(),
        files_count,
        disputed: heard.disputed,
        iterations: state.counted_iterations().saturating_sub(before.counted_iterations()),
        reviews: state.reviews.saturating_sub(before.reviews),
        cost_usd: (state.cost_usd - before.cost_usd).max(0.0),
        added,
        removed,
        commits: heard.commits,
        merged_into: heard.merged_into,
        run: run.run,
        ticket: run.ticket,
        title: run.title,
        folder: run.folder,
        updated: run.updated,
        state: run.state,
        unverified: run.unverified,
        phases_done: run.phases_done,
        phases: run.phases,
    })
}

/// What the records say beside the state.
#[derive(Default)]
struct Heard {
    files: BTreeSet<String>,
    disputed: Vec<DisputedClaim>,
    commits: Vec<String>,
    merged_into: Option<String>,
    /// The commands that passed in the running iteration, and those that what a phase claims was found to hold by.
    passed: Vec<String>,
    checks: HashMap<PhaseId, Vec<String>>,
    /// The phases that were found done since.
    done: HashSet<PhaseId>,
}

impl Heard {
    /// Takes the next record; `state` has it already.
    fn record(&mut self, state: &State, record: &Record, counts: bool) {
        match record {
            Record::IterationStarted { .. } => self.passed.clear(),
            Record::ValidationRan(ran) if ran.passed() => self.passed.push(ran.command.clone()),
            // A critic may look at it before it is done.
            Record::PhaseChecked { phase, id, .. } | Record::PhaseDone { phase, id, .. } => {
                let by_text = || state.phases.iter().find(|known| Some(&known.text) == phase.as_ref());
                let id = id.or_else(|| by_text().map(|known| known.id)).unwrap_or_default();
                let is_done = matches!(record, Record::PhaseDone { .. });
                if !is_done || !self.passed.is_empty() {
                    self.checks.insert(id, std::mem::take(&mut self.passed));
                }
                // Before the first iteration it was so in the file.
                if counts && matches!(record, Record::PhaseDone { n, .. } if *n > 0) {
                    self.done.insert(id);
                }
            }
            Record::EvidenceGathered { iteration_files, .. } if counts => {
                self.files.extend(iteration_files.iter().map(|file| clean_line(file, WORDS)));
            }
            Record::PhaseDisputed { phase, why, .. } if counts && self.disputed.len() < CLAIMS => {
                // What a command has printed is not for a report.
                let why = clean_line(why.lines().next().unwrap_or_default(), WORDS);
                self.disputed.push(DisputedClaim { phase: phase.clone(), why });
            }
            Record::CommitSettled(settled) if counts => self.commits.extend(settled.commit.clone()),
            Record::MergeSettled(settled) if counts && settled.commit.is_some() => {
                self.merged_into = state.workspace.worktree().map(|worktree| worktree.base.clone());
            }
            _ => {}
        }
    }
}

/// The phases that stand otherwise than before, or were found done again, in the order of the file; without phases the whole
/// ticket.
fn decided(before: &State, state: &State, heard: &Heard) -> Vec<PhaseReport> {
    let is_whole = state.phases.is_empty();
    let now: Vec<&PhaseState> = if is_whole { vec![&state.whole] } else { state.phases.iter().collect() };
    let then = |phase: &PhaseState| {
        let earlier = if is_whole { Some(&before.whole) } else { before.phases.iter().find(|one| one.id == phase.id) };
        earlier.and_then(became)
    };
    let told = now.into_iter().filter_map(|phase| {
        let id = if is_whole { PhaseId::default() } else { phase.id };
        let is_new = |became: &Became| then(phase) != Some(*became) || heard.done.contains(&id);
        let became = became(phase).filter(is_new)?;
        let is_verified =
            phase.stands() == Mark::Done(DoneHow::Verified) || phase.stands() == Mark::Done(DoneHow::Approved);
        let commands = heard.checks.get(&id).filter(|_| became == Became::Done && is_verified).into_iter().flatten();
        Some(PhaseReport {
            phase: (!is_whole).then(|| phase.text.clone()),
            became,
            how: if let (Mark::Done(how), Became::Done) = (phase.stands(), became) { Some(how) } else { None },
            commands: commands.cloned().collect(),
            why: phase.dispute.as_deref().map(dispute_words),
        })
    });
    told.collect()
}

/// Why a phase is disputed, in one line: of a command's output, which follows it, what says most.
fn dispute_words(why: &str) -> String {
    let (why, output) = why.split_once('\n').unwrap_or((why, ""));
    match telling_line(output) {
        Some(line) => clean_line(&format!("{why}: {line}"), WORDS),
        None => clean_line(why, WORDS),
    }
}

fn became(phase: &PhaseState) -> Option<Became> {
    Some(match phase.stands() {
        Mark::Done(_) if phase.is_taken_back() => Became::TakenBack,
        Mark::Done(_) => Became::Done,
        Mark::Disputed => Became::Disputed,
        Mark::Rejected => Became::Rejected,
        Mark::Skipped => Became::Skipped,
        Mark::Blocked => Became::Blocked,
        Mark::Pending | Mark::Running | Mark::Claimed | Mark::Checked(_) => return None,
    })
}

/// The questions, or why the run does not go on by itself.
fn waits(state: &State) -> Vec<String> {
    let asked: Vec<String> = state.approvals.iter().map(|asked| clean_line(&asked.words(), WORDS)).collect();
    if !asked.is_empty() {
        return asked;
    }
    summary(state).and_then(|run| run.needs).into_iter().collect()
}

fn ended_words(ended: &Ended) -> String {
    // What to do about it stands at its end.
    let detail = clean_line(ended.detail.lines().next().unwrap_or_default(), 4 * WORDS);
    let is_told = detail.is_empty() || ended.reason == ExitReason::Complete;
    let reason = reason_words(ended.reason);
    match () {
        () if is_told => reason.to_owned(),
        () if detail.starts_with(reason) => detail,
        () => format!("{reason}: {detail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phase is worked on, its critic rejects it, and it is being fixed.
    fn journal() -> Vec<Stored> {
        let lines = include_str!("../../tests/fixtures/demo/records.ndjson").lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn of_a_commands_output_a_dispute_names_what_went_wrong() {
        let why = "`sh check.sh` failed with exit code 1\nrunning 3 checks\nFAIL limit: 6 is let through\n3 done";
        assert_eq!(dispute_words(why), "`sh check.sh` failed with exit code 1: FAIL limit: 6 is let through");
        assert_eq!(dispute_words("nothing has changed"), "nothing has changed");
    }

    fn begin_of(journal: &[Stored], iteration: u32) -> Timestamp {
        let begins = |stored: &&Stored| matches!(stored.record, Record::IterationStarted { n, .. } if n == iteration);
        journal.iter().find(begins).unwrap().time
    }

    #[test]
    fn only_what_came_since_is_told() {
        let journal = journal();
        let whole = report(&journal, journal[0].time).unwrap();
        let later = report(&journal, begin_of(&journal, 2)).unwrap();
        let last = report(&journal, begin_of(&journal, 3)).unwrap();
        let told = |report: &RunReport| (report.iterations, report.files.len(), report.decided.len());
        assert_eq!(
            (told(&whole), told(&later), told(&last)),
            ((2, 2, 0), (1, 0, 0), (1, 0, 0)),
            "it is being fixed; a review is no work"
        );
        assert!(whole.cost_usd > later.cost_usd && later.cost_usd > last.cost_usd, "{whole:?}");
        for report in [&whole, &later, &last] {
            assert_eq!((report.phases_done, report.phases, report.waits.len()), (0, 4, 0), "{report:?}");
        }
        let before_the_fix = journal.iter().take_while(|stored| stored.time < begin_of(&journal, 3));
        let rejected = report(before_the_fix, begin_of(&journal, 2)).unwrap().decided;
        let told = rejected.iter().map(|phase| (phase.phase.as_deref(), phase.became));
        assert_eq!(told.collect::<Vec<_>>(), [(Some("Greet a person by name"), Became::Rejected)]);
        // Its critic approves it instead: what passed before stands.
        let mut approved: Vec<Stored> = journal
            .iter()
            .take_while(|stored| !matches!(stored.record, Record::PhaseRejected { .. }))
            .cloned()
            .collect();
        let last = approved.last().unwrap().clone();
        let (phase, id) = (Some("Greet a person by name".to_owned()), None);
        let record = Record::PhaseDone { n: 2, phase, how: DoneHow::Verified, id };
        approved.push(Stored { seq: last.seq + 1, record, ..last });
        let done = report(&approved, begin_of(&journal, 2)).unwrap().decided;
        assert_eq!(
            (done.len(), done[0].became, &done[0].commands[..]),
            (1, Became::Done, &["sh test.sh".to_owned()][..])
        );
        let end = journal.last().unwrap().time;
        assert_eq!(report(&journal, Timestamp::from_millis(end.millis() + 1)), None);
    }
}
