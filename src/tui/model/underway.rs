//! What is under way: what leaving the screen would cut off, and what a clock runs for.

use crate::domain::ticket::TicketKey;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::Tab;

impl Model {
    /// Something runs that quitting would cut off.
    pub fn anything_active(&self) -> bool {
        self.mode == Mode::Live && self.tabs.iter().any(Tab::is_active)
    }

    /// The tickets whose runs quitting would cut off, and those that wait to be started.
    pub fn unfinished(&self) -> Vec<TicketKey> {
        let active = self.tabs.iter().filter(|tab| tab.is_active()).map(|tab| &tab.id);
        active.chain(self.queued.keys()).cloned().collect()
    }

    /// A clock runs.
    pub fn is_timed(&self) -> bool {
        self.mode == Mode::Live && self.tabs.iter().any(Tab::is_at_work)
    }
}
