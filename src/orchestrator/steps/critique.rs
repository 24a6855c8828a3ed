//! A look at what was found done, by a Claude that has not written it: in a session of its own, which may only read. What
//! it is shown comes from programmator (the ticket, the difference, what the validation commands said), not from the
//! Claude that did the work; its verdict is what it says, in no file.
//!
//! autoclaude's critic writes its verdict into a file that the coder can write, too: there is none here.

use super::{context, resolve};
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::claim::parse::parse_critique;
use crate::domain::critique::{CriticVerdict, Critique, Issue};
use crate::domain::merge::{ConflictStage, ConflictStaged};
use crate::domain::outcome::ExitReason;
use crate::domain::profile::Profile;
use crate::domain::record::{EditDue, Record};
use crate::domain::step::{Counts, StepName};
use crate::domain::ticket::revise::TicketEdit;
use crate::domain::workflow::MinorIssues;
use crate::orchestrator::judge::Checks;
use crate::orchestrator::prompt::{Kind, Prompt, PromptContext};
use crate::orchestrator::state::State;
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

/// Looks at a phase, or at the whole ticket.
pub const CRITIQUE: Kind = Kind { file: "critique.md", builtin: include_str!("../prompt/critique.md") };
/// Asks for the verdict only.
pub const VERDICT_ONLY: Kind = Kind { file: "verdict_only.md", builtin: include_str!("../prompt/verdict_only.md") };

/// Issues that go into the ticket's Notes, and the columns of each.
const NOTED: usize = 20;
const WIDEST: usize = 300;

pub const STEP: Step = Step {
    name: StepName::CRITIQUE,
    counts: Counts::Nothing,
    takes_messages: false,
    session: SessionUse::Fresh,
    next,
    stands: |state| is_of_conflict(state) || state.own_phase().is_some_and(|phase| phase.checked().is_some()),
    model: |settings| settings.workflow.of(&StepName::CRITIQUE).model,
    effort: |settings| settings.workflow.of(&StepName::CRITIQUE).effort,
    profile: |_| Some(Profile::ReadOnly),
    plan_mode: false,
    shows_changes: true,
    prompts: &[CRITIQUE, VERDICT_ONLY],
    prompt: |state, notes| prompt(state, CRITIQUE, notes),
    follow_up: |state| prompt(state, VERDICT_ONLY, Vec::new()),
    read: |_, text| parse_critique(text).map_or_else(Answer::Unreadable, Answer::Critique),
    judge: judged,
};

/// How a conflict was resolved is to be looked at.
fn is_of_conflict(state: &State) -> bool {
    state.conflict_stage() == Some(ConflictStage::Checked)
}

fn next(state: &State) -> Next {
    if is_of_conflict(state) {
        return Next::Ticket;
    }
    context::next_part(state, |phase| phase.checked().is_some())
}

fn prompt(state: &State, kind: Kind, notes: Vec<String>) -> Prompt {
    let issues = state.own_phase().map(|phase| phase.review.issues.iter().map(Issue::words).collect());
    let context = PromptContext { issues: issues.unwrap_or_default(), ..context::context(state, notes) };
    Prompt { kind, context: if is_of_conflict(state) { resolve::about(state, context) } else { context } }
}

/// How a conflict was resolved holds, or is to be done again.
fn resolved(state: &State) -> Judged {
    let Some(open) = state.open_iteration() else { return Judged::Facts(Vec::new()) };
    let Some(critique) = &open.critique else {
        return if open.is_unread() {
            let why = "the critic gave no readable verdict on the resolved conflict, even when asked again";
            Judged::Stop(Vec::new(), ExitReason::ReviewFailed, why.to_owned())
        } else {
            Judged::Facts(Vec::new())
        };
    };
    let tries = state.conflict.as_ref().map_or(0, |conflict| conflict.tries);
    if is_rejected(state, tries, critique) {
        let why = critique.issues.iter().map(Issue::words).chain([critique.summary.clone()]);
        return resolve::rejected(state, open.n, why.filter(|why| !why.is_empty()).collect());
    }
    let approved = ConflictStaged { n: open.n, ..ConflictStaged::at(ConflictStage::Approved) };
    Judged::Facts(vec![Record::ConflictStaged(approved)])
}

fn judged(state: &State, _: Checks<'_>) -> Judged {
    if is_of_conflict(state) {
        return resolved(state);
    }
    let nothing = Judged::Facts(Vec::new());
    // The person may have settled it, or taken it out of the file, a moment ago.
    let (Some(open), Some(phase)) = (state.open_iteration(), state.own_phase()) else { return nothing };
    let Some(how) = phase.checked() else { return nothing };
    let is_whole = state.phases.is_empty();
    let (text, id) = if is_whole { (None, None) } else { (Some(phase.text.clone()), Some(phase.id)) };
    let name = text.as_ref().map_or_else(|| "the ticket".to_owned(), |text| format!("“{text}”"));
    let Some(critique) = open.critique.clone() else {
        return if open.is_unread() {
            let why = format!("the critic gave no readable verdict on {name}, even when asked again");
            Judged::Stop(Vec::new(), ExitReason::ReviewFailed, why)
        } else {
            nothing
        };
    };
    let critique = critique.compared_with(&open.phase_files, &open.shown);
    if !is_rejected(state, phase.review.rejections, &critique) {
        let note = noted(open.n, &name, &critique.issues);
        let done = Record::PhaseDone { n: open.n, phase: text, how: how.approved(), id };
        return Judged::Facts([done].into_iter().chain(note).collect());
    }
    let tries = state.settings.workflow.fix_tries;
    let is_last = phase.review.rejections >= tries;
    let many = critique.issues.len();
    let rejected = Record::PhaseRejected { n: open.n, phase: text, issues: critique.issues, id, of_ticket: false };
    if is_last {
        let (issues, attempts) = (counted(many, "issue"), counted(tries as usize, "attempt"));
        let why = format!("the critic still finds {issues} in {name} after {attempts} to fix it");
        return Judged::Stop(vec![rejected], ExitReason::ReviewFailed, why);
    }
    Judged::Facts(vec![rejected])
}

/// Issues that are not to be fixed go into the ticket's Notes.
pub(super) fn noted(n: u32, name: &str, issues: &[Issue]) -> Option<Record> {
    if issues.is_empty() {
        return None;
    }
    let lines = issues.iter().take(NOTED).map(|issue| format!("\n- {}", clean_line(&issue.words(), WIDEST)));
    let more = match issues.len().saturating_sub(NOTED) {
        0 => String::new(),
        more => format!("\n- and {}", counted(more, "more issue")),
    };
    let text = format!(
        "The critic approved {name} with {}:\n{}{more}",
        counted(issues.len(), "minor issue"),
        lines.collect::<String>()
    );
    let edit = TicketEdit::Note { text };
    Some(Record::EditDue(EditDue { id: format!("issues-{n}"), edit, by: Answerer::CONFIGURATION }))
}

/// It is to be fixed; `rejections`: how often it was.
pub(super) fn is_rejected(state: &State, rejections: u32, critique: &Critique) -> bool {
    let fixes_minor = state.settings.workflow.minor_issues == MinorIssues::Fix;
    match critique.verdict {
        CriticVerdict::NeedsFixes => true,
        CriticVerdict::MinorIssues => fixes_minor && rejections == 0 && !critique.issues.is_empty(),
        CriticVerdict::Approved => false,
    }
}
