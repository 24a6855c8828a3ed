//! `programmator status --watch-file FILE`: a file that says how all runs stand, for as long as the program runs.

use super::hank::{StatusFile, next_reset};
use super::seen;
use crate::adapters::clock::zone;
use crate::adapters::store::{RunsFollower, Store};
use crate::base::json;
use crate::base::time::Timestamp;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::cli::whole_file;
use crate::domain::limits::{Limits, hour};
use crate::runtime::shutdown::Signals;
use jiff::tz::TimeZone;
use std::path::Path;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How often the file is written at most.
const PACE: Duration = Duration::from_millis(500);
/// How long after the last change runs at work are looked at again: a program that is killed says nothing.
const ALIVE: Duration = Duration::from_secs(5);

/// How long after a failure it is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Writes how all runs stand, for the person alone, and again whenever that changes, until the program is told to end. Only the
/// first time is a failure its end.
pub async fn watch(session: &Session, file: &Path) -> Result<(), CliError> {
    let file = session.folder.join(file);
    let store = session.store()?;
    let (limits, clock, zone) = (session.resolve(&session.folder)?.config.settings.limits, session.clock(), zone());
    let (mut signals, mut runs) = (Signals::listen()?, store.follow_runs()?);
    let mut written = None;
    loop {
        let told = match tell(&store, &file, &limits, (clock.now(), &zone), written.as_ref()) {
            Ok(text) => {
                written = Some(text);
                true
            }
            Err(error) if written.is_none() => return Err(error),
            Err(error) => {
                tracing::warn!(error = %error.message, "the status file is not up to date");
                false
            }
        };
        let changes = async {
            if told {
                return changed(&mut runs, next_reset(&limits, clock.now(), &zone).since(clock.now())).await;
            }
            sleep(AGAIN).await;
            Ok(())
        };
        tokio::select! {
            _ = signals.next() => return Ok(()),
            stands = changes => if let Err(error) = stands {
                tracing::warn!(error = %error.message, "the state of the runs cannot be read");
                sleep(AGAIN).await;
            },
        }
    }
}

/// Writes the file where it would be another than was written last. Gives what it says.
fn tell(
    store: &Store,
    file: &Path,
    limits: &Limits,
    (now, zone): (Timestamp, &TimeZone),
    written: Option<&String>,
) -> Result<String, CliError> {
    let calls = store.calls_since(hour::start(now, limits.window, zone))?;
    let text = json::pretty(&StatusFile::new(seen(store)?, calls, limits, now, zone))? + "\n";
    if written != Some(&text) {
        whole_file::write(file, &text, 0o600)?;
    }
    Ok(text)
}

/// Waits until a run may stand otherwise, or the hour of the calls is over.
async fn changed(runs: &mut RunsFollower, hour: Duration) -> Result<(), CliError> {
    sleep(PACE).await;
    let patience = if runs.at_work().next().is_some() { ALIVE } else { hour };
    match timeout(patience, runs.next()).await {
        Ok(changed) => changed.map(drop)?,
        Err(_) => drop(runs.died()?),
    }
    Ok(())
}
