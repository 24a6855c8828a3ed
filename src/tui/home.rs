//! What Home remembers: where its cursor is and what is left out. Shared, for the ticket under the cursor is the one that
//! the keys of the whole screen mean while Home is shown.

use crate::base::id::TicketId;
use crate::base::time::Timestamp;
use crate::domain::ticket::draft::Draft;

/// The pane's name.
pub const NAME: &str = "home";

/// Home's own state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The selected ticket; `None`: there is no row.
    pub cursor: Option<TicketId>,
    /// The person chose it; else it is the first row, whichever that is.
    pub is_chosen: bool,
    /// Since when Home is shown.
    pub shown: Timestamp,
    /// Only rows with these words are shown.
    pub filter: String,
    /// Runs of other directories are shown too.
    pub everywhere: bool,
    /// The preview has most of the screen.
    pub peeks: bool,
    /// How many tickets each group of the table has.
    pub counts: [usize; 5],
    /// A new ticket, as far as it was typed.
    pub draft: Draft,
}

impl Home {
    /// Home as it is at the start.
    pub fn new(now: Timestamp) -> Self {
        Self {
            cursor: None,
            is_chosen: false,
            shown: now,
            filter: String::new(),
            everywhere: false,
            peeks: false,
            counts: [0; 5],
            draft: Draft::default(),
        }
    }
}
