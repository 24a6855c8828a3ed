//! `programmator circuit status` and `programmator circuit reset`: the tickets' circuit breakers, from the store.

use super::error::CliError;
use super::help;
use super::in_force;
use super::session::Session;
use crate::adapters::store::{Store, newest_of_each};
use crate::base::amount::counted;
use crate::base::json;
use crate::base::text::{clean_line, cut};
use crate::base::time::{Timestamp, human};
use crate::domain::answerer::Answerer;
use crate::domain::breaker::{Breaker, Circuit, StateMoved};
use crate::domain::record::{ByPerson, Record};
use crate::domain::request::{HELD, Refused, Reply, Request};
use crate::domain::settings::BreakerSettings;
use crate::domain::summary::RunSummary;
use crate::orchestrator::breaker::{self, Recovery, recover};
use crate::runtime::app::App;
use crate::runtime::offline::state_of;
use crate::runtime::supervisor::Typed;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// What can be done with circuit breakers.
#[derive(Debug, Subcommand)]
pub enum CircuitCommand {
    #[command(after_help = help::CIRCUIT_STATUS)]
    /// Show circuit breakers: state, counters and history.
    Status {
        /// The ticket; without one, every ticket.
        ticket: Option<String>,
        /// Print a JSON array instead of text.
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = help::CIRCUIT_WHAT_IF)]
    /// Show what the breaker would have done on a recorded run with different thresholds.
    WhatIf(WhatIf),
    #[command(after_help = help::CIRCUIT_RESET)]
    /// Close a circuit breaker and reset its counters.
    Reset {
        /// The ticket; without one, every ticket that was worked on in this folder.
        ticket: Option<String>,
    },
}

/// A recorded run, and thresholds; those of the run where none is given.
#[derive(Debug, Args)]
pub struct WhatIf {
    /// A run id or its last characters, or a ticket.
    run: String,
    /// Iterations without progress that open it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    no_progress: Option<u32>,
    /// Iterations with the same error that open it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    same_error: Option<u32>,
    /// Iterations with denied calls that open it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    permission_denials: Option<u32>,
    /// Percent by which the output must fall to half-open it.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    output_decline: Option<u32>,
}

/// Prints how the breaker would have moved, and where the run would have ended.
pub fn what_if(out: &mut dyn Write, session: &Session, wanted: &WhatIf) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let run = session.find_run(&store, &wanted.run, Typed::Part)?;
    let mut limits = state_of(&store, run.run)?.settings.breaker;
    let given = [
        (wanted.no_progress, &mut limits.no_progress),
        (wanted.same_error, &mut limits.same_error),
        (wanted.permission_denials, &mut limits.permission_denials),
        (wanted.output_decline, &mut limits.output_decline),
    ];
    for (given, limit) in given {
        *limit = given.unwrap_or(*limit);
    }
    let moves = breaker::what_if(&store.load(run.run)?.records, &limits);
    writeln!(
        out,
        "{} · run {} · {}; with no progress {}, same error {}, permission denials {}, output decline {} %:",
        cut(run.ticket.as_str(), 40),
        run.run.short(),
        counted(run.iterations as usize, "iteration"),
        limits.no_progress,
        limits.same_error,
        limits.permission_denials,
        limits.output_decline
    )?;
    for StateMoved { n, from, to, reason } in &moves {
        writeln!(out, "  iteration {n:>3}  {} → {}: {}", from.told(), to.told(), clean_line(reason, 400))?;
    }
    match moves.last().filter(|last| last.to == Circuit::Open) {
        Some(last) => writeln!(out, "The run would have ended after iteration {}.", last.n)?,
        None => writeln!(out, "The breaker would not have opened.")?,
    }
    Ok(())
}

/// Moves that are shown to people below each ticket.
const MOVES: usize = 5;

/// One ticket's breaker. `status --json`: add, never rename.
#[derive(Debug, Serialize)]
struct CircuitRow {
    ticket: String,
    ticket_path: String,
    folder: String,
    run: String,
    #[serde(flatten)]
    breaker: Breaker,
    thresholds: BreakerSettings,
    /// Seconds until an open breaker lets one iteration through; `null` when it is not open.
    left: Option<u64>,
    history: Vec<Moved>,
}

/// One move of a breaker, oldest first.
#[derive(Debug, Serialize)]
struct Moved {
    time: Timestamp,
    run: String,
    iteration: u32,
    from: Circuit,
    to: Circuit,
    reason: String,
}

/// Prints the breaker of the ticket, or of every ticket, as a JSON array.
pub fn json(out: &mut dyn Write, session: &Session, ticket: Option<&str>) -> Result<(), CliError> {
    Ok(writeln!(out, "{}", json::pretty(&all(session, ticket)?)?)?)
}

/// Prints the same for people.
pub fn list(out: &mut dyn Write, session: &Session, ticket: Option<&str>) -> Result<(), CliError> {
    let all = all(session, ticket)?;
    if all.is_empty() {
        writeln!(out, "No runs yet, so there are no circuit breakers to show.")?;
    }
    for shown in all {
        print(out, &shown)?;
    }
    Ok(())
}

