//! Leaving a ticket that has no phases by what Claude says about it, after Hank's order. Where a ticket has phases,
//! the phases decide: the same signs are then only told, and lead to corrections.
//!
//! | asked in this order | the run ends |
//! |---|---|
//! | Claude's own rules refused a call, and not only a compound command | `permission_denied` |
//! | 3 iterations with nothing but tests (`exit.test_loops`) | `test_saturation` |
//! | more of the iterations with nothing but tests than `exit.test_percentage` says | `test_saturation` |
//! | 2 iterations that called the work complete (`exit.done_signals`) | `complete` |
//! | 5 iterations that wanted to leave | `complete` |
//! | 2 that wanted to leave, and the last says `exit_signal: true` | `complete` |
//! | every box of the file is ticked, the optional ones aside | `complete` |
//!
//! While the last iteration says `exit_signal: false`, nothing but a refusal ends the run here. A sign whose
//! iteration did not stand its check (validation commands, the working tree) is not counted, so no words complete a
//! ticket that its own commands call broken. What Claude reports as `DONE` in our own block is judged at once, as
//! ever (`judge`), and is no matter of this file.

mod correct;
mod signs;

pub use correct::corrections;
pub use signs::{Last, Signs, count};

use crate::domain::outcome::{DoneHow, ExitReason};
use crate::orchestrator::state::{State, Validated};

/// Iterations of which a part says something.
const SHARED: u32 = 10;
/// Iterations that want to leave, whatever the last one says.
const SAFETY: usize = 5;
/// Iterations that want to leave, when the last one says so in so many words.
const INDICATORS: usize = 2;

/// What ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionRule {
    /// Claude was refused something by rules that are not ours.
    PermissionDenied,
    /// Nothing but tests, again and again.
    TestSaturation,
    /// Nothing but tests in too many of the iterations.
    TestShare,
    /// Called complete, again and again.
    DoneSignals,
    /// Wants to leave for too long to go on.
    Safety,
    /// Wants to leave, and says so.
    ProjectComplete,
    PlanComplete,
}

impl CompletionRule {
    pub fn reason(self) -> ExitReason {
        match self {
            Self::PermissionDenied => ExitReason::PermissionDenied,
            Self::TestSaturation | Self::TestShare => ExitReason::TestSaturation,
            Self::DoneSignals | Self::Safety | Self::ProjectComplete | Self::PlanComplete => ExitReason::Complete,
        }
    }
}

/// The first rule that holds, asked before an iteration begins.
pub fn check(state: &State) -> Option<CompletionRule> {
    let is_other = state.plan.is_some() || state.chat.is_some();
    if !state.phases.is_empty() || is_other || state.is_complete() || state.whole.checked().is_some() {
        return None;
    }
    let (signs, limits) = (&state.signs, &state.settings.exit);
    if !signs.refused.is_empty() {
        return Some(CompletionRule::PermissionDenied);
    }
    if signs.exit_signal == Some(false) {
        return None;
    }
    let rules = [
        (reached(&signs.test_only, limits.test_loops), CompletionRule::TestSaturation),
        (limits.test_percentage.is_some_and(|most| is_mostly_tests(signs, most)), CompletionRule::TestShare),
        (reached(&signs.done, limits.done_signals), CompletionRule::DoneSignals),
        (signs.indicators.len() >= SAFETY, CompletionRule::Safety),
        (signs.indicators.len() >= INDICATORS && signs.exit_signal == Some(true), CompletionRule::ProjectComplete),
        (state.boxes.all_ticked() && stands(state), CompletionRule::PlanComplete),
    ];
    let first = rules.into_iter().find(|(holds, _)| *holds).map(|(_, rule)| rule);
    // What a critic has rejected is done when a claim says so, and not by signs.
    first.filter(|rule| rule.reason() != ExitReason::Complete || !state.whole.review.is_open)
}

fn reached(iterations: &[u32], limit: u32) -> bool {
    limit > 0 && iterations.len() >= limit as usize
}

/// More than `most` percent of the iterations since the start had nothing but tests, or all of them.
fn is_mostly_tests(signs: &Signs, most: u32) -> bool {
    let is_more = u64::from(signs.tested) * 100 > u64::from(signs.seen) * u64::from(most);
    signs.seen >= SHARED && (is_more || signs.tested >= signs.seen)
}

/// What the boxes say has been checked as far as it can be. Before the first iteration of a run they are a person's
/// word.
fn stands(state: &State) -> bool {
    let Some(last) = &state.last_work else { return true };
    state.whole.dispute.is_none() && (state.validation.is_empty() || passed(&last.validated))
}

fn passed(validated: &[Validated]) -> bool {
    !validated.is_empty() && validated.iter().all(|ran| ran.exit == Some(0))
}

/// On what ground the ticket is done when a rule completes it.
pub fn ground(state: &State) -> DoneHow {
    match &state.last_work {
        None => DoneHow::TickedByPerson,
        Some(last) if passed(&last.validated) => DoneHow::Verified,
        Some(last) if last.phase_changed == Some(true) => DoneHow::ClaimedUnchecked,
        Some(_) => DoneHow::ClaimedNoChange,
    }
}

/// Why the run ends, in words, with what to do next.
pub fn detail(rule: CompletionRule, state: &State) -> String {
    let signs = &state.signs;
    match rule {
        CompletionRule::PermissionDenied => {
            let refused: Vec<_> = signs.refused.iter().map(|denial| denial.shown()).collect();
            format!(
                "Claude's own permission rules, not programmator's gate, denied {}; allow them there (in `agent.flags`, as --allowedTools \"Bash(npm *)\") and start the ticket again",
                refused.join(", ")
            )
        }
        CompletionRule::TestSaturation => format!(
            "iterations {} only ran tests, so the work seems finished; check it, and add anything missing to the ticket",
            listed(&signs.test_only)
        ),
        CompletionRule::TestShare => format!(
            "{} of {} iterations only ran tests, more than `exit.test_percentage` allows; check the work, and add anything missing to the ticket",
            signs.tested, signs.seen
        ),
        CompletionRule::DoneSignals => {
            format!("Claude reported the work complete in iterations {}", listed(&signs.done))
        }
        CompletionRule::Safety => format!("Claude signalled completion in iterations {}", listed(&signs.indicators)),
        CompletionRule::ProjectComplete => {
            format!(
                "Claude signalled completion in iterations {} and confirmed it (exit_signal: true)",
                listed(&signs.indicators)
            )
        }
        CompletionRule::PlanComplete => match state.boxes.optional {
            0 => format!("all checkboxes of the ticket are ticked ({})", state.boxes.ticked),
            optional => {
                format!("all required checkboxes of the ticket are ticked; optional ones still open: {optional}")
            }
        },
    }
}

fn listed(iterations: &[u32]) -> String {
    iterations.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
