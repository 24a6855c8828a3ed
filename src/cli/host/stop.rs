//! `programmator host stop`: ends all background runs, and the host.

use super::seen::{background, has_left, named, store};
use crate::adapters::agent::orphans;
use crate::adapters::background::Found;
use crate::adapters::sole_process::{self, HOST, Off};
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::answerer::Answerer;
use crate::domain::background_work::Background;
use crate::domain::request::Closing;
use crate::runtime::heard::close;
use rustix::process::Signal;
use std::io::Write;
use std::time::Duration;

/// How long the host may take to end.
const PATIENCE: Duration = Duration::from_secs(90);

/// Ends the host, so that nothing is resumed, and has each background process stop: after the iterations that are running, or
/// `now`. Does not wait for its end.
pub async fn stop(out: &mut dyn Write, session: &Session, now: bool) -> Result<(), CliError> {
    let had_host = end(session)?;
    if had_host {
        writeln!(out, "The host has ended.")?;
    }
    let (how, when) = if now {
        (Closing::Now, "Stopping now")
    } else {
        (Closing::AfterIteration, "Stopping after the current iteration")
    };
    let (store, found) = (store(session), background(session));
    let (mut is_stopping, mut is_whole) = (false, true);
    for found in &found {
        let name = named(store.as_ref(), found);
        if found.is_ours() {
            if has_left(store.as_ref(), &found.process) {
                writeln!(out, "{name} was already interrupted, and will not be resumed.")?;
            }
            found.forget();
            continue;
        }
        let why = match close(&session.state, found.process.pid, how, Answerer::COMMAND_LINE).await {
            Ok(()) => {
                is_stopping = true;
                writeln!(out, "{when}: {name}.")?;
                continue;
            }
            Err(why) => why.words(),
        };
        is_whole = false;
        let sent = if now && interrupt(found) { " It was sent an interrupt instead." } else { "" };
        writeln!(out, "{name}: {why}.{sent}")?;
    }
    if is_stopping && !now {
        writeln!(
            out,
            "A run that is waiting for you stops after you have answered (`programmator queue`); --now stops it at once."
        )?;
    }
    match (found.is_empty(), had_host) {
        (false, _) => writeln!(out, "Resume with `programmator run --detach TICKET`.")?,
        (true, true) => writeln!(out, "No run is in the background.")?,
        (true, false) => writeln!(out, "No run is in the background, and no host is running.")?,
    }
    if is_whole { Ok(()) } else { Err(CliError::failure("not everything was stopped: see `programmator host status`")) }
}

/// As Ctrl-C in its terminal, where it does not hear us or has another version. `false`: its number may be another's by now.
fn interrupt(found: &Found) -> bool {
    let Background { pid, identity, .. } = &found.process;
    !identity.is_empty() && orphans::signal(*pid, identity, Signal::INT)
}

/// Ends the host, which finishes first what it is just beginning. Whether there was one.
pub fn end(session: &Session) -> Result<bool, CliError> {
    let ended = sole_process::end(&session.state, HOST, None, PATIENCE);
    Ok(ended.map_err(|error| CliError::failure(error.to_string()))? != Off::None)
}
