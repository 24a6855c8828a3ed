//! A review: several reviewers look at one diff at the same time, what they find is merged, and one more Claude looks at it
//! again. Each is a session of its own in a run of its own, under one ticket that has no file, and may only read.

mod journal;
mod session;
mod talk;

pub use session::{Desk, Shares};

use crate::adapters::context_files;
use crate::adapters::git::WorkTree;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::changes::WholeDiff;
use crate::domain::claim::parse::{parse_checks, parse_critique};
use crate::domain::critique::{CriticVerdict, Critique, Issue, shown_hunks};
use crate::domain::review::{Check, Finding, Report, Reviewer, Validation, merge, validated};
use crate::domain::step::StepName;
use crate::orchestrator::prompt::{Kind, PromptContext};
use crate::orchestrator::review::{CHECK, REVIEW, focus};
use crate::orchestrator::steps::critique::VERDICT_ONLY;
use session::{Call, Outcome};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The steps of a review, in journals.
const REVIEWER: StepName = StepName::new("review");
const VALIDATOR: StepName = StepName::new("validate");

/// Issues that are looked at again, the gravest first: more would not be read either.
const CHECKED: usize = 100;

/// What is to be reviewed.
pub struct Change {
    /// What it is compared with, as it was named, and the commit that is meant by it.
    pub base: String,
    pub commit: String,
    pub diff: WholeDiff,
    pub files: Vec<String>,
}

impl Change {
    /// All that differs between the files as they are and where they branched from `base`. Words for the person where that
    /// cannot be told.
    pub async fn since(base: &str, folder: &Path, keep: &Path) -> Result<Self, String> {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let tree = WorkTree::open(folder, keep).await.map_err(|error| words(&error))?;
        let commit = tree.merge_base_with(base).await?;
        let changes = tree.changes(&commit, None, &[]).await.map_err(|error| words(&error))?;
        let diff = if changes.files.is_empty() {
            WholeDiff::default()
        } else {
            tree.patch(&commit, None, &[]).await.map_err(|error| words(&error))?
        };
        let files = changes.files.into_iter().map(|file| file.path).collect();
        Ok(Self { base: base.to_owned(), commit: commit.0, diff, files })
    }
}

/// Reviews the change, looking for each of `foci`. `told` hears of each reviewer that has ended. Cancelled, every Claude is
/// ended, and what is known by then is reported.
pub async fn review(
    desk: Arc<Desk>,
    change: &Change,
    foci: &[String],
    stop: &CancellationToken,
    mut told: impl FnMut(&Reviewer),
) -> Report {
    let context = PromptContext {
        title: format!("since branching from `{}`", clean_line(&change.base, 80)),
        diff: change.diff.text.clone(),
        context_files: context_files::read(desk.workspace.directory(), &desk.config.context_files),
        ..PromptContext::default()
    };
    let turns = Arc::new(Semaphore::new(desk.config.review.parallel as usize));
    let mut asked = JoinSet::new();
    for (at, name) in foci.iter().cloned().enumerate() {
        let (desk, context, turns, stop) = (desk.clone(), context.clone(), turns.clone(), stop.clone());
        asked.spawn(async move {
            let _turn = turns.acquire().await;
            let call = reviewer(&desk, &name, context);
            (at, named(name, session::ask(&desk, call, &stop).await))
        });
    }
    let mut answers: Vec<Option<(Reviewer, Option<Critique>)>> = vec![None; foci.len()];
    while let Some(ended) = asked.join_next().await {
        // One that crashed has no answer, which is told below.
        if let Ok((at, answer)) = ended {
            told(&answer.0);
            answers[at] = Some(answer);
        }
    }
    let crashed = |focus: &String| {
        let error = Some("internal error: the reviewer's task ended".to_owned());
        (Reviewer { focus: focus.clone(), error, ..Reviewer::default() }, None)
    };
    let answers: Vec<_> =
        answers.into_iter().zip(foci).map(|(answer, focus)| answer.unwrap_or_else(|| crashed(focus))).collect();
    let shown = shown_hunks(&change.diff.text);
    let found = answers.iter().filter_map(|(reviewer, critique)| {
        let issues = critique.as_ref()?.clone().compared_with(&change.files, &shown).issues;
        Some((reviewer.focus.clone(), issues))
    });
    let findings = merge(found);
    let validator = if findings.is_empty() || stop.is_cancelled() {
        None
    } else {
        Some(validate(&desk, &findings, context, stop).await)
    };
    let (validator, checks) = validator.map_or((None, Vec::new()), |(one, checks)| (Some(one), checks));
    validator.iter().for_each(told);
    let (issues, dropped) = validated(findings, &checks);
    let reviewers: Vec<Reviewer> = answers.into_iter().map(|(reviewer, _)| reviewer).collect();
    let cost_usd = reviewers.iter().chain(&validator).map(|one| one.cost_usd).sum();
    let (base, commit, files) = (change.base.clone(), change.commit.clone(), change.files.clone());
    let folder = desk.workspace.to_string();
    let left_out = change.diff.left_out.clone();
    Report { base, commit, folder, files, left_out, reviewers, validator, issues, dropped, cost_usd }
}

