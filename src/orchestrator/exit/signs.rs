//! The signs of a run, counted from its iterations. A start, also of a run that is resumed, begins with none:
//! what an earlier process saw says nothing about the work as it is now.

use crate::domain::analysis::{OUTPUTS, tests_only};
use crate::domain::denial::Denial;
use crate::domain::outcome::IterationOutcome;
use crate::orchestrator::state::Iteration;

/// Iterations of each kind that are remembered: as many as a limit can ask for.
const WINDOW: usize = 20;

/// What the iterations since the start have shown. Iterations by their numbers, oldest first, the last twenty of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Nothing but tests, since anything else was done.
    pub test_only: Vec<u32>,
    pub done: Vec<u32>,
    pub indicators: Vec<u32>,
    /// How many iterations have said anything, and how many of them had nothing but tests.
    pub seen: u32,
    pub tested: u32,
    /// What the last iteration said about leaving.
    pub exit_signal: Option<bool>,
    /// What Claude's own rules refused in the last iteration, unless it was only a compound command.
    pub refused: Vec<Denial>,
    /// What is to be corrected about the last iteration.
    pub last: Last,
    /// Error lines of the last outputs, newest last.
    pub errors: Vec<Vec<String>>,
    /// Length of the last output in bytes.
    pub length: Option<u64>,
}

/// What the last iteration should not have done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Last {
    /// The question phrase that was found in it.
    pub question: Option<String>,
    /// Its errors are those of the outputs before.
    pub stuck: bool,
}

/// Takes a finished iteration into account. One that was interrupted or cut off says nothing.
pub fn count(signs: &mut Signs, iteration: &Iteration, outcome: IterationOutcome) {
    if matches!(outcome, IterationOutcome::Interrupted | IterationOutcome::CutOff) {
        return;
    }
    signs.refused.clone_from(&iteration.refused);
    let Some(analysis) = &iteration.analysis else {
        signs.last = Last::default();
        return;
    };
    let holds = iteration.dispute.is_none();
    signs.seen += 1;
    if analysis.tests_only && tests_only::are_tests(&iteration.changed_files) {
        signs.tested += 1;
        push(&mut signs.test_only, iteration.n);
    } else if iteration.changed == Some(true) {
        signs.test_only.clear();
    }
    if holds && analysis.done {
        push(&mut signs.done, iteration.n);
    }
    if holds && analysis.indicates_completion() {
        push(&mut signs.indicators, iteration.n);
    }
    signs.exit_signal = analysis.exit_signal.filter(|exit| holds || !exit);
    signs.last = Last { question: analysis.question.clone(), stuck: analysis.stuck };
    signs.length = Some(analysis.length);
    signs.errors.push(analysis.errors.clone());
    let surplus = signs.errors.len().saturating_sub(OUTPUTS);
    signs.errors.drain(..surplus);
}

fn push(to: &mut Vec<u32>, n: u32) {
    to.push(n);
    let surplus = to.len().saturating_sub(WINDOW);
    to.drain(..surplus);
}
