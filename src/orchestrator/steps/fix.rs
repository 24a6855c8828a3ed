//! Work on what a critic has rejected, in a session of its own: it is told the phase, the issues, what was changed so far
//! and what the validation commands said. A claim that it is fixed is judged as any other, and looked at again.

use super::{code, context};
use crate::domain::critique::Issue;
use crate::domain::step::{Counts, StepName};
use crate::orchestrator::prompt::{Kind, Prompt, PromptContext};
use crate::orchestrator::state::{PhaseState, State};
use crate::orchestrator::step::{SessionUse, Step};

/// Fixes a phase, or the whole ticket.
pub const FIX: Kind = Kind { file: "fix.md", builtin: include_str!("../prompt/fix.md") };

pub const STEP: Step = Step {
    name: StepName::FIX,
    counts: Counts::Progress,
    takes_messages: true,
    session: SessionUse::Fresh,
    next: |state| context::next_part(state, is_open),
    stands: |state| state.own_phase().is_some_and(is_open),
    model: |settings| settings.workflow.of(&StepName::FIX).model,
    effort: |settings| settings.workflow.of(&StepName::FIX).effort,
    profile: |settings| settings.workflow.of(&StepName::FIX).profile,
    plan_mode: false,
    shows_changes: true,
    prompts: &[FIX, code::STATUS_ONLY],
    prompt,
    follow_up: code::follow_up,
    read: code::read,
    judge: code::judged,
};

fn is_open(phase: &PhaseState) -> bool {
    phase.is_open() && phase.review.is_open
}

fn prompt(state: &State, notes: Vec<String>) -> Prompt {
    let issues = state.own_phase().map(|phase| phase.review.issues.iter().map(told).collect());
    let context = PromptContext { issues: issues.unwrap_or_default(), ..context::context(state, notes) };
    Prompt { kind: FIX, context }
}

fn told(issue: &Issue) -> String {
    let doubt = if issue.doubtful { " [doubtful: the phase has not changed this place]" } else { "" };
    format!("{}{doubt}", issue.words())
}
