//! What is selected in the tree of tickets, and what is folded there. Keys of the whole screen act on it.

use crate::domain::phase::PhaseId;
use crate::domain::ticket::TicketKey;
use std::collections::HashSet;

/// What the cursor can stand on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A ticket, open or listed.
    Ticket(TicketKey),
    Phase(TicketKey, PhaseId),
}

/// The tree's cursor and folds.
#[derive(Default)]
pub struct Selection {
    /// `None`: the running phase of the ticket in front.
    pub cursor: Option<Thing>,
    /// Tickets that are folded against the rule (the one in front is open, the others are not).
    pub turned: HashSet<TicketKey>,
}
