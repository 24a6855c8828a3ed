//! `programmator host stop`: ends all background runs, and the host.

use super::status::runs;
use crate::adapters::sole_process::{self, HOST};
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::answerer::Answerer;
use crate::domain::background_work::Work;
use crate::domain::command::UserCommand;
use crate::domain::summary::Owner;
use crate::runtime::heard::say;
use rustix::process::Signal;
use std::io::Write;

/// Asks each run to stop, after its iteration or `now`, and ends the host: nothing resumes them. Does not wait for their ends.
pub async fn stop(out: &mut dyn Write, session: &Session, now: bool) -> Result<(), CliError> {
    let host = sole_process::held_by(&session.state, HOST)?;
    if let Some(host) = &host {
        if !host.signal(Signal::TERM) {
            return Err(CliError::failure(host.unknown(HOST)));
        }
        writeln!(out, "The host ends.")?;
    }
    let store = session.store()?;
    let (mut stopped, mut failed) = (0, false);
    for found in runs(session) {
        if !found.is_alive() {
            found.forget();
            continue;
        }
        let Work::Tickets { files, .. } = &found.process.work else { continue };
        let last = files.iter().filter_map(|file| store.latest_for(file).transpose());
        let last = last.map(|run| store.as_seen(run?)).collect::<Result<Vec<_>, _>>()?;
        for run in last.into_iter().filter(|run| run.owner() != Owner::Nobody) {
            let command = if now { UserCommand::Stop } else { UserCommand::FinishAndStop };
            match say(&store, &run, command, Answerer::COMMAND_LINE).await {
                Ok(()) => writeln!(out, "{} stops {}.", run.ticket, if now { "now" } else { "after this iteration" })?,
                Err(why) => {
                    failed = true;
                    writeln!(out, "{}: {}", run.ticket, why.words())?;
                }
            }
            stopped += 1;
        }
    }
    if stopped == 0 {
        writeln!(out, "No run is in the background.")?;
    } else {
        writeln!(out, "Resume with `programmator resume --detach TICKET`.")?;
    }
    if host.is_none() && stopped == 0 {
        writeln!(out, "No host is running.")?;
    }
    if failed { Err(CliError::failure("not every run was stopped: see above")) } else { Ok(()) }
}
