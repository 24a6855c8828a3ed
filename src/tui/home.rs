//! What Home remembers: where its cursor is and what is left out. Shared, for the ticket under the cursor is the one that
//! the keys of the whole screen mean while Home is shown.

use crate::base::id::TicketId;

/// The pane's name.
pub const NAME: &str = "home";

/// Home's own state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Home {
    /// The chosen ticket; `None` until there is one.
    pub cursor: Option<TicketId>,
    /// Only rows with these words are shown.
    pub filter: String,
    /// Runs of other directories are shown too.
    pub everywhere: bool,
}
