//! What came of the work so far: a fold over the records of all runs, for the whole and for each ticket.

mod lines;

pub use lines::lines;

use crate::base::time::Timestamp;
use crate::domain::critique::CriticVerdict;
use crate::domain::limits::Receipt;
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::phase::PhaseId;
use crate::domain::record::Record;
use crate::domain::step::{Counts, StepName};
use crate::domain::summary::RunSummary;
use crate::domain::turn::Usage;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The kinds of records that it is made of: others need not be read.
pub const KINDS: [&str; 6] =
    ["iteration_started", "receipt", "critique_made", "phase_rejected", "phase_disputed", "phase_done"];

/// `stats --json`: add, never rename.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    pub total: Tally,
    /// The one that was worked on last is first.
    pub tickets: Vec<TicketStats>,
}

/// One ticket's counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TicketStats {
    pub ticket: String,
    pub title: String,
    pub ticket_path: String,
    pub updated: Timestamp,
    #[serde(flatten)]
    pub tally: Tally,
}

/// Counts of one ticket, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub runs: u32,
    /// Runs that ended so.
    pub complete: u32,
    /// Iterations that have ended; those that a limit refused are none.
    pub iterations: u32,
    /// Phases that Claude has worked on, each counted once however many runs tried it. A ticket without phases is one.
    pub tried: u32,
    /// Those of them that were found done, not ticked by a person.
    pub done: u32,
    /// Phases whose first claim was checked: by a command, or by a critic. One that nobody has checked is not judged.
    pub judged: u32,
    /// Those of them that were found done at the first claim.
    pub first_pass: u32,
    /// Their part of those that were judged; `None` while there are none.
    pub first_pass_rate: Option<f64>,
    /// Verdicts of critics.
    pub approved: u32,
    pub minor: u32,
    pub rejected: u32,
    /// Iterations that fixed what a critic had rejected.
    pub fixes: u32,
    /// Phases that were found done after a critic had rejected them.
    pub fixed: u32,
    pub ms: u64,
    pub tokens: u64,
    /// What the runs cost, an open iteration included.
    pub cost_usd: f64,
    /// What the iterations of each step came to, in the order in which they were first seen.
    pub steps: Vec<StepStats>,
}

/// What the iterations of one step came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepStats {
    pub step: StepName,
    pub iterations: u32,
    pub ms: u64,
    #[serde(flatten)]
    pub usage: Usage,
    pub cost_usd: f64,
}

impl Tally {
    /// Both together.
    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.runs, other.runs),
            (&mut self.complete, other.complete),
            (&mut self.iterations, other.iterations),
            (&mut self.tried, other.tried),
            (&mut self.done, other.done),
            (&mut self.judged, other.judged),
            (&mut self.first_pass, other.first_pass),
            (&mut self.approved, other.approved),
            (&mut self.minor, other.minor),
            (&mut self.rejected, other.rejected),
            (&mut self.fixes, other.fixes),
            (&mut self.fixed, other.fixed),
        ] {
            *sum += more;
        }
        self.ms += other.ms;
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost_usd += other.cost_usd;
        for step in &other.steps {
            self.step(step);
        }
        self.first_pass_rate = (self.judged > 0).then(|| f64::from(self.first_pass) / f64::from(self.judged));
    }

    fn step(&mut self, more: &StepStats) {
        let at = self.steps.iter().position(|known| known.step == more.step).unwrap_or_else(|| {
            self.steps.push(StepStats { step: more.step.clone(), ..StepStats::default() });
            self.steps.len() - 1
        });
        let sum = &mut self.steps[at];
        sum.iterations += more.iterations;
        sum.ms += more.ms;
        sum.usage.add(&more.usage);
        sum.cost_usd += more.cost_usd;
    }

    fn receipt(&mut self, receipt: &Receipt) {
        let many = u32::from(!receipt.refused);
        self.iterations += many;
        self.fixes += if receipt.step == StepName::FIX { many } else { 0 };
        self.ms += receipt.ms;
        self.tokens = self.tokens.saturating_add(receipt.usage.total());
        let (step, usage, cost_usd) = (receipt.step.clone(), receipt.usage, receipt.cost_usd);
        self.step(&StepStats { step, iterations: many, ms: receipt.ms, usage, cost_usd });
    }
}

/// A phase in its run: by its number, in old journals by its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Numbered(PhaseId),
    Named(Option<String>),
}

