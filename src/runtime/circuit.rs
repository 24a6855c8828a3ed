//! A ticket's circuit breaker from outside its run: closing it when no program works on the
//! ticket. While one does, the run itself is asked (`UserCommand::ResetBreaker`).

use crate::adapters::store::Store;
use crate::base::id::TicketId;
use crate::base::time::{Clock, Timestamp};
use crate::domain::answerer::Answerer;
use crate::domain::breaker::Breaker;
use crate::domain::record::{ByPerson, Record};
use crate::domain::settings::BreakerSettings;
use crate::orchestrator::breaker::{Recovery, recover, refusal};
use crate::orchestrator::state::State;
use crate::runtime::behind::{self, Reset};
use crate::runtime::supervisor::OpenError;
use std::path::Path;

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

/// Closes the breaker of the ticket in the file `path` (its real path): a record behind the journal of its
/// latest run, written under the ticket's lock.
pub async fn reset(store: &Store, clock: &dyn Clock, path: &Path, by: Answerer) -> Result<Reset, OpenError> {
    let close = |state: &State| {
        if state.breaker.is_at_rest() { Vec::new() } else { vec![Record::BreakerReset(ByPerson { by })] }
    };
    behind::append(store, clock, path, close).await
}
