//! Records behind the journal of a ticket's latest run: what the person decides about a ticket that no program works
//! on. While one does, its run has to be asked.

use crate::adapters::store::{Append, Holder, Loaded, LockError, Store, StoreError};
use crate::base::id::RunId;
use crate::base::time::Clock;
use crate::domain::record::{Record, Stored};
use crate::orchestrator::apply::{after, folded};
use crate::orchestrator::state::State;
use crate::orchestrator::summary::summary;
use crate::runtime::supervisor::OpenError;
use std::path::Path;
use std::sync::Arc;

/// What became of a reset.
#[derive(Clone, Debug)]
pub enum Reset {
    /// It is done; the records that say so.
    Done(Vec<Arc<Stored>>),
    /// There was nothing to reset.
    AtRest,
    /// No run has worked on the ticket yet.
    NoRun,
}

/// The fold of a run's whole journal.
pub fn state_of(store: &Store, run: RunId) -> Result<State, StoreError> {
    let Loaded { records, skipped } = store.load(run)?;
    let mut state = folded(records);
    // What this program cannot read has its place all the same.
    state.seq = skipped.last().map_or(state.seq, |last| last.seq.max(state.seq));
    Ok(state)
}

/// Appends what `choose` makes of the latest run of the ticket in the file `path` (its real path), under the
/// ticket's lock. An error when a program works on the ticket.
pub async fn append(
    store: &Store,
    clock: &dyn Clock,
    path: &Path,
    choose: impl FnOnce(&State) -> Vec<Record>,
) -> Result<Reset, OpenError> {
    let name = path.display().to_string();
    let Some(latest) = store.latest_for(&name)? else {
        return Ok(Reset::NoRun);
    };
    let now = clock.now();
    let ticket = latest.ticket.clone();
    let holder = Holder { pid: std::process::id(), ticket: ticket.clone(), run: None, since: now };
    let _lock = store.lock_ticket(path, &holder).map_err(|error| match error {
        LockError::Held { holder } => OpenError::Held { ticket: ticket.clone(), holder },
        LockError::Store(error) => OpenError::Store(error),
    })?;
    // What was the latest run before the lock may not be it any more.
    let run = store.latest_for(&name)?.map_or(latest.run, |latest| latest.run);
    let state = state_of(store, run)?;
    let records = choose(&state);
    if records.is_empty() {
        return Ok(Reset::AtRest);
    }
    let Some(summary) = summary(&after(&state, &records, now)) else {
        return Ok(Reset::NoRun);
    };
    let append = Append { run, ticket, time: now, records, summary };
    Ok(Reset::Done(store.append(append).await?))
}
