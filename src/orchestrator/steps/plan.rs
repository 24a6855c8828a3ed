//! The drafting of phases and validation commands for a ticket that has none, by a Claude that may only read, in its plan
//! mode. It is a step like the others, so that it is journaled, counted and resumed as they are: a run for which planning
//! was asked (`PlanAsked`) begins with it, and goes no further than the plan (`decide::plan`).
//!
//! Claude answers with a status block. Its plan mode's own way to end, `ExitPlanMode`, would ask the person whether to
//! begin the work, which is not what follows: that tool is taken away. The person's words about a draft go back to the
//! same session.

use super::context;
use crate::domain::claim::parse::parse_draft;
use crate::domain::outcome::ExitReason;
use crate::domain::planning::DraftFault;
use crate::domain::profile::Profile;
use crate::domain::step::{Counts, StepName};
use crate::domain::ticket::PhaseSettings;
use crate::domain::ticket::draft::Draft;
use crate::orchestrator::judge::Checks;
use crate::orchestrator::prompt::{Kind, Prompt, PromptContext};
use crate::orchestrator::state::{PlanStage, Planning, State};
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

/// Asks for a draft, or for another one.
pub const PLAN: Kind = Kind { file: "plan.md", builtin: include_str!("../prompt/plan.md") };
/// Asks for the draft's block only.
pub const DRAFT_ONLY: Kind = Kind { file: "draft_only.md", builtin: include_str!("../prompt/draft_only.md") };

pub const STEP: Step = Step {
    name: StepName::PLAN,
    counts: Counts::Nothing,
    takes_messages: true,
    session: SessionUse::Continued,
    next: |state| if is_due(state) { Next::Ticket } else { Next::Nothing },
    stands: is_due,
    model: |settings| settings.workflow.of(&StepName::PLAN).model,
    effort: |settings| settings.workflow.of(&StepName::PLAN).effort,
    profile: |_| Some(Profile::ReadOnly),
    plan_mode: true,
    shows_changes: false,
    prompts: &[PLAN, DRAFT_ONLY],
    prompt,
    follow_up,
    read,
    judge: judged,
};

fn planning(state: &State) -> Option<&Planning> {
    state.plan.as_deref().filter(|_| state.phases.is_empty())
}

fn is_due(state: &State) -> bool {
    planning(state).is_some_and(|plan| plan.stage == PlanStage::Due)
}

fn prompt(state: &State, notes: Vec<String>) -> Prompt {
    let plan = planning(state);
    let words = plan.and_then(|plan| plan.words.clone());
    let earlier = plan.and_then(|plan| plan.draft.as_ref());
    let earlier = earlier.map(|draft| if draft.parts.is_empty() { draft.markdown() } else { draft.body() });
    Prompt { kind: PLAN, context: PromptContext { words, draft: earlier, ..context(state, notes) } }
}

fn follow_up(state: &State) -> Prompt {
    let why = state.iteration.as_ref().and_then(|open| open.claim_missing.as_deref()).and_then(DraftFault::from_word);
    let why = why.unwrap_or(DraftFault::Missing).sentence();
    Prompt { kind: DRAFT_ONLY, context: PromptContext { dispute: Some(why), ..context(state, Vec::new()) } }
}

fn context(state: &State, notes: Vec<String>) -> PromptContext {
    let is_new = planning(state).is_some_and(|plan| plan.asked.made.is_some());
    PromptContext { is_new, splits: splits(state), ..context::context(state, notes) }
}

fn splits(state: &State) -> bool {
    planning(state).is_some_and(|plan| plan.asked.splits)
}

/// Title and text are drafted only for a file that was made for it, and other tickets only where that was asked for.
fn read(state: &State, text: &str) -> Answer {
    let is_new = planning(state).is_some_and(|plan| plan.asked.made.is_some());
    match parse_draft(text).map(|draft| with_settings(draft, state)) {
        Err(fault) => Answer::Unreadable(fault.word()),
        Ok(draft) if !draft.parts.is_empty() && !splits(state) => Answer::Unreadable(DraftFault::NoSplit.word()),
        Ok(draft) if is_new => Answer::Draft(draft),
        Ok(draft) => Answer::Draft(Draft { title: String::new(), text: String::new(), ..draft }),
    }
}

/// What the person has set for a phase of the draft before stays with it.
fn with_settings(mut draft: Draft, state: &State) -> Draft {
    let Some(earlier) = planning(state).and_then(|plan| plan.draft.as_ref()) else { return draft };
    let all =
        |draft: &Draft| draft.phases.iter().chain(draft.parts.iter().flat_map(|part| &part.phases)).cloned().collect();
    let earlier: Vec<String> = all(earlier);
    let phases = draft.phases.iter_mut().chain(draft.parts.iter_mut().flat_map(|part| &mut part.phases));
    for phase in phases {
        if let Some(set) = earlier.iter().find(|one| PhaseSettings::off(one) == phase) {
            phase.clone_from(set);
        }
    }
    draft
}

fn judged(state: &State, _: Checks<'_>) -> Judged {
    let Some(open) = state.open_iteration().filter(|open| !open.drafted) else { return Judged::Facts(Vec::new()) };
    // Asked again, it had none either. What was cut off is asked from the beginning.
    let is_unread = open.claim_missing.is_some() && open.cut.is_none() && open.failure.is_none();
    if is_unread && open.limited.is_none() && is_due(state) {
        let fault = open.claim_missing.as_deref().and_then(DraftFault::from_word).unwrap_or(DraftFault::Missing);
        let why = format!("Claude gave no usable draft, even when asked again: {}", fault.sentence());
        return Judged::Stop(Vec::new(), ExitReason::NotPlanned, why);
    }
    Judged::Facts(Vec::new())
}
