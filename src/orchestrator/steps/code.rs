//! Work on the ticket: a phase at a time, or all of it where it has none. A claim that a phase is done is judged by the
//! validation commands and the tree (`judge`).

use super::context::context;
use crate::domain::claim::ClaimStatus;
use crate::domain::claim::parse::{Reading, Reason, parse};
use crate::domain::outcome::ExitReason;
use crate::domain::phase::{Claimed, PhaseId};
use crate::domain::record::Record;
use crate::domain::step::{Counts, StepName};
use crate::orchestrator::judge::{self, Checks, Judgement};
use crate::orchestrator::prompt::{Kind, Prompt};
use crate::orchestrator::state::{PhaseState, State};
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

/// Works on one phase.
pub const PHASED: Kind = Kind { file: "phased.md", builtin: include_str!("../prompt/phased.md") };
/// Works on a ticket without phases.
pub const PHASELESS: Kind = Kind { file: "phaseless.md", builtin: include_str!("../prompt/phaseless.md") };
/// Asks for the status block only.
pub const STATUS_ONLY: Kind = Kind { file: "status_only.md", builtin: include_str!("../prompt/status_only.md") };

pub const STEP: Step = Step {
    name: StepName::CODE,
    counts: Counts::Progress,
    takes_messages: true,
    session: SessionUse::Continued,
    next,
    stands: |state| state.own_phase().is_some_and(PhaseState::is_open),
    model: |settings| settings.workflow.of(&StepName::CODE).model,
    effort: |settings| settings.workflow.of(&StepName::CODE).effort,
    profile: |settings| settings.workflow.of(&StepName::CODE).profile,
    plan_mode: false,
    shows_changes: false,
    prompts: &[PHASED, PHASELESS, STATUS_ONLY],
    prompt,
    follow_up,
    read,
    judge: judged,
};

fn next(state: &State) -> Next {
    match state.next_phase() {
        _ if state.is_complete() => Next::Nothing,
        Some(phase) => Next::Phase(phase.named()),
        None => Next::Ticket,
    }
}

pub(super) fn follow_up(state: &State) -> Prompt {
    Prompt { kind: STATUS_ONLY, context: context(state, Vec::new()) }
}

fn prompt(state: &State, notes: Vec<String>) -> Prompt {
    let kind = if state.phases.is_empty() { PHASELESS } else { PHASED };
    Prompt { kind, context: context(state, notes) }
}

/// The claim in Claude's words. Another loop's block knows nothing of phases: where there are some, it is a sign and no
/// claim.
pub(super) fn read(state: &State, text: &str) -> Answer {
    let Reading { claim, reason, warnings, .. } = parse(text);
    match claim {
        None => Answer::Unreadable(reason.map_or("missing", Reason::word)),
        Some(claim) if !state.phases.is_empty() && !claim.source.is_ours() => Answer::Unreadable("not_ours"),
        Some(claim) => Answer::Claim { about: judge::claimed(state, &claim), claim, warnings },
    }
}

pub(super) fn judged(state: &State, checks: Checks<'_>) -> Judged {
    let nothing = Judged::Facts(Vec::new());
    let Some(open) = state.open_iteration() else { return nothing };
    if let Some(claim) = open.claim.as_ref().filter(|claim| claim.status == ClaimStatus::Blocked) {
        let why = claim.error.as_ref().unwrap_or(&claim.summary);
        return Judged::Stop(Vec::new(), ExitReason::Blocked, format!("Claude is blocked: {why}"));
    }
    let (Some(claim), Some(about), Some(changed)) = (&open.claim, open.claimed, open.phase_changed) else {
        return nothing;
    };
    // What Claude has done to the ticket's text just before its claim is known only now.
    let about = if about == Claimed::Unknown { judge::claimed(state, claim) } else { about };
    let phase = match about {
        Claimed::Phase(id) => Some(id),
        Claimed::Whole if judge::is_sign(state, claim) => None,
        Claimed::Whole | Claimed::Nothing => return nothing,
        Claimed::Unknown => {
            let name = claim.phase_completed.as_deref().unwrap_or_default();
            return disputed(
                state,
                open.n,
                open.phase,
                format!("the claimed phase “{name}” is not one of the open phases"),
            );
        }
    };
    // What a fix takes back may leave the tree as it was when the phase began: files were changed all the same.
    let is_fix = state.about(phase).is_some_and(|phase| phase.review.is_open);
    let changed = changed || is_fix && open.changed == Some(true);
    match judge::judge(claim, checks, changed, &open.blocked) {
        Judgement::Validate if is_open(state, phase) => Judged::Validate,
        Judgement::Done(how) if is_open(state, phase) && judge::settles(state, claim) => {
            let (n, text) = (open.n, text_of(state, phase));
            Judged::Facts(vec![if state.wants_critique(phase, how) {
                Record::PhaseChecked { n, phase: text, how, id: phase }
            } else {
                Record::PhaseDone { n, phase: text, how, id: phase }
            }])
        }
        Judgement::Validate | Judgement::Done(_) => nothing,
        Judgement::Disputed(why) => disputed(state, open.n, phase, why),
    }
}

fn disputed(state: &State, n: u32, phase: Option<PhaseId>, why: String) -> Judged {
    let fact = Record::PhaseDisputed { n, phase: text_of(state, phase), why, id: phase };
    Judged::Facts(is_open(state, phase).then_some(fact).into_iter().collect())
}

/// The person may have settled it, or taken it out of the file, a moment ago: then it stays as they want it.
fn is_open(state: &State, phase: Option<PhaseId>) -> bool {
    state.about(phase).is_some_and(PhaseState::is_open)
}

fn text_of(state: &State, phase: Option<PhaseId>) -> Option<String> {
    state.phase_by(phase?).map(|phase| phase.text.clone())
}
