//! `programmator host status`: the host, and what works in the background.

use super::seen::{background, has_left, named, store};
use super::service::installed;
use crate::adapters::background::Found;
use crate::adapters::sole_process::{self, HOST, RELAY};
use crate::adapters::store::Store;
use crate::base::json;
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::background_work::Background;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::io::Write;

/// Most characters of a path.
const PATH: usize = 400;

/// `--json`: add, never rename.
#[derive(Serialize)]
struct Seen {
    /// The host's process; `null`: none is running.
    host: Option<i32>,
    /// The phone relay's.
    relay: Option<i32>,
    background: Vec<SeenProcess>,
}

/// A process in the background.
#[derive(Serialize)]
struct SeenProcess {
    #[serde(flatten)]
    process: Background,
    /// Its process is gone, and its work is not done.
    interrupted: bool,
}

/// As text.
pub fn show(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    match sole_process::holder(&session.state, HOST)? {
        Some(pid) => {
            writeln!(out, "The host is running (pid {pid}): background runs that are interrupted are resumed.")?;
        }
        None if installed(session).is_some() => {
            writeln!(
                out,
                "No host is running, though it is installed: `programmator host install` starts it, or `programmator host` runs it in this terminal."
            )?;
        }
        None => writeln!(
            out,
            "No host is running: background runs are not resumed after a crash or a restart of this machine. \
             `programmator host install` starts it now and whenever you log in; `programmator host` runs it in this terminal."
        )?,
    }
    if let Some(pid) = sole_process::holder(&session.state, RELAY)? {
        writeln!(out, "The phone relay is running (pid {pid}).")?;
    }
    let store = store(session);
    let found = shown(session, store.as_ref());
    if found.is_empty() {
        writeln!(out, "No run is in the background.")?;
    }
    for one in &found {
        let Background { pid, folder, since, .. } = &one.process;
        let name = named(store.as_ref(), one);
        let zone = TimeZone::system();
        let stands = if one.is_alive() { format!("pid {pid}") } else { "interrupted".to_owned() };
        let since = format!("{} {}", since.day(&zone), since.minute(&zone));
        writeln!(out, "{name}  {stands}  started {since}  {}", clean_line(folder, PATH))?;
    }
    if found.iter().any(|one| !one.is_alive()) {
        writeln!(
            out,
            "A running host resumes what has crashed. To resume one yourself, in its folder: `programmator run --detach TICKET`."
        )?;
    }
    Ok(())
}

/// As JSON.
pub fn json(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let seen = Seen {
        host: sole_process::holder(&session.state, HOST)?,
        relay: sole_process::holder(&session.state, RELAY)?,
        background: shown(session, store(session).as_ref())
            .into_iter()
            .map(|found| SeenProcess { interrupted: !found.is_alive(), process: found.process.clone() })
            .collect(),
    };
    Ok(writeln!(out, "{}", json::pretty(&seen)?)?)
}

/// Those that work, and those that have left something of that.
fn shown(session: &Session, store: Option<&Store>) -> Vec<Found> {
    let mut found = background(session);
    found.retain(|one| one.is_alive() || has_left(store, &one.process));
    found
}
