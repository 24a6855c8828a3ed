//! The journal of one session of a review: what is stored is folded, as for every run.

use crate::adapters::store::{Append, Store};
use crate::base::id::{RunId, TicketId};
use crate::base::time::Clock;
use crate::domain::record::Record;
use crate::orchestrator::apply::after;
use crate::orchestrator::state::State;
use crate::orchestrator::summary::summary;
use std::sync::Arc;

pub(super) struct Journal {
    store: Store,
    clock: Arc<dyn Clock>,
    run: RunId,
    ticket: TicketId,
    pub(super) state: State,
}

impl Journal {
    pub(super) fn new(store: Store, clock: Arc<dyn Clock>, run: RunId, ticket: TicketId) -> Self {
        let state = State::of(run, ticket.clone());
        Self { store, clock, run, ticket, state }
    }

    /// Stores these; an error in words for the person.
    pub(super) async fn record(&mut self, records: Vec<Record>) -> Result<(), String> {
        let time = self.clock.now();
        let next = after(&self.state, &records, time);
        let summary = summary(&next).ok_or("internal error: a run without a ticket")?;
        let append = Append { run: self.run, ticket: self.ticket.clone(), time, records, summary };
        self.store.append(append).await.map_err(|error| error.to_string())?;
        self.state = next;
        Ok(())
    }
}
