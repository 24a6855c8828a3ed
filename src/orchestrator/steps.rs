//! The steps that a run is made of, one file each. The first that has something to do is the next.

pub mod chat;
pub mod check;
pub mod code;
mod context;
pub mod critique;
pub mod evaluate;
pub mod fix;
pub mod plan;
pub mod resolve;
pub mod review;

use crate::orchestrator::prompt::Kind;
use crate::orchestrator::state::State;
use crate::orchestrator::step::{Step, present};

/// All steps, in the order they are asked in: a chat has no other; a ticket that is to be planned is planned before anything
/// else; what was found done is looked at first, then what was rejected is fixed; a merge that is open in the worktree is
/// brought to its end before other work; what a look at all of it has found is looked at again; when nothing else is left to
/// do there is that look, and at last the goal is asked about.
pub static STEPS: [Step; 9] = [
    chat::STEP,
    plan::STEP,
    critique::STEP,
    fix::STEP,
    resolve::STEP,
    code::STEP,
    check::STEP,
    review::STEP,
    evaluate::STEP,
];

/// What the person writes now goes to the Claude that is at work; one that judges leaves it to the next that works.
pub fn takes_messages(state: &State) -> bool {
    present(&STEPS, state).is_none_or(|step| step.takes_messages)
}

/// The templates of all steps, each once.
pub fn prompts() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in STEPS.iter().flat_map(|step| step.prompts) {
        if !kinds.contains(kind) {
            kinds.push(*kind);
        }
    }
    kinds
}
