//! `programmator host stop`: ends all background runs, and the host.

use super::status::runs;
use crate::adapters::agent::orphans;
use crate::adapters::background::Found;
use crate::adapters::sole_process::{self, HOST, Off};
use crate::adapters::store::{Store, StoreError};
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::answerer::Answerer;
use crate::domain::background_work::{Work, names};
use crate::domain::command::UserCommand;
use crate::domain::summary::{Owner, RunSummary};
use crate::runtime::heard::say;
use rustix::process::Signal;
use std::io::Write;
use std::time::Duration;

/// How long the host may take to end.
const PATIENCE: Duration = Duration::from_secs(90);

/// Ends the host, so that nothing is resumed, and asks each background process to stop: its runs after their iteration, or all
/// that it does `now`. Does not wait for its end.
pub async fn stop(out: &mut dyn Write, session: &Session, now: bool) -> Result<(), CliError> {
    let had_host = end(session)?;
    if had_host {
        writeln!(out, "The host has ended.")?;
    }
    let store = session.store()?;
    let (mut stopped, mut is_whole) = (0, true);
    for found in runs(session) {
        if !found.is_alive() {
            writeln!(out, "{} was cut off, and will not be resumed.", found.process.named())?;
            found.forget();
        } else if now {
            is_whole &= interrupt(&found);
            writeln!(out, "Stopping now: {}.", found.process.named())?;
        } else {
            is_whole &= finish(out, &store, &found).await?;
        }
        stopped += 1;
    }
    match stopped {
        0 => writeln!(out, "No run is in the background.")?,
        _ => writeln!(out, "Resume with `programmator resume --detach TICKET`.")?,
    }
    if !had_host && stopped == 0 {
        writeln!(out, "No host is running.")?;
    }
    if is_whole { Ok(()) } else { Err(CliError::failure("not everything was stopped: see `programmator host status`")) }
}

/// Ends the host, which finishes first what it is just beginning. Whether there was one.
pub fn end(session: &Session) -> Result<bool, CliError> {
    let ended = sole_process::end(&session.state, HOST, None, PATIENCE);
    Ok(ended.map_err(|error| CliError::failure(error.to_string()))? != Off::None)
}

/// As Ctrl-C in its terminal: also what it has not begun yet is not begun. It holds its entry, so its number is its own.
fn interrupt(found: &Found) -> bool {
    let pid = found.process.pid;
    orphans::identity(pid).is_some_and(|identity| orphans::signal(pid, &identity, Signal::INT))
}

/// Asks its runs to stop after their iteration. Whether all have heard it.
async fn finish(out: &mut dyn Write, store: &Store, found: &Found) -> Result<bool, CliError> {
    let Work::Tickets { files, .. } = &found.process.work else { return Ok(true) };
    let mut is_whole = true;
    for file in files {
        match last(store, file)? {
            Some(run) if run.owner() != Owner::Nobody => {
                let is_waiting = run.asks().is_some();
                match say(store, &run, UserCommand::FinishAndStop, Answerer::COMMAND_LINE).await {
                    Ok(()) if is_waiting => writeln!(
                        out,
                        "{} stops after this iteration, which is waiting for you (`programmator queue`; --now stops at once).",
                        run.ticket
                    )?,
                    Ok(()) => writeln!(out, "{} stops after this iteration.", run.ticket)?,
                    Err(why) => {
                        is_whole = false;
                        writeln!(out, "{}: {}", run.ticket, why.words())?;
                    }
                }
            }
            Some(run) if run.updated >= found.process.since => {}
            _ => writeln!(out, "{} is queued behind that, and starts then: --now stops it, too.", names([file]))?,
        }
    }
    Ok(is_whole)
}

fn last(store: &Store, file: &str) -> Result<Option<RunSummary>, StoreError> {
    store.latest_for(file)?.map(|run| store.as_seen(run)).transpose()
}
