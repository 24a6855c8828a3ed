//! `programmator session show` and `programmator session reset`: Claude's sessions of the tickets, from the store.

use super::circuit::latest;
use super::error::CliError;
use super::help;
use super::in_force;
use super::session::Session;
use crate::adapters::store::Store;
use crate::base::json;
use crate::base::text::{clean_line, cut};
use crate::base::time::{Timestamp, human};
use crate::domain::answerer::Answerer;
use crate::domain::request::{HELD, Refused, Reply, Request};
use crate::domain::session::{SessionEvent, Transition};
use crate::domain::step::StepName;
use crate::domain::summary::RunSummary;
use crate::runtime::app::App;
use crate::runtime::offline::state_of;
use crate::runtime::supervisor::Typed;
use clap::Subcommand;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Transitions that are shown to people below each ticket.
const TRANSITIONS: usize = 5;

/// One ticket's sessions. `show --json`: add, never rename.
#[derive(Debug, Serialize)]
struct SessionRow {
    ticket: String,
    ticket_path: String,
    folder: String,
    run: String,
    /// Sessions are resumed at all.
    continuity: bool,
    expiry_hours: u32,
    sessions: Vec<Kept>,
    history: Vec<Transition>,
}

/// A session that is kept for a step.
#[derive(Debug, Serialize)]
struct Kept {
    step: String,
    session: String,
    folder: String,
    opened: Timestamp,
    used: Timestamp,
    expires: Timestamp,
    expired: bool,
}

/// What can be done with Claude's sessions.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Show which session each ticket resumes, and its earlier ones.
    #[command(after_help = help::SESSION_SHOW)]
    Show {
        /// The ticket; without one, every ticket that was worked on.
        ticket: Option<String>,
        /// Print a JSON array instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Reset a ticket's session: the next iteration starts a fresh one.
    #[command(after_help = help::SESSION_RESET)]
    Reset {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
    },
}

/// Carries the command out. Gives the exit code.
pub async fn run(out: &mut dyn Write, session: &Session, command: SessionCommand) -> Result<u8, CliError> {
    match command {
        SessionCommand::Show { ticket, json: false } => list(out, session, ticket.as_deref()).map(|()| 0),
        SessionCommand::Show { ticket, json: true } => json(out, session, ticket.as_deref()).map(|()| 0),
        SessionCommand::Reset { ticket } => reset(out, session, &ticket).await,
    }
}

/// Prints the sessions of the ticket, else of every ticket, as a JSON array.
fn json(out: &mut dyn Write, session: &Session, ticket: Option<&str>) -> Result<(), CliError> {
    Ok(writeln!(out, "{}", json::pretty(&all(session, ticket)?)?)?)
}

/// Prints them for people.
fn list(out: &mut dyn Write, session: &Session, ticket: Option<&str>) -> Result<(), CliError> {
    let all = all(session, ticket)?;
    if all.is_empty() {
        writeln!(out, "No runs yet, so there are no Claude sessions.")?;
    }
    let now = session.clock().now();
    for shown in all {
        print(out, &shown, now)?;
    }
    Ok(())
}

fn print(out: &mut dyn Write, shown: &SessionRow, now: Timestamp) -> std::io::Result<()> {
    let none = if shown.sessions.is_empty() { "  no session; the next iteration starts one" } else { "" };
    writeln!(out, "{}{none}", cut(&shown.ticket, 40))?;
    for kept in &shown.sessions {
        let next = match (shown.continuity, kept.expired) {
            (false, _) => "not resumed (run.session_continuity is off)".to_owned(),
            (true, true) => "expired; the next iteration starts a fresh one".to_owned(),
            (true, false) => format!("expires in {}", human(kept.expires.since(now))),
        };
        writeln!(out, "    {}  {}  used {} ago, {next}", kept.step, kept.session, human(now.since(kept.used)))?;
    }
    for moved in shown.history.iter().rev().take(TRANSITIONS).rev() {
        let why = if moved.reason.is_empty() { String::new() } else { format!(": {}", moved.reason) };
        let (time, session) = (moved.time.second(), moved.session.chars().take(8).collect::<String>());
        writeln!(out, "    {time} UTC  {}  {session}  {}{why}", moved.step, moved.to.word())?;
    }
    Ok(())
}

/// Gives the ticket's sessions up. Gives the exit code: 75 when a program works on it.
async fn reset(out: &mut dyn Write, session: &Session, ticket: &str) -> Result<u8, CliError> {
    let parts = in_force::parts(session, &session.resolve(&session.folder)?)?;
    let RunSummary { ticket, ticket_path, .. } = session.find_run(&parts.store, ticket, Typed::Ticket)?;
    let request = Request::ResetSessions(PathBuf::from(ticket_path));
    match App::start(parts).ask(request, Answerer::COMMAND_LINE).await {
        Reply::Reset { changed: true } => {
            let reset = SessionEvent::Reset.word();
            writeln!(out, "{ticket}: session {reset}; the next iteration starts a fresh one.")?;
        }
        Reply::Reset { .. } => {
            writeln!(out, "{ticket}: no session to reset; the next iteration starts a fresh one anyway.")?;
        }
        Reply::Refused(Refused { message, exit_code: HELD, .. }) => {
            return Err(CliError::new(
                HELD,
                format!("{message}; stop it (key x, or Ctrl-C without a screen), then reset its session"),
            ));
        }
        reply => return Err(reply.into()),
    }
    Ok(0)
}

fn all(session: &Session, ticket: Option<&str>) -> Result<Vec<SessionRow>, CliError> {
    let store = session.store_to_read()?;
    let runs = match ticket {
        Some(text) => vec![session.find_run(&store, text, Typed::Part)?],
        None => latest(&store)?,
    };
    let now = session.clock().now();
    runs.into_iter().map(|run| shown(&store, run, now)).collect()
}

fn shown(store: &Store, run: RunSummary, now: Timestamp) -> Result<SessionRow, CliError> {
    let state = state_of(store, run.run)?;
    let expiry = Duration::from_secs(u64::from(state.settings.session_expiry_hours) * 3_600);
    let kept = |(step, kept): (&StepName, &crate::domain::session::Session)| Kept {
        step: clean_line(step.word(), 40),
        session: clean_line(&kept.id, 80),
        folder: clean_line(&kept.folder, 400),
        opened: kept.opened,
        used: kept.used,
        expires: kept.used.plus(expiry),
        expired: kept.is_expired(now, expiry),
    };
    let clean = |moved: &Transition| Transition {
        step: clean_line(moved.step.word(), 40).into(),
        session: clean_line(&moved.session, 80),
        reason: clean_line(&moved.reason, 400),
        ..moved.clone()
    };
    Ok(SessionRow {
        ticket: run.ticket.to_string(),
        ticket_path: run.ticket_path,
        folder: run.folder,
        run: run.run.to_string(),
        continuity: state.settings.session_continuity,
        expiry_hours: state.settings.session_expiry_hours,
        sessions: state.sessions.open.iter().map(kept).collect(),
        history: state.sessions.history.iter().map(clean).collect(),
    })
}