fn reviewer(desk: &Desk, name: &str, context: PromptContext) -> Call<Critique> {
    let templates = desk.templates.clone();
    let (kind, model) = (focus(name), desk.config.review.model.clone());
    let prompt = move |gate: Vec<String>| {
        let render =
            |kind: Kind, context: &PromptContext| templates.render(kind, context).map_err(|error| error.to_string());
        let kind = kind.ok_or("unknown focus")?;
        let context = PromptContext { gate, ..context };
        let focus = render(kind, &context)?;
        let context = PromptContext { focus: focus.trim().to_owned(), ..context };
        Ok([render(REVIEW, &context)?, render(VERDICT_ONLY, &context)?])
    };
    let read = |text: &str| parse_critique(text).map(|critique| (critique.clone(), critique));
    Call { title: format!("Review: {name}"), step: REVIEWER, model, prompt: Box::new(prompt), read: Box::new(read) }
}

fn named<T>(focus: String, outcome: Outcome<T>) -> (Reviewer, Option<T>) {
    let Outcome { run, answer, critique, ms, cost_usd } = outcome;
    let (answer, error) = match answer {
        Ok(answer) => (Some(answer), None),
        Err(why) => (None, Some(why)),
    };
    let issues = critique.as_ref().filter(|_| answer.is_some()).map(|critique| critique.issues.len());
    let summary = critique.map(|critique| clean_line(&critique.summary, 400)).unwrap_or_default();
    (Reviewer { focus, run, issues, summary, error, ms, cost_usd }, answer)
}

/// The second look at all of them. Without an answer, nothing is said of any.
async fn validate(
    desk: &Desk,
    findings: &[Finding],
    context: PromptContext,
    stop: &CancellationToken,
) -> (Reviewer, Vec<Check>) {
    let templates = desk.templates.clone();
    let shown = || findings.iter().take(CHECKED);
    let issues: Vec<Issue> = shown().map(|finding| finding.issue.clone()).collect();
    let words: Vec<String> = shown().map(Finding::words).collect();
    let prompt = move |gate: Vec<String>| {
        let context = PromptContext { gate, issues: words, ..context };
        let again = PromptContext { resumed: true, ..context.clone() };
        let render = |context: &PromptContext| templates.render(CHECK, context).map_err(|error| error.to_string());
        Ok([render(&context)?, render(&again)?])
    };
    let read = move |text: &str| parse_checks(text).map(|checks| (verdict(&issues, &checks), checks));
    let title = "Review: second look".to_owned();
    let model = desk.config.review.model.clone();
    let call = Call { title, step: VALIDATOR, model, prompt: Box::new(prompt), read: Box::new(read) };
    let (validator, checks) = named("second look".to_owned(), session::ask(desk, call, stop).await);
    (validator, checks.unwrap_or_default())
}

/// What the second look comes to, as a journal keeps it: the issues that stay.
fn verdict(issues: &[Issue], checks: &[Check]) -> Critique {
    let findings = issues.iter().map(|issue| Finding { issue: issue.clone(), ..Finding::default() }).collect();
    let (stay, dropped) = validated(findings, checks);
    let confirmed = stay.iter().filter(|finding| finding.validation == Validation::Confirmed).count();
    let verdict = if stay.is_empty() { CriticVerdict::Approved } else { CriticVerdict::NeedsFixes };
    let summary = format!("{} confirmed, {} dropped", counted(confirmed, "issue"), dropped.len());
    Critique { verdict, issues: stay.into_iter().map(|finding| finding.issue).collect(), summary }
}
