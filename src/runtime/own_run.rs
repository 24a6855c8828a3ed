//! What a Claude session of the person's own is to the store: the run of its questions, and what stands for a ticket's file.

use crate::adapters::store::Store;
use crate::base::id::{RunId, TicketId};
use crate::domain::own_session::{PLACE, run_of};
use crate::domain::ticket::TicketKey;
use std::path::PathBuf;

/// The run of its questions: the one that has begun, or the one that will be.
pub fn run_id(store: &Store, session: &TicketId) -> RunId {
    let last = store.latest_for(&path(store, session).display().to_string()).ok().flatten();
    last.map_or_else(|| run_of(session), |last| last.run)
}

/// The ticket that it is for the program.
pub fn key(store: &Store, session: &TicketId) -> TicketKey {
    TicketKey::new(session.clone(), &path(store, session))
}

/// What stands for the session where others have a ticket's file. There is none.
pub fn path(store: &Store, session: &TicketId) -> PathBuf {
    store.folder().join(PLACE).join(session.as_str())
}