fn print(out: &mut dyn Write, shown: &CircuitRow) -> std::io::Result<()> {
    let CircuitRow { breaker, thresholds: limits, .. } = shown;
    let mark = match breaker.state {
        Circuit::Closed => "●",
        Circuit::HalfOpen => "◐",
        Circuit::Open => "○",
    };
    writeln!(out, "{mark} {:<9}  {}", breaker.state.told(), cut(&shown.ticket, 40))?;
    let counted = [
        ("no progress", breaker.no_progress, limits.no_progress),
        ("same error", breaker.same_error, limits.same_error),
        ("permission denials", breaker.permission_denials, limits.permission_denials),
    ];
    for (name, value, limit) in counted {
        writeln!(out, "    {name:<18}  {value}/{limit}")?;
    }
    if !breaker.reason.is_empty() {
        writeln!(out, "    why                 {}", breaker.reason)?;
    }
    if let Some(left) = shown.left {
        let left = human(std::time::Duration::from_secs(left));
        writeln!(
            out,
            "    one iteration is allowed in {left}; to allow it now: programmator circuit reset {}",
            shown.ticket
        )?;
    }
    for moved in shown.history.iter().rev().take(MOVES).rev() {
        let Moved { time, from, to, reason, .. } = moved;
        writeln!(out, "    {} UTC  {} → {}: {reason}", time.second(), from.told(), to.told())?;
    }
    Ok(())
}

/// Closes the breaker of the ticket, or of every ticket that was worked on in this folder. Gives the exit code:
/// 75 when a program works on one of them.
pub async fn reset(out: &mut dyn Write, session: &Session, ticket: Option<&str>) -> Result<u8, CliError> {
    let parts = in_force::parts(session, &session.resolve(&session.folder)?)?;
    let runs = match ticket {
        Some(text) => vec![session.find_run(&parts.store, text, Typed::Ticket)?],
        None => latest(&parts.store)?.into_iter().filter(|run| run.workspace().home() == session.folder).collect(),
    };
    let app = App::start(parts);
    let mut code = 0;
    let mut closed = 0;
    for run in &runs {
        match app.ask(Request::ResetBreaker(PathBuf::from(&run.ticket_path)), Answerer::COMMAND_LINE).await {
            Reply::Reset { changed: true } => {
                closed += 1;
                writeln!(out, "{}: circuit breaker closed, counters reset.", run.ticket)?;
            }
            Reply::Reset { .. } if ticket.is_some() => {
                closed += 1;
                writeln!(out, "{}: the circuit breaker was already closed.", run.ticket)?;
            }
            Reply::Reset { .. } => {}
            Reply::Refused(Refused { message, exit_code: HELD, .. }) => {
                code = HELD;
                let message = format!("{message}; reset its circuit breaker there (key b), or stop it first");
                writeln!(std::io::stderr(), "programmator: {}", clean_line(&message, 600)).ok();
            }
            reply => return Err(reply.into()),
        }
    }
    if closed == 0 && code == 0 {
        writeln!(out, "Nothing to reset: the circuit breakers of this folder's tickets are closed and at zero.")?;
    }
    Ok(code)
}

/// The latest run of each ticket, newest first.
pub(super) fn latest(store: &Store) -> Result<Vec<RunSummary>, CliError> {
    Ok(newest_of_each(store.runs()?))
}

fn all(session: &Session, ticket: Option<&str>) -> Result<Vec<CircuitRow>, CliError> {
    let store = session.store_to_read()?;
    let runs = store.runs()?;
    let now = session.clock().now();
    let wanted = match ticket {
        Some(text) => vec![session.find_run(&store, text, Typed::Ticket)?],
        None => latest(&store)?,
    };
    wanted.into_iter().map(|run| shown(&store, &runs, run, now)).collect()
}

fn shown(store: &Store, runs: &[RunSummary], run: RunSummary, now: Timestamp) -> Result<CircuitRow, CliError> {
    let state = state_of(store, run.run)?;
    let (mut breaker, thresholds) = (state.breaker, state.settings.breaker);
    breaker.reason = clean_line(&breaker.reason, 400);
    breaker.error = breaker.error.map(|error| clean_line(&error, 400));
    breaker.said = breaker.said.map(|said| clean_line(&said, 400));
    let left = match recover(&breaker, &thresholds, now) {
        Recovery::Refused { left } => Some(left.as_secs() + u64::from(left.subsec_nanos() > 0)),
        Recovery::Moves(_) => Some(0),
        Recovery::Untouched => None,
    };
    let mut history = Vec::new();
    for earlier in runs.iter().rev().filter(|earlier| earlier.ticket_path == run.ticket_path) {
        moves(store, earlier, &mut history)?;
    }
    Ok(CircuitRow {
        ticket: run.ticket.to_string(),
        ticket_path: run.ticket_path,
        folder: run.folder,
        run: run.run.to_string(),
        breaker,
        thresholds,
        left,
        history,
    })
}

/// Adds the moves of a run. A reset is one, though its record only says that it was made.
fn moves(store: &Store, run: &RunSummary, history: &mut Vec<Moved>) -> Result<(), CliError> {
    for stored in store.load(run.run)?.records {
        let moved = match &stored.record {
            Record::BreakerMoved(StateMoved { n, from, to, reason }) => (*n, *from, *to, clean_line(reason, 400)),
            Record::BreakerReset(ByPerson { by }) => {
                let from = history.last().map_or(Circuit::Closed, |moved| moved.to);
                (0, from, Circuit::Closed, format!("reset by {by}"))
            }
            _ => continue,
        };
        let (iteration, from, to, reason) = moved;
        history.push(Moved { time: stored.time, run: run.run.to_string(), iteration, from, to, reason });
    }
    Ok(())
}
