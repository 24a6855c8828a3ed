//! What `programmator run --dry-run` says of one ticket, for people and for programs.

use crate::base::amount::counted;
use crate::base::text::{Clean, clean_line, shell_word};
use crate::base::time::human;
use crate::config::Resolved;
use crate::domain::limits::{Budget, Spent};
use crate::domain::settings::{BreakerSettings, ExitSettings};
use crate::domain::worktree::Worktree;
use crate::orchestrator::limits::spent;
use crate::runtime::dry_run::{Begins, Call, Outlook, Refusal};
use crate::runtime::export::stored::Secrets;
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

/// `run --dry-run --json`, one for each ticket: add, never rename.
#[derive(Serialize)]
pub struct Report {
    ticket: String,
    path: PathBuf,
    would_start: bool,
    /// With which `run` would refuse.
    pub exit_code: u8,
    refusals: Vec<Refusal>,
    delays: Vec<String>,
    notes: Vec<String>,
    /// `null`: it is not known which run it would be.
    run: Option<Run>,
    /// `null`: Claude would not be called.
    call: Option<FirstCall>,
}

impl Report {
    /// Of a ticket that is finished: `run` does nothing, and says so.
    pub fn finished(ticket: String, path: PathBuf, words: String) -> Self {
        let (refusals, delays) = Default::default();
        Self {
            ticket,
            path,
            would_start: false,
            exit_code: 0,
            refusals,
            delays,
            notes: vec![words],
            run: None,
            call: None,
        }
    }
}

#[derive(Serialize)]
struct Run {
    title: String,
    /// The run that is resumed; `null`: a new one.
    resumes: Option<String>,
    directory: PathBuf,
    worktree: Option<Worktree>,
    /// What is done before Claude is called.
    before: Vec<String>,
    /// Why Claude is not called.
    rest: Option<String>,
    workflow: &'static str,
    checks: Vec<Check>,
    limits: Limits,
}

/// A validation command, and where it is written.
#[derive(Serialize)]
struct Check {
    command: String,
    from: String,
}

/// Times are in seconds.
#[derive(Serialize)]
struct Limits {
    iterations: u32,
    max_iterations: u32,
    stagnation_limit: u32,
    repeated_error_limit: u32,
    iteration_timeout: u64,
    idle_timeout: u64,
    validation_timeout: u64,
    calls: Count,
    tokens: Count,
    budgets: Vec<Spending>,
    breaker: Breaker,
    /// When the signs of a ticket without phases end it.
    exit: ExitSettings,
    #[serde(skip)]
    has_phases: bool,
}

/// What is used in the present hour, the first call included.
#[derive(Serialize)]
struct Count {
    used: Option<u64>,
    limit: Option<u64>,
}

/// A budget that is set.
#[derive(Serialize)]
struct Spending {
    of: &'static str,
    spent_usd: f64,
    limit_usd: Option<f64>,
    spent_tokens: u64,
    limit_tokens: Option<u64>,
}

#[derive(Serialize)]
struct Breaker {
    state: &'static str,
    #[serde(flatten)]
    settings: BreakerSettings,
}

#[derive(Serialize)]
struct FirstCall {
    iteration: u32,
    step: String,
    phase: Option<String>,
    session: Option<String>,
    model: Option<String>,
    profile: &'static str,
    permission_mode: &'static str,
    max_budget_usd: Option<f64>,
    command: Vec<String>,
    prompt: Option<String>,
    tokens: usize,
}

impl Report {
    /// `resolved`: the configuration where the run works. `secrets` are not shown.
    pub fn new(ticket: String, path: PathBuf, outlook: Outlook, resolved: &Resolved, secrets: &Secrets) -> Self {
        let exit_code = outlook.exit_code();
        let Outlook { refusals, delays, mut notes, mut begins } = outlook;
        notes.splice(..0, resolved.notices.iter().map(|notice| notice.text.clone()));
        let call = begins.as_mut().and_then(|begins| begins.call.take());
        Self {
            ticket,
            path,
            would_start: exit_code == 0,
            exit_code,
            refusals,
            delays,
            notes,
            run: begins.map(|begins| run(begins, resolved)),
            call: call.map(|call| first_call(call, secrets)),
        }
    }

