//! `programmator status <run>`: one run, what it waits for, how near its limits are and what it cost.

use crate::adapters::store::Store;
use crate::base::amount::{counted, grouped};
use crate::base::text::clean_line;
use crate::base::time::{Timestamp, human};
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::cli::status::{date, reason};
use crate::domain::critique::CriticVerdict;
use crate::domain::limits::admission::{Facts, Why};
use crate::domain::limits::provider::{Reset, WindowStatus};
use crate::domain::limits::receipt::{self, PhaseReceipt};
use crate::domain::limits::{Limits, Parking, Receipt, Window, hour};
use crate::domain::messages::{iterations_words, wait_words};
use crate::domain::record::Record;
use crate::domain::step::StepName;
use crate::domain::summary::{RunState, RunSummary};
use crate::orchestrator::limits::budgets;
use crate::orchestrator::state::State;
use crate::runtime::headless::Format;
use crate::runtime::offline::state_of;
use crate::runtime::supervisor::Typed;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// The JSON of one run.
#[derive(Serialize)]
struct RunDetails {
    #[serde(flatten)]
    run: RunSummary,
    /// Why it ended, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    /// What the present iteration is for, where it is not code.
    #[serde(skip_serializing_if = "StepName::is_code")]
    step: StepName,
    critic: Critic,
    parked: Option<Parked>,
    unasked: Unasked,
    limits: Limited,
    receipts: Receipts,
}

/// What critics said of the run's work, and what was fixed for it.
#[derive(Default, Serialize)]
struct Critic {
    approved: u32,
    minor_issues: u32,
    rejected: u32,
    fixes: u32,
}

impl Critic {
    fn of<'a>(records: impl Iterator<Item = &'a Record>) -> Self {
        let mut critic = Self::default();
        for record in records {
            match record {
                Record::CritiqueMade { critique, .. } => match critique.verdict {
                    CriticVerdict::Approved => critic.approved += 1,
                    CriticVerdict::MinorIssues => critic.minor_issues += 1,
                    CriticVerdict::NeedsFixes => critic.rejected += 1,
                },
                Record::IterationStarted { role, .. } if role.step == StepName::FIX => critic.fixes += 1,
                _ => {}
            }
        }
        critic
    }

    /// `None`: no critic was asked.
    fn words(&self) -> Option<String> {
        let Self { approved, minor_issues, rejected, fixes } = self;
        let fixes = counted(*fixes as usize, "fix attempt");
        (approved + minor_issues + rejected > 0)
            .then(|| format!("{approved} approved, {minor_issues} with minor issues, {rejected} rejected; {fixes}"))
    }
}

/// Calls that were refused because nobody was there to ask; the first of them by name.
#[derive(Serialize)]
struct Unasked {
    count: u32,
    calls: Vec<String>,
}

/// Why it waits. `seconds` are those that are left now.
#[derive(Serialize)]
struct Parked {
    why: Why,
    about: String,
    until: Timestamp,
    reset: Reset,
    seconds: u64,
}

#[derive(Serialize)]
struct Limited {
    calls: Count,
    tokens: Count,
    windows: Vec<Window>,
    budgets: Vec<Budget>,
}

/// What was used in the present hour; `resets` is when the first of it leaves.
#[derive(Serialize)]
struct Count {
    used: u64,
    limit: Option<u64>,
    resets: Option<Timestamp>,
}

#[derive(Serialize)]
struct Budget {
    of: &'static str,
    spent_usd: f64,
    limit_usd: f64,
}

#[derive(Serialize)]
struct Receipts {
    total: PhaseReceipt,
    phases: Vec<PhaseReceipt>,
    iterations: Vec<Receipt>,
}

/// Prints the run that `text` names.
pub fn print(out: &mut dyn Write, session: &Session, text: &str, format: Format) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let now = session.clock().now();
    let shown = shown(&store, session.find_run(&store, text, Typed::Part)?, now)?;
    match format {
        Format::Json => writeln!(out, "{}", crate::base::json::pretty(&shown)?)?,
        Format::Text => words(out, &shown, now)?,
    }
    Ok(())
}

fn shown(store: &Store, run: RunSummary, now: Timestamp) -> Result<RunDetails, CliError> {
    let summary = store.as_seen(run)?;
    let state = state_of(store, summary.run)?;
    let critic = Critic::of(store.load(summary.run)?.records.iter().map(|stored| &stored.record));
    let limits = &state.settings.limits;
    let facts = store.limit_facts(summary.run, limits, now)?;
    // A run that nobody works on does not wait either: it asks anew when it is resumed.
    let parked = state.limits.parked.as_ref().filter(|_| summary.state != RunState::Ended);
    Ok(RunDetails {
        critic,
        parked: parked.map(|parking| Parked {
            why: parking.why,
            about: parking.about.clone(),
            until: parking.until,
            reset: parking.reset,
            seconds: parking.until.since(now).as_secs(),
        }),
        unasked: Unasked { count: state.gate.unasked_count, calls: state.gate.unasked.clone() },
        limits: limited(&state, limits, &facts, now),
        receipts: receipts(&state),
        step: state.open_iteration().map(|open| open.role.step.clone()).unwrap_or_default(),
        detail: state.ended.map_or_else(String::new, |ended| ended.detail),
        run: summary,
    })
}

