//! A second look at what the review of the whole ticket wants fixed, by a Claude that has neither written the work nor
//! reviewed it and may only read: what it can refute is dropped, and says why. What is critical is not dropped on the word
//! of one Claude, and where its answer cannot be read everything stays.

use super::{context, critique, review};
use crate::domain::claim::parse::parse_checks;
use crate::domain::critique::{CriticVerdict, Critique, Issue, Severity};
use crate::domain::profile::Profile;
use crate::domain::record::Record;
use crate::domain::review::Check;
use crate::domain::settings::Settings;
use crate::domain::step::{Counts, StepName};
use crate::domain::workflow::StepSettings;
use crate::orchestrator::judge::Checks;
use crate::orchestrator::prompt::{Prompt, PromptContext};
use crate::orchestrator::review::CHECK;
use crate::orchestrator::state::State;
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

pub const STEP: Step = Step {
    name: StepName::CHECK,
    counts: Counts::Nothing,
    takes_messages: false,
    session: SessionUse::Fresh,
    next: |state| if is_due(state) { Next::Ticket } else { Next::Nothing },
    stands: is_due,
    model: |settings| own_or_reviewers(settings, |step| step.model),
    effort: |settings| own_or_reviewers(settings, |step| step.effort),
    profile: |_| Some(Profile::ReadOnly),
    plan_mode: false,
    shows_changes: true,
    prompts: &[CHECK],
    prompt,
    follow_up: |state| {
        let Prompt { kind, context } = prompt(state, Vec::new());
        Prompt { kind, context: PromptContext { resumed: true, ..context } }
    },
    read: |state, text| {
        let left = |checks: Vec<Check>| Answer::Critique(left(&state.goal.found, &checks));
        parse_checks(text).map_or_else(Answer::Unreadable, left)
    },
    judge: judged,
};

/// What is set for it, else for the review.
fn own_or_reviewers<T>(settings: &Settings, of: impl Fn(StepSettings) -> Option<T>) -> Option<T> {
    let workflow = &settings.workflow;
    of(workflow.of(&StepName::CHECK)).or_else(|| of(workflow.of(&StepName::REVIEW)))
}

/// The review has found something, and nobody has looked at it again.
fn is_due(state: &State) -> bool {
    review::is_due(state) && !state.goal.found.is_empty()
}

fn prompt(state: &State, notes: Vec<String>) -> Prompt {
    let issues = state.goal.found.iter().map(Issue::words).collect();
    let context = context::context(state, notes);
    let title = format!("since the work on ticket `{}` began", context.ticket_id);
    Prompt { kind: CHECK, context: PromptContext { title, issues, resumed: false, ..context } }
}

/// What stays of the issues, as the verdict that it comes to.
fn left(found: &[Issue], checks: &[Check]) -> Critique {
    let refuted = |n: usize| checks.iter().rfind(|check| check.issue == n).filter(|check| !check.holds);
    let mut issues = Vec::new();
    let mut dropped = Vec::new();
    for (n, issue) in (1..).zip(found) {
        match refuted(n).filter(|_| issue.severity != Severity::Critical) {
            Some(check) => dropped.push(format!("{}: {}", issue.words(), check.reason)),
            None => issues.push(issue.clone()),
        }
    }
    let is_minor = |issue: &Issue| issue.severity == Severity::Minor;
    let verdict = match issues.len() {
        0 => CriticVerdict::Approved,
        // What was grave about it is dropped.
        _ if !dropped.is_empty() && issues.iter().all(is_minor) => CriticVerdict::MinorIssues,
        _ => CriticVerdict::NeedsFixes,
    };
    let summary = match &dropped[..] {
        [] => "the review's findings are confirmed".to_owned(),
        dropped => format!("the review's findings were refuted: {}", dropped.join("; ")),
    };
    Critique { verdict, issues, summary }
}

fn judged(state: &State, _: Checks<'_>) -> Judged {
    let nothing = Judged::Facts(Vec::new());
    // The person may have taken a phase up again, or added one, a moment ago.
    let Some(open) = state.open_iteration().filter(|_| is_due(state)) else { return nothing };
    let left = match &open.critique {
        Some(left) => left.clone(),
        None if open.is_unread() => left(&state.goal.found, &[]),
        None => return nothing,
    };
    if critique::is_rejected(state, state.goal.rejections, &left) {
        return review::rejected(state, open.n, left.issues);
    }
    let note = critique::noted(open.n, "the ticket", &left.issues);
    Judged::Facts([Record::TicketReviewed { n: open.n }].into_iter().chain(note).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_model_of_its_own_or_the_reviewers() {
        let mut settings = Settings::default();
        let mut set = |step: StepName, model: &str| {
            let own = StepSettings { model: Some(model.into()), ..StepSettings::default() };
            settings.workflow.steps.insert(step.word().to_owned(), own);
            (STEP.model)(&settings)
        };
        assert_eq!(set(StepName::REVIEW, "opus").as_deref(), Some("opus"));
        assert_eq!(set(StepName::CHECK, "haiku").as_deref(), Some("haiku"));
    }

    #[test]
    fn what_is_refuted_goes_and_what_is_critical_or_not_spoken_of_stays() {
        let issue = |severity, text: &str| Issue { severity, text: text.into(), ..Issue::default() };
        let found = [
            issue(Severity::Critical, "loses data"),
            issue(Severity::Major, "slow"),
            issue(Severity::Major, "unclear"),
            issue(Severity::Minor, "a name"),
        ];
        let no = |issue| Check { issue, holds: false, reason: "guarded above".into() };
        let texts = |critique: &Critique| critique.issues.iter().map(|issue| issue.text.clone()).collect::<Vec<_>>();
        let some = left(&found, &[no(1), no(2)]);
        assert_eq!(
            (some.verdict, texts(&some)),
            (CriticVerdict::NeedsFixes, vec!["loses data".to_owned(), "unclear".to_owned(), "a name".to_owned()])
        );
        assert!(some.summary.contains("slow") && some.summary.ends_with(": guarded above"), "{}", some.summary);
        assert_eq!(left(&found[1..], &[no(1), no(2)]).verdict, CriticVerdict::MinorIssues);
        assert_eq!(left(&found[1..], &[no(1), no(2), no(3)]).verdict, CriticVerdict::Approved);
        assert_eq!(left(&found[3..], &[]).verdict, CriticVerdict::NeedsFixes, "the review wanted it fixed");
        let changed_its_mind = [no(1), Check { holds: true, ..no(1) }];
        assert_eq!(left(&found[1..2], &changed_its_mind).issues.len(), 1, "the last word about an issue counts");
    }
}
