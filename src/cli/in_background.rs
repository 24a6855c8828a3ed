//! What a process in the background leaves in the state folder for as long as it lives, so that the host can go on with its work.

use super::detach;
use super::session::Session;
use crate::adapters::agent::orphans;
use crate::adapters::background::Entry;
use crate::base::time::Timestamp;
use crate::domain::background_work::{Background, Work};
use std::path::PathBuf;

/// It works through these tickets. `None`: it is not in the background, or they cannot be written down.
pub fn on_tickets(session: &Session, files: &[PathBuf]) -> Option<Entry> {
    let resumed = detach::resumed(session)?;
    let text = |path: &PathBuf| path.to_str().map(str::to_owned);
    let files: Vec<String> = files.iter().map(text).collect::<Option<_>>()?;
    let options = detach::options(session).into_iter().map(|word| word.into_string().ok()).collect::<Option<_>>()?;
    if files.is_empty() { None } else { enter(session, Work::Tickets { options, files }, resumed) }
}

/// It asks on the phone. `resumed`: when that was begun again before.
pub fn on_phone(session: &Session, resumed: Vec<Timestamp>) -> Option<Entry> {
    enter(session, Work::Relay, resumed)
}

fn enter(session: &Session, work: Work, resumed: Vec<Timestamp>) -> Option<Entry> {
    let process = Background {
        pid: std::process::id(),
        identity: orphans::identity(std::process::id()).unwrap_or_default(),
        work,
        folder: session.folder.to_str()?.to_owned(),
        path: session.environment.get("PATH").cloned(),
        since: session.clock().now(),
        resumed,
    };
    let entered = Entry::enter(&session.state, &process);
    entered.inspect_err(|error| tracing::warn!(%error, "nothing resumes this process when it is interrupted")).ok()
}