    /// For people.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let line =
            |out: &mut dyn Write, name: &str, text: &str| writeln!(out, "  {name:<11}{}", clean_line(text, 4_000));
        let starts = match self.exit_code {
            0 if self.delays.is_empty() => "would start now".to_owned(),
            0 => "would start after waiting".to_owned(),
            code => format!("would not start; `run` would end with exit code {code}"),
        };
        writeln!(out, "{}: {starts}", clean_line(&self.ticket, 200))?;
        for refusal in &self.refusals {
            for text in refusal.text.lines() {
                line(out, "refused", text)?;
            }
        }
        for delay in &self.delays {
            line(out, "waits", delay)?;
        }
        for note in &self.notes {
            line(out, "note", note)?;
        }
        if let Some(run) = &self.run {
            line(out, "title", &run.title)?;
            let which = run.resumes.as_ref().map_or_else(|| "a new one".to_owned(), |run| format!("resumes {run}"));
            line(out, "run", &which)?;
            line(out, "directory", &run.directory.display().to_string())?;
            for step in &run.before {
                line(out, "first", step)?;
            }
            limits(out, &run.limits)?;
            if run.checks.is_empty() {
                line(out, "checks", "no validation commands")?;
            }
            for check in &run.checks {
                line(out, "check", &format!("{}  ({})", check.command, check.from))?;
            }
            line(out, "workflow", run.workflow)?;
            if let Some(rest) = &run.rest {
                line(out, "Claude", &format!("not called: {rest}"))?;
            }
        }
        if let Some(call) = &self.call {
            let phase = call.phase.as_ref().map_or_else(|| "the ticket".to_owned(), |phase| format!("\"{phase}\""));
            line(out, "step", &format!("{} of {phase}, iteration {}", call.step, call.iteration))?;
            line(out, "policy", &format!("profile {}", call.profile))?;
            line(out, "model", call.model.as_deref().unwrap_or("Claude's own"))?;
            let session = call.session.as_ref().map_or_else(|| "a fresh one".to_owned(), |id| format!("resumes {id}"));
            line(out, "session", &session)?;
            line(out, "command", &call.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))?;
            if let Some(prompt) = &call.prompt {
                writeln!(out, "\nPrompt, about {} tokens:\n\n{}", call.tokens, Clean::new(prompt).as_str().trim_end())?;
            }
        }
        writeln!(out)
    }
}

fn run(begins: Begins, resolved: &Resolved) -> Run {
    let Begins { plan, before, state, ledger, rest, .. } = begins;
    let settings = &state.settings;
    let from = resolved.values.iter().find(|row| row.name == "validation.commands").map(|row| row.from.clone());
    let from = from.unwrap_or_default();
    let check = |command: &String| {
        let is_tickets = plan.ticket.validation.contains(command);
        let from = if is_tickets { "the ticket".to_owned() } else { from.clone() };
        Check { command: command.clone(), from }
    };
    let count = |used: Option<u64>, limit| Count { used, limit };
    let known = ledger.clone().unwrap_or_default();
    let of = |of, budget: &Budget, spent: Spent| {
        let (limit_usd, limit_tokens) = (budget.usd(), budget.tokens);
        let is_set = limit_usd.is_some() || limit_tokens.is_some();
        let (spent_usd, spent_tokens) = (spent.usd, spent.tokens);
        is_set.then_some(Spending { of, spent_usd, limit_usd, spent_tokens, limit_tokens })
    };
    let set = &settings.limits;
    let budgets =
        [of("run", &set.run, spent(&state)), of("ticket", &set.ticket, known.ticket), of("day", &set.day, known.day)];
    Run {
        title: state.title.clone(),
        resumes: plan.state.started.is_some().then(|| plan.run.to_string()),
        directory: plan.workspace.directory().to_owned(),
        worktree: plan.workspace.worktree().cloned(),
        before,
        rest,
        workflow: settings.workflow.name.word(),
        checks: state.validation.iter().map(check).collect(),
        limits: Limits {
            iterations: state.counted_iterations(),
            max_iterations: settings.max_iterations,
            stagnation_limit: settings.stagnation_limit,
            repeated_error_limit: settings.repeated_error_limit,
            iteration_timeout: settings.iteration_timeout,
            idle_timeout: settings.idle_timeout,
            validation_timeout: settings.validation_timeout,
            calls: count(ledger.as_ref().map(|ledger| ledger.calls), Some(set.calls.into())),
            tokens: count(ledger.as_ref().map(|ledger| ledger.tokens), set.tokens),
            budgets: budgets.into_iter().flatten().collect(),
            breaker: Breaker { state: state.breaker.state.word(), settings: settings.breaker.clone() },
            exit: settings.exit.clone(),
            has_phases: !state.phases.is_empty(),
        },
    }
}