impl Part {
    fn of(id: Option<PhaseId>, text: Option<&String>) -> Self {
        id.map_or_else(|| Self::Named(text.cloned()), Self::Numbered)
    }
}

/// A phase in its ticket, whose runs count their phases each on their own: by its last text, and the how manieth of
/// those with the same text it is.
type Known = (Option<String>, usize);

/// What is known of a phase so far.
#[derive(Clone, Default)]
struct Seen {
    /// As it was called last.
    text: Option<String>,
    tried: bool,
    done: bool,
    /// Its first claim held.
    first: Option<bool>,
    rejected: bool,
}

/// Folds one run: its records of [`KINDS`], oldest first.
#[derive(Default)]
pub struct RunFold {
    tally: Tally,
    /// Iterations that are to get the work on, and what they work at.
    at_work: HashMap<u32, (Part, Option<String>)>,
    /// The last iteration of a critic's: other steps may give verdicts, too.
    critic: Option<u32>,
    parts: HashMap<Part, Seen>,
}

impl RunFold {
    pub fn record(&mut self, record: &Record) {
        match record {
            Record::IterationStarted { n, phase, id, role, .. } if role.counts == Counts::Progress => {
                self.at_work.insert(*n, (Part::of(*id, phase.as_ref()), phase.clone()));
            }
            Record::IterationStarted { n, role, .. } if role.step == StepName::CRITIQUE => {
                self.critic = Some(*n);
            }
            Record::Receipt(receipt) => {
                self.tally.receipt(receipt);
                if let Some((part, text)) = self.at_work.remove(&receipt.n).filter(|_| !receipt.refused) {
                    self.seen(part, text.as_ref()).tried = true;
                }
            }
            Record::CritiqueMade { n, critique } if self.critic == Some(*n) => match critique.verdict {
                CriticVerdict::Approved => self.tally.approved += 1,
                CriticVerdict::MinorIssues => self.tally.minor += 1,
                CriticVerdict::NeedsFixes => self.tally.rejected += 1,
            },
            Record::PhaseRejected { phase, id, .. } => {
                let seen = self.judged(*id, phase.as_ref(), false);
                seen.rejected = true;
            }
            Record::PhaseDisputed { phase, id, .. } => {
                self.judged(*id, phase.as_ref(), false);
            }
            Record::PhaseDone { phase, id, how: DoneHow::Verified | DoneHow::Approved, .. } => {
                self.judged(*id, phase.as_ref(), true).done = true;
            }
            // Nobody has checked it: that says nothing of how good the claim was.
            Record::PhaseDone { phase, id, how: DoneHow::ClaimedUnchecked | DoneHow::ClaimedNoChange, .. } => {
                self.seen(Part::of(*id, phase.as_ref()), phase.as_ref()).done = true;
            }
            _ => {}
        }
    }

    fn judged(&mut self, id: Option<PhaseId>, text: Option<&String>, held: bool) -> &mut Seen {
        let seen = self.seen(Part::of(id, text), text);
        seen.first.get_or_insert(held);
        seen
    }

    fn seen(&mut self, part: Part, text: Option<&String>) -> &mut Seen {
        let seen = self.parts.entry(part).or_default();
        seen.text = text.cloned();
        seen
    }

    /// Its phases as its ticket knows them.
    fn known(&self) -> Vec<(Known, &Seen)> {
        let mut parts: Vec<(&Part, &Seen)> = self.parts.iter().collect();
        parts.sort_by_key(|(part, _)| *part);
        let mut alike: HashMap<&Option<String>, usize> = HashMap::new();
        let known = parts.into_iter().map(|(_, seen)| {
            let nth = alike.entry(&seen.text).or_default();
            *nth += 1;
            ((seen.text.clone(), *nth), seen)
        });
        known.collect()
    }

    /// What does not depend on other runs.
    fn tally(&self, run: &RunSummary) -> Tally {
        let is_complete = run.reason.as_deref().and_then(ExitReason::from_word) == Some(ExitReason::Complete);
        let (complete, cost_usd) = (u32::from(is_complete), run.cost_usd);
        Tally { runs: 1, complete, cost_usd, ..self.tally.clone() }
    }
}

/// The phases of a ticket, from its runs, newest first.
#[derive(Default)]
struct Phases(HashMap<Known, Seen>);

