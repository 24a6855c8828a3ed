//! `programmator ticket tick` and `untick`: the person says that a phase is done, or is not. Doing it is
//! the service's part.

use super::error::CliError;
use super::in_force;
use super::session::Session;
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::request::{BoxOf, BoxOutcome, Reply, Request};
use crate::domain::ticket::Ticket;
use crate::domain::ticket::revise::PhasePlace;
use crate::orchestrator::phase_match;
use crate::runtime::app::App;
use std::io::Write;

/// What is to become of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// Ticked.
    On,
    /// Not ticked.
    Off,
}

/// Ticks the box of the phase (its number, or its text), or takes its tick back. Gives the exit code.
pub async fn run(
    out: &mut dyn Write,
    session: &Session,
    ticket: &str,
    phase: &str,
    tick: Tick,
) -> Result<u8, CliError> {
    session.not_for_claude("not allowed inside a run: tick the box in a shell of your own")?;
    let resolved = session.resolve(&session.folder)?;
    let path = tickets::find(ticket, &session.places(&resolved))?;
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let ticket = tickets::load(&path).map_err(|error| CliError::usage(error.to_string()))?;
    let PhasePlace { text, nth } = find(&ticket, phase)?;
    let wanted = BoxOf { text, nth, done: tick == Tick::On };
    let app = App::start(in_force::parts(session, &resolved)?);
    let outcome = match app.ask(Request::SetBox(path, wanted.clone()), Answerer::COMMAND_LINE).await {
        Reply::BoxSet(outcome) => outcome,
        reply => return Err(reply.into()),
    };
    let (id, text) = (ticket.id.as_str(), clean_line(&wanted.text, 200));
    let is = if tick == Tick::On { "ticked" } else { "unticked" };
    match outcome {
        BoxOutcome::Done => writeln!(out, "{id}: “{text}” is {is}.")?,
        BoxOutcome::Already => writeln!(out, "{id}: “{text}” was already {is}.")?,
        BoxOutcome::Handed { holder } | BoxOutcome::Noted { holder } => {
            writeln!(out, "{id}: “{text}” is {is}; {holder} has applied it.")?;
        }
        BoxOutcome::NotTaken { holder } => {
            let message = format!("{holder} is running {id} and did not respond. Nothing was changed; try again");
            return Err(CliError::new(75, message));
        }
        BoxOutcome::Unknown { holder } => {
            let message = format!("{holder} is running {id} and has not seen “{text}” yet; try again in a moment");
            return Err(CliError::new(75, message));
        }
        BoxOutcome::NotWritten(why) => {
            return Err(CliError::failure(format!(
                "the box of “{text}” could not be written: {}",
                clean_line(&why, 400)
            )));
        }
    }
    Ok(0)
}

/// The phase by the number that it carries, else by its place in the file, else by its text.
pub(super) fn find(ticket: &Ticket, name: &str) -> Result<PhasePlace, CliError> {
    let texts: Vec<&str> = ticket.phases.iter().map(|phase| phase.text.as_str()).collect();
    let number = name.parse::<usize>().ok();
    let carries = number.and_then(|_| texts.iter().position(|text| phase_match::carried_number(text) == number));
    let place = number.and_then(|number| number.checked_sub(1)).filter(|at| *at < texts.len());
    if let (Some(carries), Some(place)) = (carries, place)
        && carries != place
    {
        let (id, [carries, place]) = (&ticket.id, [carries, place].map(|at| clean_line(texts[at], 80)));
        return Err(CliError::usage(format!(
            "{name} is ambiguous in {id}: the number of “{carries}” and the position of “{place}”; use the phase's \
            text"
        )));
    }
    let Some(at) = carries.or(place).or_else(|| phase_match::find(name, &texts)) else {
        let known = match texts.len() {
            0 => "it has no phases".to_owned(),
            1 => "it has 1 phase".to_owned(),
            all => format!("it has {all} phases"),
        };
        let name = clean_line(name, 80);
        return Err(CliError::usage(format!(
            "{} has no phase `{name}`; {known}; `programmator ticket show --phases {}` lists them",
            ticket.id, ticket.id
        )));
    };
    whole(ticket, texts[at])
}

/// The phase with this text, by nothing else.
pub(super) fn whole(ticket: &Ticket, text: &str) -> Result<PhasePlace, CliError> {
    let shown = || clean_line(text, 80);
    match ticket.phases.iter().filter(|phase| phase.text == text).count() {
        0 => Err(CliError::usage(format!("{} has no phase “{}”", ticket.id, shown()))),
        1 => Ok(PhasePlace { text: text.to_owned(), nth: 0 }),
        _ => Err(CliError::usage(format!("{} has several phases “{}”: rename one first", ticket.id, shown()))),
    }
}
