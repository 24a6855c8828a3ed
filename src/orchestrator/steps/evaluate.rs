//! A look at the whole ticket once nothing in it is left to do, by a Claude that has written none of it and may only read:
//! is the goal reached? Phases that are missing are proposed, not added: whether they are is the person's to say, or their
//! configuration's.

use super::context;
use crate::domain::claim::parse::parse_evaluation;
use crate::domain::evaluation::{AddPhases, Evaluation, GoalVerdict, Proposal};
use crate::domain::messages::done_words;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::Mark;
use crate::domain::profile::Profile;
use crate::domain::record::Record;
use crate::domain::step::{Counts, StepName};
use crate::domain::workflow::Workflow;
use crate::orchestrator::judge::Checks;
use crate::orchestrator::prompt::{Kind, Prompt, PromptContext};
use crate::orchestrator::state::{PhaseState, State};
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

/// Looks at the whole ticket.
pub const EVALUATE: Kind = Kind { file: "evaluate.md", builtin: include_str!("../prompt/evaluate.md") };
/// Asks for the answer only.
pub const GOAL_ONLY: Kind = Kind { file: "goal_only.md", builtin: include_str!("../prompt/goal_only.md") };

pub const STEP: Step = Step {
    name: StepName::EVALUATE,
    counts: Counts::Nothing,
    takes_messages: false,
    session: SessionUse::Fresh,
    next: |state| if is_due(state) { Next::Ticket } else { Next::Nothing },
    stands: is_due,
    model: |settings| settings.workflow.of(&StepName::EVALUATE).model,
    effort: |settings| settings.workflow.of(&StepName::EVALUATE).effort,
    profile: |_| Some(Profile::ReadOnly),
    plan_mode: false,
    shows_changes: true,
    prompts: &[EVALUATE, GOAL_ONLY],
    prompt: |state, notes| prompt(state, EVALUATE, notes),
    follow_up: |state| prompt(state, GOAL_ONLY, Vec::new()),
    read: |_, text| parse_evaluation(text).map_or_else(Answer::Unreadable, Answer::Evaluation),
    judge: judged,
};

/// Nothing is left to do, and of what Claude did nobody has said yet whether it is enough.
fn is_due(state: &State) -> bool {
    let goal = &state.goal;
    state.settings.workflow.name == Workflow::Thorough
        && state.is_complete()
        && !goal.achieved
        && goal.proposal.is_none()
        && state.parts().any(PhaseState::is_done_by_claude)
}

fn prompt(state: &State, kind: Kind, notes: Vec<String>) -> Prompt {
    let phases = state.phases.iter().map(|phase| {
        let how = match phase.mark {
            Mark::Done(how) => done_words(how),
            _ => "skipped by the user",
        };
        format!("{} ({how})", phase.text)
    });
    let context =
        PromptContext { settled_phases: phases.collect(), phases_left: left(state), ..context::context(state, notes) };
    Prompt { kind, context }
}

/// Phases that may still be added in this run.
fn left(state: &State) -> u32 {
    state.settings.workflow.max_added_phases.saturating_sub(state.goal.added)
}

fn judged(state: &State, _: Checks<'_>) -> Judged {
    let nothing = Judged::Facts(Vec::new());
    // The person may have taken a phase up again, or added one, a moment ago.
    let Some(open) = state.open_iteration().filter(|_| is_due(state)) else { return nothing };
    let Some(Evaluation { verdict, mut phases, summary }) = open.evaluation.clone() else {
        return if open.is_unread() {
            let why = "the evaluator gave no readable answer about the ticket's goal, even when asked again";
            Judged::Stop(Vec::new(), ExitReason::ReviewFailed, why.to_owned())
        } else {
            nothing
        };
    };
    if verdict == GoalVerdict::Achieved {
        return Judged::Facts(vec![Record::GoalAchieved { n: open.n }]);
    }
    let wanted = phases.len();
    phases.truncate(left(state) as usize);
    let proposal = Proposal { n: open.n, left_out: wanted - phases.len(), phases, why: summary };
    if state.settings.workflow.add_phases == AddPhases::Never || proposal.phases.is_empty() {
        let all = Proposal { phases: open.evaluation.clone().map_or_else(Vec::new, |said| said.phases), ..proposal };
        return Judged::Stop(Vec::new(), ExitReason::ReviewFailed, all.unreached());
    }
    Judged::Facts(vec![Record::PhasesProposed(proposal)])
}