impl Phases {
    /// Adds those of an earlier run: its first claim was the first one.
    fn add_earlier(&mut self, run: &RunFold) {
        for (known, earlier) in run.known() {
            let seen = self.0.entry(known).or_default();
            seen.tried |= earlier.tried;
            seen.done |= earlier.done;
            seen.rejected |= earlier.rejected;
            seen.first = earlier.first.or(seen.first);
        }
    }

    fn tally(&self) -> Tally {
        let count = |which: fn(&Seen) -> bool| self.0.values().filter(|seen| which(seen)).count() as u32;
        Tally {
            tried: count(|seen| seen.tried),
            done: count(|seen| seen.done),
            judged: count(|seen| seen.first.is_some()),
            first_pass: count(|seen| seen.first == Some(true)),
            fixed: count(|seen| seen.done && seen.rejected),
            ..Tally::default()
        }
    }
}

/// Sums up all runs, newest first, each with its fold.
pub fn sum(runs: impl IntoIterator<Item = (RunSummary, RunFold)>) -> Stats {
    let mut stats = Stats::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut phases: Vec<Phases> = Vec::new();
    for (run, fold) in runs {
        let tally = fold.tally(&run);
        stats.total.add(&tally);
        let at = *places.entry(run.ticket_path.clone()).or_insert_with(|| {
            let (ticket, title) = (run.ticket.to_string(), run.title.clone());
            let (ticket_path, updated) = (run.ticket_path.clone(), run.updated);
            stats.tickets.push(TicketStats { ticket, title, ticket_path, updated, tally: Tally::default() });
            phases.push(Phases::default());
            stats.tickets.len() - 1
        });
        phases[at].add_earlier(&fold);
        let ticket = &mut stats.tickets[at];
        ticket.updated = ticket.updated.max(run.updated);
        ticket.tally.add(&tally);
    }
    for (ticket, phases) in stats.tickets.iter_mut().zip(&phases) {
        let tally = phases.tally();
        ticket.tally.add(&tally);
        stats.total.add(&tally);
    }
    stats.tickets.sort_by_key(|ticket| std::cmp::Reverse(ticket.updated));
    stats
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{RunId, TicketId};
    use crate::domain::lines::Line;
    use crate::domain::summary::RunState;

    fn run(n: u128, path: &str, reason: Option<&str>, updated: i64) -> RunSummary {
        let time = Timestamp::from_millis(updated);
        RunSummary {
            run: RunId(uuid::Uuid::from_u128(n)),
            ticket: TicketId::parse("tk-1").unwrap(),
            carried_usd: 0.0,
            title: format!("Run {n}"),
            ticket_path: path.into(),
            folder: "/w".into(),
            state: RunState::Ended,
            phase: None,
            phases_done: 0,
            phases: 5,
            iterations: 0,
            cost_usd: 3.0,
            reason: reason.map(str::to_owned),
            started: time,
            updated: time,
            marks: Vec::new(),
            unverified: false,
            needs: None,
            until: None,
            worked_ms: 0,
            commit: None,
            committing: false,
            added: 0,
            worktree: None,
            aside: Vec::new(),
            merged: false,
            taken_back: Vec::new(),
            removed: 0,
        }
    }

    fn fold() -> RunFold {
        let mut fold = RunFold::default();
        for line in include_str!("../../tests/fixtures/journal/reviewed.jsonl").lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(KINDS.contains(&value["kind"].as_str().unwrap()), "{line}");
            fold.record(&serde_json::from_value(value).unwrap());
        }
        fold
    }

    #[test]
    fn the_figures_of_a_run_are_exact() {
        let total = sum([(run(1, "/t/a.md", Some("complete"), 5), fold())]).total;
        assert_eq!((total.runs, total.complete, total.iterations), (1, 1, 8), "without two that were refused");
        assert_eq!((total.tried, total.done), (3, 2), "one is renamed, one the person's, one refused, one at work");
        assert_eq!((total.judged, total.first_pass), (3, 1), "{total:?}");
        assert!((total.first_pass_rate.unwrap() - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!((total.approved, total.minor, total.rejected), (1, 1, 1));
        assert_eq!((total.fixes, total.fixed), (1, 1));
        assert_eq!((total.ms, total.tokens), (5_020, 550), "what was refused took its time, too");
        let steps: Vec<_> = total
            .steps
            .iter()
            .map(|step| (step.step.word(), step.iterations, step.ms, step.usage.input, step.cost_usd))
            .collect();
        assert_eq!(steps, [("code", 4, 4_020, 39, 2.0), ("critique", 3, 600, 13, 0.75), ("fix", 1, 400, 3, 0.125)]);
        assert!((total.cost_usd - 3.0).abs() < 1e-9, "an open iteration's cost is in the run's alone");
    }

    #[test]
    fn runs_are_summed_up_by_ticket_and_the_last_is_first() {
        let runs = [
            (run(3, "/t/b.md", None, 7), RunFold::default()),
            (run(2, "/t/a.md", Some("complete"), 9), fold()),
            (run(1, "/t/a.md", Some("blocked"), 5), fold()),
        ];
        let Stats { total, tickets } = sum(runs);
        let told: Vec<_> = tickets
            .iter()
            .map(|ticket| (ticket.ticket_path.as_str(), ticket.title.as_str(), ticket.tally.runs))
            .collect();
        assert_eq!(told, [("/t/a.md", "Run 2", 2), ("/t/b.md", "Run 3", 1)]);
        let told = |tally: &Tally| (tally.complete, tally.tried, tally.done, tally.judged, tally.steps.len());
        assert_eq!(told(&tickets[0].tally), (1, 3, 2, 3, 3), "what two runs worked on is one phase");
        assert_eq!((tickets[1].tally.tried, tickets[1].tally.first_pass_rate), (0, None));
        assert_eq!((total.runs, total.tried, total.first_pass, total.cost_usd), (3, 3, 1, 9.0));
    }

    #[test]
    fn a_claim_that_nobody_checked_is_done_and_not_judged() {
        let mut fold = RunFold::default();
        for (at, how) in
            [DoneHow::ClaimedUnchecked, DoneHow::ClaimedNoChange, DoneHow::Verified].into_iter().enumerate()
        {
            let (phase, id) = (Some(format!("P{at}")), Some(PhaseId(at as u32 + 1)));
            fold.record(&Record::PhaseDone { n: 1, phase, how, id });
        }
        let total = sum([(run(1, "/t/a.md", None, 5), fold)]).total;
        assert_eq!((total.done, total.judged, total.first_pass, total.first_pass_rate), (3, 1, 1, Some(1.0)));
    }

    #[test]
    fn the_first_claim_of_a_phase_is_that_of_its_earliest_run() {
        let judged = |holds: bool| {
            let (mut fold, phase) = (RunFold::default(), || Some("P".to_owned()));
            // Each run numbers its phases anew.
            let id = Some(PhaseId(1 + u32::from(holds)));
            fold.record(&if holds {
                Record::PhaseDone { n: 1, phase: phase(), how: DoneHow::Verified, id }
            } else {
                Record::PhaseDisputed { n: 1, phase: phase(), why: "x".into(), id }
            });
            fold
        };
        let total =
            sum([(run(2, "/t/a.md", None, 9), judged(true)), (run(1, "/t/a.md", None, 5), judged(false))]).total;
        assert_eq!((total.done, total.judged, total.first_pass), (1, 1, 0));
    }

    #[test]
    fn in_words_they_fit_a_narrow_screen() {
        let stats = sum([(run(1, "/t/a.md", Some("complete"), 5), fold())]);
        let words: Vec<String> = lines(&stats)
            .into_iter()
            .map(|line| match line {
                Line::Heading(words) => format!("# {words}"),
                Line::Text(words) => words,
                Line::Gap => String::new(),
            })
            .collect();
        let expected = "\
Runs        1, 1 complete
Iterations  8
Phases      3 tried, 2 done
First pass  1 of 3 checked (33 %)
Critic      1 approved, 1 minor, 1 rejected
Fixes       1 attempt, 1 rejected phase fixed
Time        5 s
Cost        $3.00, 550 tokens

# Step      iterations  time  tokens   cost
code               4   4 s     390  $2.00
critique           3   0 s     130  $0.75
fix                1   0 s      30  $0.12

# Ticket  runs  done/tried  first pass  fixes  time   cost
tk-1       1         2/3        33 %      1   5 s  $3.00  Run 1";
        assert_eq!(words.join("\n"), expected);
        assert!(words.iter().all(|line| line.chars().count() <= 78));
        assert_eq!(lines(&Stats::default()), [Line::Text("No runs yet.".into())]);
    }
}
