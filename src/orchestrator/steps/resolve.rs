//! Resolving a conflict of the ticket's work with its base, once the person wants Claude to: the base is merged into the
//! worktree with its markers, and Claude edits the files. What it has done is validated there, looked at by a fresh session
//! (the critique), committed, and only then merged as any other work.

use super::{code, context};
use crate::base::text::clean_line;
use crate::domain::claim::ClaimStatus;
use crate::domain::merge::{ConflictStage, ConflictStaged};
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::domain::step::{Counts, StepName};
use crate::orchestrator::judge::Checks;
use crate::orchestrator::prompt::{Kind, Prompt, PromptContext};
use crate::orchestrator::state::State;
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

/// Resolves conflicts.
pub const RESOLVE: Kind = Kind { file: "resolve.md", builtin: include_str!("../prompt/resolve.md") };

pub const STEP: Step = Step {
    name: StepName::RESOLVE,
    counts: Counts::Nothing,
    takes_messages: true,
    session: SessionUse::Fresh,
    next: |state| if is_open(state) { Next::Ticket } else { Next::Nothing },
    stands: is_open,
    model: |settings| settings.workflow.of(&StepName::RESOLVE).model,
    effort: |settings| settings.workflow.of(&StepName::RESOLVE).effort,
    profile: |settings| settings.workflow.of(&StepName::RESOLVE).profile,
    plan_mode: false,
    shows_changes: false,
    prompts: &[RESOLVE, code::STATUS_ONLY],
    prompt,
    follow_up: code::follow_up,
    read,
    judge: judged,
};

fn is_open(state: &State) -> bool {
    state.conflict_stage() == Some(ConflictStage::Open)
}

fn prompt(state: &State, notes: Vec<String>) -> Prompt {
    Prompt { kind: RESOLVE, context: about(state, context::context(state, notes)) }
}

/// What both who resolves and who looks at it is told of the conflict.
pub(super) fn about(state: &State, context: PromptContext) -> PromptContext {
    let Some(conflict) = &state.conflict else { return context };
    let base = state.workspace.worktree().map(|worktree| worktree.base.clone()).unwrap_or_default();
    let conflicts = conflict.files.iter().map(|file| clean_line(file, 300)).collect();
    PromptContext { conflicts, base, issues: conflict.why.clone(), phase: None, dispute: None, ..context }
}

/// The claim is about no phase.
fn read(state: &State, text: &str) -> Answer {
    use crate::domain::phase::Claimed;
    match code::read(state, text) {
        Answer::Claim { claim, warnings, .. } => Answer::Claim { claim, about: Claimed::Nothing, warnings },
        other => other,
    }
}

fn judged(state: &State, checks: Checks<'_>) -> Judged {
    let nothing = Judged::Facts(Vec::new());
    let Some(open) = state.open_iteration().filter(|_| is_open(state)) else { return nothing };
    let Some(claim) = &open.claim else {
        return if open.is_unread() {
            rejected(state, open.n, vec!["Claude ended without a readable status block".to_owned()])
        } else {
            nothing
        };
    };
    if claim.status == ClaimStatus::Blocked {
        let why = claim.error.as_ref().unwrap_or(&claim.summary);
        return Judged::Stop(Vec::new(), ExitReason::MergeFailed, format!("Claude cannot resolve the conflict: {why}"));
    }
    match checks {
        Checks::Pending => Judged::Validate,
        Checks::Ran(results) if results.iter().any(|result| !result.passed()) => {
            let failed = results.iter().filter(|result| !result.passed());
            let why = failed.map(|result| format!("`{}` fails on the merged tree\n{}", result.command, result.tail));
            rejected(state, open.n, why.collect())
        }
        Checks::None | Checks::Ran(_) => {
            Judged::Facts(vec![Record::ConflictStaged(ConflictStaged::at(ConflictStage::Claimed))])
        }
    }
}

/// It is to be resolved again, for these reasons, but not for ever.
pub(super) fn rejected(state: &State, n: u32, why: Vec<String>) -> Judged {
    let tries = state.conflict.as_ref().map_or(0, |conflict| conflict.tries);
    let first = why.first().and_then(|why| why.lines().next()).unwrap_or_default().to_owned();
    let again = Record::ConflictStaged(ConflictStaged { n, why, ..ConflictStaged::at(ConflictStage::Open) });
    if tries >= state.settings.workflow.fix_tries {
        return Judged::Stop(vec![again], ExitReason::MergeFailed, given_up(&first));
    }
    Judged::Facts(vec![again])
}

/// That Claude has not resolved it, and what there is now.
pub(in crate::orchestrator) fn given_up(why: &str) -> String {
    format!(
        "Claude did not resolve the conflict: {why}. The merge is open in the worktree: finish and commit it there, or undo it with `git merge --abort`, then start the ticket again"
    )
}
