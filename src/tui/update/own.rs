//! How the Claude sessions stand that the person has started themselves.

use crate::domain::own_seen::OwnSeen;
use crate::domain::ticket::TicketKey;
use crate::tui::ui::Ui;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Takes all that there are now.
pub(super) fn seen(ui: &mut Ui, own: Arc<BTreeMap<TicketKey, OwnSeen>>) {
    for tab in ui.tabs.iter_mut().filter(|tab| tab.is_own_session()) {
        tab.see_own(own.get(&tab.id));
    }
    ui.own = own;
}
