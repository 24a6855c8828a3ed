//! What is said before a start: how much there is to do, under which profile, what it may cost by the runs that were
//! completed before, and what is missing.

use super::rows::Entry;
use crate::base::text::{clean_line, cut_words};
use crate::base::time::human;
use crate::domain::phase::Mark;
use crate::domain::step::StepName;
use crate::domain::ticket::TicketKey;
use crate::domain::workflow::Workflow;
use crate::tui::forecast::{Estimate, of_a_call, of_a_phase, of_a_plan};
use crate::tui::listed::Before;
use crate::tui::model::Model;
use std::path::Path;

/// The lines before a start of these tickets.
pub fn words(model: &Model, entries: &[Entry<'_>]) -> String {
    if let [entry] = entries
        && let Some(words) = not_a_start(model, entry)
    {
        return words;
    }
    let what = match entries {
        [entry] => format!("Start {} “{}”?", entry.id, title_of(entry)),
        several => format!("Start {} tickets? Only one runs at a time in a directory.", several.len()),
    };
    let phases = match entries.iter().map(open).sum() {
        0 if entries.iter().all(|entry| entry.marks().is_empty()) => "No phases".to_owned(),
        0 => "No open phases".to_owned(),
        1 => "1 open phase".to_owned(),
        open => format!("{open} open phases"),
    };
    let resumed = match (entries, entries.iter().filter(|entry| entry.is_resumed()).count()) {
        (_, 0) => String::new(),
        ([_], _) => "; its last run is resumed".to_owned(),
        (_, 1) => "; 1 run is resumed".to_owned(),
        (_, many) => format!("; {many} runs are resumed"),
    };
    let many: usize = entries.iter().map(work).sum();
    let lines = [
        Some(what),
        Some(format!("{phases}, profile {}{resumed}.", model.profile)),
        place(model, entries),
        calls(model, entries),
        Some(cost(model, many, &lookers(model, entries, work))),
        missing(model, entries),
    ];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Its title, as far as a question has room for it.
fn title_of(entry: &Entry<'_>) -> String {
    cut_words(&clean_line(entry.title(), 400), 160)
}

/// Its phases that are open.
fn open(entry: &Entry<'_>) -> usize {
    entry.marks().iter().filter(|mark| !mark.is_settled()).count()
}

/// The pieces of work that it has: its open phases, without phases the whole of it.
fn work(entry: &Entry<'_>) -> usize {
    if entry.marks().is_empty() { 1 } else { open(entry) }
}

/// All its phases.
fn all_phases(entry: &Entry<'_>) -> usize {
    entry.marks().len()
}

/// Where what begins is no work on phases: a merge, a chat that goes on, or what has all phases done.
fn not_a_start(model: &Model, entry: &Entry<'_>) -> Option<String> {
    let title = title_of(entry);
    if entry.is_chat() {
        return Some(format!("Resume the chat “{title}”? Claude is called with your next message."));
    }
    let Some(base) = entry.unmerged() else {
        let marks = entry.marks();
        let is_looked_at = !lookers(model, std::slice::from_ref(entry), work).is_empty();
        let phases = match marks.len() {
            1 => "Its one phase is".to_owned(),
            all => format!("All {all} phases are"),
        };
        // As of a fork of a ticket that was done.
        let is_done = !marks.is_empty() && marks.iter().all(|mark| matches!(mark, Mark::Done(_)));
        return (is_done && !is_looked_at).then(|| {
            format!(
                "Start {} “{title}”? {phases} done, so Claude is not called: the ticket is closed. Changes in its worktree are committed and merged as set in `git.commit` and `git.merge`; otherwise c commits them.",
                entry.id
            )
        });
    };
    Some(format!(
        "Merge “{title}” into {base}? Its phases are done. The validation commands run on the merged tree first; Claude is \
         not called."
    ))
}

/// The lines before Claude drafts the phases of this ticket.
pub fn plan(model: &Model, entry: &Entry<'_>) -> String {
    let cost = of_a_plan(model).map_or_else(
        || "No estimate: no ticket has been planned here yet.".to_owned(),
        |cost| format!("Estimate: ${cost:.2}, the median of the tickets planned here."),
    );
    let title = title_of(entry);
    format!("Let Claude draft the phases of “{title}”? It has read-only access; you review the draft.\n{cost}")
}

/// Where the work happens, unless the tickets' files lie there.
fn place(model: &Model, entries: &[Entry<'_>]) -> Option<String> {
    let is_there = |entry: &Entry<'_>| Path::new(entry.id.file()).starts_with(&model.folder);
    let who = if entries.len() == 1 { "It" } else { "They" };
    (!entries.iter().all(is_there)).then(|| format!("{who} will work in {}.", model.short_path(&model.folder)))
}

/// The lines before all of a ticket that is done is worked on once more.
pub fn again(model: &Model, entry: &Entry<'_>) -> String {
    let all = entry.marks().len();
    let phases = match all {
        1 => "Its one phase is done: its box is unticked".to_owned(),
        all => format!("All {all} phases are done: their boxes are unticked"),
    };
    format!(
        "{phases} and the work starts over, profile {}.\n{}",
        model.profile,
        cost(model, all, &lookers(model, std::slice::from_ref(entry), all_phases))
    )
}

/// The calls of the steps that only look at the work, at least: which step, how often, in words.
fn lookers(
    model: &Model,
    entries: &[Entry<'_>],
    work: fn(&Entry<'_>) -> usize,
) -> Vec<(StepName, usize, &'static str)> {
    let critics = entries.iter().filter(|entry| has_critic(model, entry)).map(work).sum();
    let reviews = if model.workflow.review.is_empty() { 0 } else { entries.len() };
    let evaluators = if model.workflow.name == Workflow::Thorough { entries.len() } else { 0 };
    let all = [
        (StepName::CRITIQUE, critics, "critics"),
        (StepName::REVIEW, reviews, "reviews"),
        (StepName::EVALUATE, evaluators, "evaluators"),
    ];
    all.into_iter().filter(|(_, calls, _)| *calls > 0).collect()
}

/// How often Claude is called at least, where not only for the phases themselves.
fn calls(model: &Model, entries: &[Entry<'_>]) -> Option<String> {
    let phases: usize = entries.iter().map(work).sum();
    let lookers = lookers(model, entries, work);
    let all = phases + lookers.iter().map(|(_, calls, _)| calls).sum::<usize>();
    let others: Vec<String> = lookers.iter().map(|(_, calls, what)| format!("{calls} for {what}")).collect();
    let others = (!others.is_empty()).then(|| others.join(", "));
    others.map(|others| format!("At least {all} calls to Claude: {phases} for phases, {others}."))
}

/// A critic looks at its phases.
fn has_critic(model: &Model, entry: &Entry<'_>) -> bool {
    let unchecked = is_unchecked(model, entry);
    match model.workflow.name {
        Workflow::Simple => false,
        Workflow::Auto => unchecked,
        Workflow::Reviewed | Workflow::Thorough => true,
    }
}

/// What becomes of Claude's claims where no command checks them.
pub fn without_commands(model: &Model) -> &'static str {
    match model.workflow.name {
        Workflow::Simple => "Claude's claims are not verified",
        Workflow::Auto | Workflow::Reviewed | Workflow::Thorough => "only a critic checks Claude's claims",
    }
}

/// The project has validation commands, which do not count.
pub const IGNORED: &str = "checks in .programmator/config.yaml are ignored: not trusted (`programmator trust`)";

/// That there are no validation commands, or why they do not count.
pub fn no_commands(model: &Model) -> &'static str {
    if model.home.ignores_checks { IGNORED } else { "no validation commands" }
}

/// No command checks its phases.
pub(super) fn is_unchecked(model: &Model, entry: &Entry<'_>) -> bool {
    model.checks.is_empty() && entry.ticket.is_some_and(|ticket| ticket.validation.is_empty())
}

fn cost(model: &Model, phases: usize, lookers: &[(StepName, usize, &'static str)]) -> String {
    let Some(Estimate { runs, cost, time }) = of_a_phase(model) else {
        return "No estimate: no run has been completed here yet.".to_owned();
    };
    let runs = if runs == 1 {
        "the one completed run here".to_owned()
    } else {
        format!("the median of {runs} completed runs here")
    };
    let many = u32::try_from(phases).unwrap_or(u32::MAX);
    let time = time.map_or_else(String::new, |time| format!(" and {} of work", human(time.saturating_mul(many))));
    let mut usd = cost * f64::from(many);
    let mut unknown = Vec::new();
    for (step, calls, what) in lookers {
        match of_a_call(model, step) {
            Some(one) => usd += one * *calls as f64,
            None => unknown.push(*what),
        }
    }
    let without = if unknown.is_empty() { String::new() } else { format!(", without {}", unknown.join(" and ")) };
    format!("Estimate: ${usd:.2}{time}, from {runs}{without}.")
}

/// What would be wanted for a good run, and is not there.
fn missing(model: &Model, entries: &[Entry<'_>]) -> Option<String> {
    let comes = |dep: &TicketKey| entries.iter().any(|entry| entry.id == dep);
    let dependency = entries.iter().find_map(|entry| {
        entry.open_dependencies(model).find_map(|before| match before {
            Before::Ticket(dep) => (!comes(dep)).then(|| format!("{dep} must be done before {}", entry.id)),
            Before::Missing(dep) => Some(format!("{} depends on {dep}, which does not exist here", entry.id)),
        })
    });
    let unchecked = entries.iter().filter(|entry| is_unchecked(model, entry)).count();
    let checks = match (unchecked, entries.len()) {
        (0, _) => None,
        (_, 1) => Some(format!("{}, so {}", no_commands(model), without_commands(model))),
        _ if model.home.ignores_checks => Some(IGNORED.to_owned()),
        (1, _) => Some("1 has no validation commands".to_owned()),
        (some, _) => Some(format!("{some} have no validation commands")),
    };
    let git = model.branch.is_none().then(|| "no git repository, so changes cannot be undone".to_owned());
    let all: Vec<String> = [dependency, checks, git].into_iter().flatten().collect();
    (!all.is_empty()).then(|| format!("Note: {}.", all.join("; ")))
}
