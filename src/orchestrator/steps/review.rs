//! A look at all of a ticket's changes once nothing in it is left to do, by a Claude that has written none of them and may
//! only read: for each thing that reviewers look for (`workflow.review`), one after the other in one session. What it wants
//! fixed is looked at again by another ([`check`](super::check)). What stays goes to the phase that was done last, or to the
//! ticket where there are none: it is fixed, validated and looked at as what a critic has rejected is, and then all of it is
//! reviewed again.

use super::{context, critique};
use crate::base::amount::counted;
use crate::domain::claim::parse::parse_critique;
use crate::domain::critique::{Critique, Issue};
use crate::domain::outcome::ExitReason;
use crate::domain::profile::Profile;
use crate::domain::record::Record;
use crate::domain::review::merge;
use crate::domain::step::{Counts, StepName};
use crate::orchestrator::judge::Checks;
use crate::orchestrator::prompt::{Kind, Prompt, PromptContext};
use crate::orchestrator::state::{PhaseState, State};
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

/// Looks at all changes of a ticket.
pub const REVIEW: Kind = Kind { file: "review-ticket.md", builtin: include_str!("../prompt/review-ticket.md") };

pub const STEP: Step = Step {
    name: StepName::REVIEW,
    counts: Counts::Nothing,
    takes_messages: false,
    session: SessionUse::Fresh,
    next: |state| if is_due(state) { Next::Ticket } else { Next::Nothing },
    stands: is_due,
    model: |settings| settings.workflow.of(&StepName::REVIEW).model,
    effort: |settings| settings.workflow.of(&StepName::REVIEW).effort,
    profile: |_| Some(Profile::ReadOnly),
    plan_mode: false,
    shows_changes: true,
    prompts: &[REVIEW, critique::VERDICT_ONLY],
    prompt: |state, notes| prompt(state, REVIEW, notes),
    follow_up: |state| prompt(state, critique::VERDICT_ONLY, Vec::new()),
    read: |_, text| parse_critique(text).map_or_else(Answer::Unreadable, Answer::Critique),
    judge: judged,
};

/// Nothing is left to do, and nobody has looked at all that Claude did.
pub(super) fn is_due(state: &State) -> bool {
    let goal = &state.goal;
    !state.settings.workflow.review.is_empty()
        && state.is_complete()
        && !goal.reviewed
        && !goal.achieved
        && goal.proposal.is_none()
        && state.parts().any(PhaseState::is_done_by_claude)
}

fn prompt(state: &State, kind: Kind, notes: Vec<String>) -> Prompt {
    let foci = state.settings.workflow.review.clone();
    let settled_phases = state.phases.iter().map(|phase| phase.text.clone()).collect();
    Prompt { kind, context: PromptContext { settled_phases, foci, ..context::context(state, notes) } }
}

fn judged(state: &State, _: Checks<'_>) -> Judged {
    let nothing = Judged::Facts(Vec::new());
    // The person may have taken a phase up again, or added one, a moment ago.
    let Some(open) = state.open_iteration().filter(|_| is_due(state)) else { return nothing };
    let Some(found) = open.critique.clone() else {
        return if open.is_unread() {
            let why = "the review of the ticket gave no readable verdict, even when asked again";
            Judged::Stop(Vec::new(), ExitReason::ReviewFailed, why.to_owned())
        } else {
            nothing
        };
    };
    let changed: Vec<String> = open.shown.iter().map(|file| file.path.clone()).collect();
    let compared = if changed.is_empty() { found } else { found.compared_with(&changed, &open.shown) };
    let Critique { verdict, issues, summary } = compared;
    // One thing may be found for several reasons.
    let issues = merge([(String::new(), issues)]).into_iter().map(|finding| {
        let texts: Vec<String> = std::iter::once(finding.issue.text.clone()).chain(finding.also).collect();
        Issue { text: texts.join("; also: "), ..finding.issue }
    });
    let found = Critique { verdict, issues: issues.collect(), summary };
    if !critique::is_rejected(state, state.goal.rejections, &found) {
        let note = critique::noted(open.n, "the ticket", &found.issues);
        return Judged::Facts([Record::TicketReviewed { n: open.n }].into_iter().chain(note).collect());
    }
    if found.issues.is_empty() {
        return rejected(state, open.n, found.issues);
    }
    Judged::Facts(vec![Record::TicketFaulted { n: open.n, issues: found.issues }])
}

/// These issues are to be fixed, or it was tried often enough.
pub(super) fn rejected(state: &State, n: u32, issues: Vec<Issue>) -> Judged {
    let tries = state.settings.workflow.fix_tries;
    let last = state.phases.iter().rev().find(|phase| phase.is_done_by_claude());
    let (phase, id) = last.map_or((None, None), |phase| (Some(phase.text.clone()), Some(phase.id)));
    let many = issues.len();
    let rejected = Record::PhaseRejected { n, phase, issues, id, of_ticket: true };
    if state.goal.rejections >= tries {
        let (issues, attempts) = (counted(many, "issue"), counted(tries as usize, "attempt"));
        let why = format!("the review still finds {issues} in the ticket after {attempts} to fix what it found");
        return Judged::Stop(vec![rejected], ExitReason::ReviewFailed, why);
    }
    Judged::Facts(vec![rejected])
}
