//! What a step is: a row of [`STEPS`](super::steps::STEPS). Everything that differs between one kind of iteration and
//! another stands in it, and nothing else knows a step by its name.
//!
//! An iteration goes: the first row that has something to do → its session, model and profile → its prompt → Claude →
//! its answer is read, or asked for once more → the tree is compared → what the answer comes to is judged. A step is
//! pure, as the core is.

use crate::domain::claim::Claim;
use crate::domain::critique::Critique;
use crate::domain::evaluation::Evaluation;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::Claimed;
use crate::domain::profile::Profile;
use crate::domain::record::{OfPhase, Record};
use crate::domain::settings::Settings;
use crate::domain::step::{Counts, StepName};
use crate::domain::ticket::draft::Draft;
use crate::orchestrator::judge::Checks;
use crate::orchestrator::prompt::{Kind, Prompt};
use crate::orchestrator::state::State;

/// One step.
pub struct Step {
    /// Its name, in journals too.
    pub name: StepName,
    pub counts: Counts,
    /// What the person writes to Claude is for it. A step that only judges leaves it to the next one that works.
    pub takes_messages: bool,
    pub session: SessionUse,
    /// What it would do now. It is asked only while no iteration is open.
    pub next: fn(&State) -> Next,
    /// What its open iteration was begun for is still to be done.
    pub stands: fn(&State) -> bool,
    /// Its own `--model`; `None` is the run's.
    pub model: fn(&Settings) -> Option<String>,
    /// Its own `--effort`; `None` is Claude's own default.
    pub effort: fn(&Settings) -> Option<String>,
    /// The gate's profile; `None` is the run's.
    pub profile: fn(&Settings) -> Option<Profile>,
    /// Claude is started in its plan mode.
    pub plan_mode: bool,
    /// Its prompt shows what was changed since its phase began, or the ticket.
    pub shows_changes: bool,
    /// The templates that it uses: a person may have their own.
    pub prompts: &'static [Kind],
    /// What Claude is told, with these notes of the person's: messages, and answers that came after its process had ended.
    pub prompt: fn(&State, Vec<String>) -> Prompt,
    /// What Claude is told when its answer cannot be read.
    pub follow_up: fn(&State) -> Prompt,
    /// What Claude's last words say.
    pub read: fn(&State, &str) -> Answer,
    /// What the answer comes to, or that there is none, now that the tree is compared.
    pub judge: fn(&State, Checks<'_>) -> Judged,
}

/// Which session of Claude's an iteration has. Each step has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionUse {
    Fresh,
    /// That of the iteration of this step before, while it can be resumed.
    Continued,
    /// The same, also where `session.continue` is off.
    Always,
}

/// What a step reads in Claude's last words.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Claim {
        claim: Claim,
        about: Claimed,
        /// What was tolerated about it, as words for the log.
        warnings: Vec<String>,
    },
    Critique(Critique),
    Evaluation(Evaluation),
    Draft(Draft),
    /// It is asked for once more; why, in a word.
    Unreadable(&'static str),
}

/// What there is for a step to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing: another step's turn, or the end of the run.
    Nothing,
    Phase(OfPhase),
    Ticket,
}

/// What an answer comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    /// Run the validation commands, and ask again.
    Validate,
    /// These facts; then the iteration ends, and the steps are asked what is next.
    Facts(Vec<Record>),
    /// These facts; then the iteration ends, and the run: only a person can help, for this reason.
    Stop(Vec<Record>, ExitReason, String),
}

/// The step whose turn it is, and what it does.
pub fn next<'a>(steps: &'a [Step], state: &State) -> Option<(&'a Step, Option<OfPhase>)> {
    steps.iter().find_map(|step| match (step.next)(state) {
        Next::Nothing => None,
        Next::Phase(phase) => Some((step, Some(phase))),
        Next::Ticket => Some((step, None)),
    })
}

/// The step of the open iteration, or of the last one. `None`: a newer program's.
pub fn present<'a>(steps: &'a [Step], state: &State) -> Option<&'a Step> {
    let name = &state.iteration.as_ref()?.role.step;
    steps.iter().find(|step| step.name == *name)
}
