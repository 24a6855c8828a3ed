//! What works in the background, as the host and people see it.

use crate::adapters::background::{self, Found};
use crate::adapters::store::{Store, StoreError};
use crate::cli::session::Session;
use crate::domain::background_work::{Background, Work, names};
use crate::domain::summary::RunSummary;

/// All that work through tickets, or did.
pub fn background(session: &Session) -> Vec<Found> {
    let mut found = background::all(&session.state);
    found.retain(|one| one.process.work != Work::Relay);
    found
}

/// Something of it is still to be done, as far as that can be told.
pub fn has_left(store: Option<&Store>, process: &Background) -> bool {
    let (Work::Tickets { files, .. }, Some(store)) = (&process.work, store) else { return true };
    last_runs(store, files).map_or(true, |runs| !process.left(&runs, |_| None::<()>).is_empty())
}

/// Where runs are, for [`named`]: what can be told and done without it is.
pub fn store(session: &Session) -> Option<Store> {
    Store::is_there(&session.state).then(|| session.store_to_read().ok()).flatten()
}

/// The last run of each of these tickets, as its lock tells how it stands.
pub fn last_runs(store: &Store, files: &[String]) -> Result<Vec<RunSummary>, StoreError> {
    let last = files.iter().filter_map(|file| store.latest_for(file).transpose());
    last.map(|run| store.as_seen(run?)).collect()
}

/// A process by those of its tickets that it is not done with, or that it has left; by all where that cannot be told, or there are
/// none.
pub fn named(store: Option<&Store>, found: &Found) -> String {
    let process = &found.process;
    let (Work::Tickets { files, .. }, Some(store)) = (&process.work, store) else { return process.named() };
    let runs = last_runs(store, files).unwrap_or_default();
    let left = || process.left(&runs, |_| None::<()>).into_iter().map(|(file, _)| file).collect();
    let tickets: Vec<&str> = if found.is_alive() { process.unfinished(&runs) } else { left() };
    if tickets.is_empty() { process.named() } else { names(&tickets) }
}