fn limited(state: &State, limits: &Limits, facts: &Facts, now: Timestamp) -> Limited {
    let zone = jiff::tz::TimeZone::system();
    let count = |rows: &[(Timestamp, u64)], limit| Count {
        used: rows.iter().map(|(_, weight)| weight).sum(),
        limit,
        resets: rows.first().map(|(time, _)| hour::leaves(*time, limits.window, &zone)),
    };
    let budgets = budgets(state).into_iter();
    Limited {
        calls: count(&facts.calls, Some(limits.calls.into())),
        tokens: count(&facts.tokens, limits.tokens),
        windows: facts.windows.iter().filter(|window| window.is_open_at(now)).cloned().collect(),
        budgets: budgets.map(|(of, limit_usd, spent_usd)| Budget { of, spent_usd, limit_usd }).collect(),
    }
}

fn receipts(state: &State) -> Receipts {
    let iterations = state.limits.receipts.clone();
    let whole: Vec<Receipt> =
        iterations.iter().map(|receipt| Receipt { phase: None, step: StepName::CODE, ..receipt.clone() }).collect();
    Receipts {
        total: receipt::by_phase(&whole).pop().unwrap_or_default(),
        phases: receipt::by_phase(&iterations),
        iterations,
    }
}

fn words(out: &mut dyn Write, shown: &RunDetails, now: Timestamp) -> std::io::Result<()> {
    let RunDetails { run, detail, step, critic, parked, unasked, limits, receipts } = shown;
    let about = reason(run).or_else(|| run.asks().or(run.phase.as_deref()).map(str::to_owned)).unwrap_or_default();
    let about = if about.is_empty() { String::new() } else { format!(": {}", clean_line(&about, 1_000)) };
    let step = of_step(step);
    writeln!(out, "{}  {}  {}{about}{step}", run.run.short(), run.ticket, run.label())?;
    if !detail.is_empty() {
        writeln!(out, "  {}", clean_line(detail, 2_000))?;
    }
    if run.asks().is_some() {
        let ticket = clean_line(run.ticket.as_str(), 60);
        writeln!(
            out,
            "  needs you   `programmator queue {ticket}` shows the question and its NAME, \
             `programmator answer NAME ANSWER` answers it"
        )?;
    }
    let zone = jiff::tz::TimeZone::system();
    let (started, updated) = (date(run.started, &zone), date(run.updated, &zone));
    writeln!(out, "  {}", clean_line(&run.title, 1_000))?;
    // A chat has messages, which count for nothing.
    let iterations =
        if run.is_chat() { String::new() } else { format!(", {}", iterations_words(run.iterations, run.reviews())) };
    writeln!(out, "  started {started}, updated {updated}{iterations}")?;
    if let Some(words) = critic.words() {
        writeln!(out, "  critic      {words}")?;
    }
    if let Some(Parked { why, about, until, reset, .. }) = parked {
        let parking = Parking { why: *why, about: about.clone(), until: *until, reset: *reset, known: None };
        writeln!(out, "  parked      {}; {}", clean_line(about, 100), wait_words(&parking, now))?;
    }
    if unasked.count > 0 {
        writeln!(out, "  denied      {}, because nobody could approve:", unasked.count)?;
    }
    for call in &unasked.calls {
        writeln!(out, "    {}", clean_line(call, 100))?;
    }
    for (name, count) in [("calls", &limits.calls), ("tokens", &limits.tokens)] {
        let limit =
            count.limit.map_or_else(|| " this hour, no limit".to_owned(), |limit| format!(" of {limit} this hour"));
        writeln!(out, "  {name:<10}  {}{limit}", count.used)?;
    }
    for window in &limits.windows {
        let used = window.used.map_or_else(String::new, |used| format!(", {:.0} % used", used * 100.0));
        let how = match window.status {
            WindowStatus::Allowed => "open",
            WindowStatus::Warning => "nearly reached",
            WindowStatus::Rejected => "reached",
        };
        let resets = window.resets_at.map_or_else(String::new, |at| format!(", resets in {}", human(at.since(now))));
        writeln!(out, "  {:<10}  {how}{used}{resets}", clean_line(&window.name(), 40))?;
    }
    for budget in &limits.budgets {
        writeln!(out, "  {:<10}  ${:.2} of ${:.2}", format!("{} usd", budget.of), budget.spent_usd, budget.limit_usd)?;
    }
    if receipts.total.iterations == 0 { Ok(()) } else { costs(out, receipts) }
}

/// What each phase cost, and all of them: numbers flush right.
fn costs(out: &mut dyn Write, receipts: &Receipts) -> std::io::Result<()> {
    let phases = receipts.phases.iter().map(|phase| (phase, phase.sum.phase.as_deref().unwrap_or("the ticket")));
    let row = |(phase, name): (&PhaseReceipt, &str)| {
        let sum = &phase.sum;
        let numbers = [
            format!("${:.2}", sum.cost_usd),
            human(Duration::from_millis(sum.ms)),
            counted(phase.iterations as usize, "iteration"),
            format!("{} tokens", grouped(sum.usage.total())),
        ];
        (numbers, format!("{}{}", clean_line(name, 60), of_step(&sum.step)))
    };
    let rows: Vec<([String; 4], String)> = phases.chain([(&receipts.total, "total")]).map(row).collect();
    let width = |at: usize| rows.iter().map(|(numbers, _)| numbers[at].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    for (numbers, name) in &rows {
        for (number, width) in numbers.iter().zip(widths) {
            write!(out, "  {number:>width$}")?;
        }
        writeln!(out, "  {name}")?;
    }
    Ok(())
}

/// The step, where it is worth a word.
fn of_step(step: &StepName) -> String {
    if step.is_code() { String::new() } else { format!(" ({})", clean_line(step.word(), 40)) }
}
