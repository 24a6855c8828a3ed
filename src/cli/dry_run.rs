//! `programmator run --dry-run`: what runs would begin with, and what keeps them from starting. Nothing is written.

mod report;

use super::attach;
use super::error::CliError;
use super::headless::{finished_words, says_finished};
use super::in_force;
use super::ready::{self, Ready};
use super::session::Session;
use crate::adapters::store::Store;
use crate::adapters::tickets;
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::approval::Presence;
use crate::runtime::app::queue::{Foretold, Turn, foretell};
use crate::runtime::dry_run::{Refusal, look};
use crate::runtime::headless::Format;
use crate::runtime::supervisor::{OpenError, Opener};
use report::Report;
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

/// The store as it is. Where there is none yet, an empty one, and where an earlier program has made it, a copy: they go when this is
/// dropped.
struct Looked {
    store: Store,
    /// Why a run could not store anything.
    trouble: Option<Refusal>,
    _scratch: Option<TempDir>,
}

impl Looked {
    fn at(session: &Session) -> Result<Self, CliError> {
        if !Store::is_there(&session.state) {
            let empty = tempfile::tempdir()?;
            return Ok(Self { store: Store::open(empty.path())?, trouble: None, _scratch: Some(empty) });
        }
        if Store::is_older(&session.state) {
            let scratch = tempfile::tempdir()?;
            let store = Store::open_older(&session.state, scratch.path())?;
            return Ok(Self { store, trouble: None, _scratch: Some(scratch) });
        }
        Ok(match session.store() {
            Ok(store) => Self { store, trouble: None, _scratch: None },
            Err(error) => {
                let trouble = Some(Refusal { text: error.message.clone(), exit_code: error.exit_code });
                Self { store: Store::open_to_read(&session.state).map_err(|_| error)?, trouble, _scratch: None }
            }
        })
    }
}

/// Prints what the runs of these tickets would begin with, in the order in which they would be started. Gives the worst exit
/// code with which `run` would refuse one.
pub async fn tickets(out: &mut dyn Write, session: &Session, names: &[String], format: Format) -> Result<u8, CliError> {
    let looked = Looked::at(session)?;
    let resolved = session.resolve(&session.folder)?;
    let places = session.places(&resolved);
    let mut to_run = Vec::new();
    for name in names {
        match (attach::finished_in(session, &looked.store, name), format) {
            (None, _) => to_run.push(name),
            (Some(ticket), Format::Text) => _ = says_finished(Some(ticket)),
            (Some(ticket), Format::Json) => {
                let report =
                    Report::finished(ticket.id.to_string(), tickets::find(name, &places)?, finished_words(&ticket));
                writeln!(out, "{}", json::line(&report)?)?;
            }
        }
    }
    let names = to_run;
    if names.is_empty() {
        return Ok(0);
    }
    let paths = names.iter().map(|name| tickets::find(name, &places)).collect::<Result<Vec<_>, _>>()?;
    let opener = Opener {
        store: looked.store.clone(),
        clock: session.clock(),
        rules: session.rules(),
        gates: in_force::policy_engines(session).gates(),
        config_folder: session.config_folder(),
    };
    let presence = if session.is_away { Presence::Screen } else { Presence::Nobody };
    let Foretold { order, left } = foretell(&paths, &looked.store);
    let left = left.into_iter().map(|(ticket, path, why)| (ticket, path, Err(why)));
    let turns = order.into_iter().map(|Turn { ticket, path, after, waits }| {
        let after = after.iter().map(|dep| format!("after {dep}"));
        (ticket, path, Ok(after.chain(waits).collect::<Vec<_>>()))
    });
    let mut worst = 0;
    for (ticket, path, turn) in turns.chain(left) {
        let mut outlook = Box::pin(look(&opener, &path, &session.folder, presence)).await;
        match turn {
            Ok(waits) => drop(outlook.delays.splice(..0, waits)),
            Err(why) => {
                let text = format!("{ticket} is not started: {why}");
                outlook.refusals.insert(0, Refusal { text, exit_code: 2 });
            }
        }
        outlook.refusals.splice(..0, looked.trouble.clone());
        // A run that is resumed works where it was begun.
        let home = outlook.begins.as_ref().map(|begins| begins.plan.workspace.home());
        let resolved = match home.filter(|home| *home != session.folder) {
            Some(home) => &session.resolve(home)?,
            None => &resolved,
        };
        let report = Report::new(ticket.to_string(), path, outlook, resolved, &in_force::secrets(session, resolved));
        worst = worst.max(report.exit_code);
        match format {
            Format::Json => writeln!(out, "{}", json::line(&report)?)?,
            Format::Text => report.print(out)?,
        }
    }
    Ok(worst)
}

/// `run --ready --dry-run --json`: add, never rename.
#[derive(Serialize)]
struct Plan {
    order: Vec<Place>,
    /// Why others are left.
    left: Vec<String>,
    /// How many work at the same time; `null`: any number.
    max_parallel: Option<usize>,
}

#[derive(Serialize)]
struct Place {
    ticket: String,
    title: String,
    path: PathBuf,
    /// Those of the order that must be closed before.
    after: Vec<String>,
    /// Why it would wait for something else.
    waits: Option<String>,
}

/// Prints in which order all ready tickets would be worked through, and why others are left.
pub fn ready(out: &mut dyn Write, session: &Session, all: &Ready, format: Format) -> Result<u8, CliError> {
    let resolved = session.resolve(&session.folder)?;
    let places = session.places(&resolved);
    let chosen = ready::choose(&places, all.tag.as_deref())?;
    let looked = Looked::at(session)?;
    let Foretold { order, left } = foretell(&chosen.files, &looked.store);
    // What another program works on would be refused; what waits for it waits all the same.
    let held = |turn: &Turn| looked.store.ticket_holder(&turn.path).ok().flatten();
    let in_use =
        |turn: &Turn| held(turn).map(|holder| OpenError::Held { ticket: turn.ticket.id().clone(), holder }.to_string());
    let in_use: Vec<String> = order.iter().filter_map(in_use).collect();
    let order = order.into_iter().filter(|turn| held(turn).is_none());
    let left_too = left.into_iter().map(|(ticket, _, why)| format!("{ticket} is not started: {why}"));
    let titles: HashMap<&PathBuf, &String> = chosen.files.iter().zip(&chosen.titles).collect();
    let place = |Turn { ticket, path, after, waits }: Turn| Place {
        ticket: ticket.to_string(),
        title: titles.get(&path).map_or_else(String::new, |title| (*title).clone()),
        path,
        after: after.iter().map(ToString::to_string).collect(),
        waits,
    };
    let plan = Plan {
        order: order.map(place).collect(),
        left: chosen.left.into_iter().chain(left_too).chain(in_use).collect(),
        max_parallel: ready::parallel(&resolved.config),
    };
    match format {
        Format::Json => writeln!(out, "{}", json::pretty(&plan)?)?,
        Format::Text => {
            for (at, place) in plan.order.iter().enumerate() {
                let after = place.after.iter().map(|dep| format!("after {dep}"));
                let why = after.chain(place.waits.clone()).map(|why| format!("  {}", clean_line(&why, 1_000)));
                let (ticket, title) = (clean_line(&place.ticket, 200), clean_line(&place.title, 200));
                writeln!(out, "{}. {ticket}  {title}{}", at + 1, why.collect::<String>())?;
            }
            if plan.order.is_empty() {
                writeln!(out, "No ticket is ready.")?;
            }
            for why in &plan.left {
                writeln!(out, "{}", clean_line(why, 2_000))?;
            }
        }
    }
    Ok(0)
}
