//! The steps that a run is made of, one file each. The first that has something to do is the next.

pub mod code;

use crate::orchestrator::prompt::Kind;
use crate::orchestrator::step::Step;

/// All steps, in the order they are asked in.
pub static STEPS: [Step; 1] = [code::STEP];

pub fn prompts() -> Vec<Kind> {
    STEPS.iter().flat_map(|step| step.prompts).copied().collect()
}
