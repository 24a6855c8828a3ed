//! A ticket's circuit breaker from outside its run: reading it, and closing it when no program works on the
//! ticket. While one does, the run itself is asked (`UserCommand::ResetBreaker`).

use crate::adapters::store::{Append, Holder, LockError, Store, StoreError};
use crate::base::id::{RunId, TicketId};
use crate::base::time::{Clock, Timestamp};
use crate::domain::breaker::Breaker;
use crate::domain::record::{FORMAT, Record, Stored};
use crate::domain::settings::BreakerSettings;
use crate::orchestrator::apply::apply;
use crate::orchestrator::breaker::{Recovery, recover, refusal};
use crate::orchestrator::state::State;
use crate::orchestrator::summary::summary;
use crate::runtime::supervisor::OpenError;
use std::path::Path;
use std::sync::Arc;

/// The fold of a run's whole journal.
pub fn state_of(store: &Store, run: RunId) -> Result<State, StoreError> {
    let mut state = State::default();
    for stored in &store.load(run)?.records {
        apply(&mut state, stored);
    }
    Ok(state)
}

/// Refuses a start while the breaker is open and has not cooled down.
pub(super) fn admit(
    ticket: &TicketId,
    breaker: &Breaker,
    limits: &BreakerSettings,
    now: Timestamp,
) -> Result<(), OpenError> {
    let Recovery::Refused { .. } = recover(breaker, limits, now) else {
        return Ok(());
    };
    let why = refusal(breaker, limits, now, ticket.as_str()).unwrap_or_default();
    Err(OpenError::CircuitOpen { ticket: ticket.clone(), why })
}

/// What became of a reset.
#[derive(Clone, Debug)]
pub enum Reset {
    /// The breaker is closed now; the record that says so.
    Done(Arc<Stored>),
    /// It was closed, and nothing was counted.
    AtRest,
    /// No run has worked on the ticket yet.
    NoRun,
}

/// Closes the breaker of the ticket in the file `path` (its real path): a record behind the journal of its
/// latest run, written under the ticket's lock.
pub async fn reset(store: &Store, clock: &dyn Clock, path: &Path) -> Result<Reset, OpenError> {
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
    let mut state = state_of(store, run)?;
    if state.breaker.is_at_rest() {
        return Ok(Reset::AtRest);
    }
    let record = Record::BreakerReset;
    let stored =
        Stored { v: FORMAT, seq: state.seq + 1, time: now, run, ticket: ticket.clone(), record: record.clone() };
    apply(&mut state, &stored);
    let Some(summary) = summary(&state) else {
        return Ok(Reset::NoRun);
    };
    let append = Append { run, ticket, time: now, records: vec![record], summary };
    let stored = store.append(append).await?;
    Ok(stored.into_iter().next().map_or(Reset::AtRest, Reset::Done))
}
