//! Runs that are shown and not started: `programmator attach` shows one that another program works on. There it is seen
//! live, answered, paused, told something and stopped; leaving the screen leaves the run alone. `programmator tk-1` does
//! the same where its run is at work elsewhere, and shows the run that has finished the ticket.

use super::error::CliError;
use super::session::Session;
use super::start::{Named, Open, Shown};
use crate::adapters::known_sessions;
use crate::adapters::store::Store;
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::domain::messages::how_to_reopen;
use crate::domain::outcome::ExitReason;
use crate::domain::own_session;
use crate::domain::phase::Mark;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::domain::ticket::{Phase, Ticket};
use crate::runtime::own_run::{key, run_id};
use crate::runtime::supervisor::Typed;
use std::path::Path;

/// The run of this name, or the latest that another program works on.
pub fn named(session: &Session, name: Option<&str>) -> Result<Open, CliError> {
    if let Some(own) = name.and_then(|name| own(session, name)) {
        return own.map(|own| Open::Tickets(Named { show: vec![own], start: Vec::new() }));
    }
    find(session, name).map(|run| Open::Tickets(Named { show: vec![(run.key(), run.run)], start: Vec::new() }))
}

/// The Claude session of the person's own of this name; an error where it has ended. `None`: it is no name of one.
fn own(session: &Session, name: &str) -> Option<Result<Shown, CliError>> {
    let Some(own) = own_session::named(name) else {
        let is_known =
            || session.store_to_read().is_ok_and(|store| session.find_run(&store, name, Typed::Part).is_ok());
        return (name.starts_with(own_session::PREFIX) && !is_known()).then(|| {
            Err(CliError::usage(format!(
                "no Claude session of your own is called `{}`: `programmator away status` lists them",
                clean_line(name, 60)
            )))
        });
    };
    if !known_sessions::known(&session.state).iter().any(|known| known.session == own) {
        let is_ticket = session
            .store_to_read()
            .is_ok_and(|store| session.find_run(&store, name, Typed::Part).is_ok_and(|run| !run.is_own_session()));
        let why = format!(
            "{own} has ended, or started without programmator's hooks: `programmator away status` lists open sessions, `programmator hooks status` shows whether the hooks are installed"
        );
        return (!is_ticket).then(|| Err(CliError::failure(why)));
    }
    Some(session.store().map(|store| (key(&store, &own), run_id(&store, &own))))
}

/// The same as it stands.
pub(super) fn find(session: &Session, name: Option<&str>) -> Result<RunSummary, CliError> {
    let store = session.store_to_read()?;
    let run =
        if let Some(name) = name {
            store.as_seen(session.find_run(&store, name, Typed::Part)?)?
        } else {
            let runs = store.runs()?.into_iter().map(|run| store.as_seen(run)).collect::<Result<Vec<_>, _>>()?;
            // What waits for another is not what works.
            let (queued, at_work): (Vec<_>, Vec<_>) =
                runs.into_iter().filter(is_open).partition(|run| run.state == RunState::Waiting);
            at_work.into_iter().chain(queued).next().ok_or_else(|| {
                CliError::failure("no run is active elsewhere: `programmator` shows all tickets on Home")
            })?
        };
    if run.is_own_session() {
        return Err(CliError::failure(format!(
            "{0} is one of your own Claude sessions: `programmator queue` lists its questions, and `programmator attach {0}` on its own machine shows it",
            run.ticket
        )));
    }
    if !is_open(&run) {
        let ticket = clean_line(run.ticket.as_str(), 60);
        let reason = run.reason.as_deref().and_then(ExitReason::from_word);
        let next = match (finished_in(session, &store, ticket.as_str()), reason) {
            (Some(finished), _) => format!("it is complete, and {}", how_to_reopen(&finished)),
            (None, Some(reason)) if !reason.is_resumable() => format!("`programmator {ticket}` starts a new run"),
            (None, _) => format!("`programmator {ticket}` resumes it"),
        };
        return Err(CliError::failure(format!(
            "{ticket} is not running: {next}; `programmator replay {ticket}` shows its last run"
        )));
    }
    Ok(run)
}

/// What becomes of tickets that are named on the command line: which are shown as they are, and which are started.
pub fn sorted(session: &Session, tickets: Vec<String>) -> Named {
    let mut named = Named::default();
    for ticket in tickets {
        match without_start(session, &ticket) {
            Some(shown) => named.show.push(shown),
            None => named.start.push(ticket),
        }
    }
    named
}

/// The ticket's last run, where there is nothing to be started: another program works on it, or it has finished the
/// ticket. What cannot be read says so when it is started.
fn without_start(session: &Session, ticket: &str) -> Option<Shown> {
    let (store, run) = last_run(session, ticket)?;
    if is_open(&run) {
        return Some((run.key(), run.run));
    }
    let ticket = tickets::load(Path::new(&run.ticket_path)).ok().filter(|ticket| has_finished(&run, ticket))?;
    // One that found everything done has nothing to show.
    let mut runs = store.runs().ok()?.into_iter().filter(|other| other.ticket_path == run.ticket_path);
    let worked = runs.find(|other| other.iterations > 0 && has_finished(other, &ticket)).unwrap_or(run);
    Some((worked.key(), worked.run))
}

/// The ticket, where its last run has finished it and nothing is left to do.
pub(super) fn finished(session: &Session, ticket: &str) -> Option<Ticket> {
    finished_in(session, &store_there(session)?, ticket)
}

/// The same by a store that is open.
pub(super) fn finished_in(session: &Session, store: &Store, ticket: &str) -> Option<Ticket> {
    let run = last_in(session, store, ticket)?;
    let ticket = tickets::load(Path::new(&run.ticket_path)).ok()?;
    (!is_open(&run) && !has_open_phase(&ticket) && has_finished(&run, &ticket)).then_some(ticket)
}

fn last_run(session: &Session, ticket: &str) -> Option<(Store, RunSummary)> {
    let store = store_there(session)?;
    let run = last_in(session, &store, ticket)?;
    Some((store, run))
}

/// Looking makes no store.
fn store_there(session: &Session) -> Option<Store> {
    Store::is_there(&session.state).then(|| session.store_to_read().ok()).flatten()
}

fn last_in(session: &Session, store: &Store, ticket: &str) -> Option<RunSummary> {
    let run = store.as_seen(session.find_run(store, ticket, Typed::Ticket).ok()?).ok()?;
    run.workspace().contains(&session.folder).then_some(run)
}

fn has_open_phase(ticket: &Ticket) -> bool {
    ticket.phases.iter().any(|phase| !phase.done)
}

fn is_open(run: &RunSummary) -> bool {
    run.owner() == Owner::Another && !run.is_own_session()
}

/// The run has ended complete, and the file says no more than it left: a phase that it skipped has an empty box.
fn has_finished(run: &RunSummary, ticket: &Ticket) -> bool {
    let is_settled = |(phase, mark): (&Phase, &Mark)| phase.done || *mark == Mark::Skipped;
    run.state == RunState::Ended
        && run.reason.as_deref() == Some(ExitReason::Complete.word())
        && run.marks.len() == ticket.phases.len()
        && ticket.phases.iter().zip(&run.marks).all(is_settled)
        // One whose phases are all done is closed, unless it was opened again.
        && (has_open_phase(ticket) || ticket.status.map_or(!ticket.phases.is_empty(), |_| ticket.is_closed()))
}
