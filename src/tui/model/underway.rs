//! What is under way: what leaving the screen would cut off, and what a clock runs for.

use crate::domain::chat;
use crate::domain::ticket::TicketKey;
use crate::orchestrator::state::Stage;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::Tab;

impl Model {
    /// Something runs that quitting would cut off.
    pub fn anything_active(&self) -> bool {
        self.mode == Mode::Live && self.tabs.iter().any(Tab::is_active)
    }

    /// The tickets whose runs are at work here or wait for their working directory, and those that wait to be started: not what
    /// the person has paused, and no chat, which is nothing without its person.
    pub fn unfinished(&self) -> Vec<TicketKey> {
        let goes_on = |tab: &&Tab| tab.has_open_run() && tab.state.stage != Stage::Paused && tab.state.chat.is_none();
        let open = self.tabs.iter().filter(goes_on).map(|tab| &tab.id);
        open.chain(self.queued.keys()).filter(|ticket| !chat::is_id(ticket.id())).cloned().collect()
    }

    /// A clock runs.
    pub fn is_timed(&self) -> bool {
        self.mode == Mode::Live && self.tabs.iter().any(Tab::is_at_work)
    }
}