fn first_call(call: Call, secrets: &Secrets) -> FirstCall {
    FirstCall {
        iteration: call.n,
        step: call.step.word().to_owned(),
        phase: call.phase,
        session: call.session,
        model: call.model,
        profile: call.profile.word(),
        permission_mode: if call.plan_mode { "plan" } else { "default" },
        max_budget_usd: call.max_budget_usd,
        command: call.command.into_iter().map(|word| secrets.mask(word)).collect(),
        prompt: call.prompt,
        tokens: call.tokens,
    }
}

fn limits(out: &mut dyn Write, limits: &Limits) -> io::Result<()> {
    let time = |seconds| human(Duration::from_secs(seconds));
    let used = |count: &Count, what: &str| {
        let used = count.used.map_or_else(String::new, |used| format!("{used} of "));
        count.limit.map_or_else(|| format!("no limit of {what}"), |limit| format!("{used}{limit} {what} this hour"))
    };
    let Limits { stagnation_limit, repeated_error_limit, max_iterations, breaker, .. } = limits;
    let mut lines = vec![
        format!(
            "{max_iterations} iterations, {stagnation_limit} in a row without change, {repeated_error_limit} with the same error"
        ),
        format!(
            "{} for an iteration, {} without output, {} for a validation command",
            time(limits.iteration_timeout),
            time(limits.idle_timeout),
            time(limits.validation_timeout)
        ),
        format!("{}, {}", used(&limits.calls, "calls"), used(&limits.tokens, "tokens")),
    ];
    lines.extend(limits.budgets.iter().map(|budget| {
        let money = budget.limit_usd.map(|limit| format!("${:.2} of ${limit:.2}", budget.spent_usd));
        let tokens = budget.limit_tokens.map(|limit| format!("{} of {limit} tokens", budget.spent_tokens));
        let both = money.into_iter().chain(tokens).collect::<Vec<_>>().join(", ");
        format!("{both} spent of the budget for the {}", budget.of)
    }));
    let BreakerSettings { no_progress, same_error, permission_denials, cooldown, .. } = breaker.settings;
    lines.push(format!(
        "circuit breaker {}: opens after {no_progress} iterations without progress, {same_error} with the same error, {permission_denials} with denied calls, for {}",
        breaker.state,
        time(cooldown)
    ));
    let ExitSettings { test_loops, done_signals, test_percentage } = limits.exit;
    let after = |n: u32, what: &str| (n > 0).then(|| format!("after {} {what}", counted(n as usize, "iteration")));
    let signs = [
        after(test_loops, "that only ran tests"),
        test_percentage.map(|most| match most {
            100 => "with no other iterations".to_owned(),
            most => format!("with over {most} % of such iterations"),
        }),
        after(done_signals, "that reported it complete"),
    ];
    let signs = signs.into_iter().flatten().collect::<Vec<_>>().join(", ");
    // Where there are phases, they decide.
    lines.extend((!limits.has_phases && !signs.is_empty()).then(|| format!("ends {signs}")));
    for text in lines {
        writeln!(out, "  {:<11}{}", "limit", clean_line(&text, 400))?;
    }
    Ok(())
}
