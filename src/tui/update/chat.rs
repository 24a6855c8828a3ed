//! Talking with Claude without a ticket.

use crate::domain::chat::ChatWanted;
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::tui::modals::Modal;
use crate::tui::modals::steer::Steer;
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;

/// Opens a chat in a tab of its own.
pub(super) fn begin(ui: &mut Ui) -> Vec<Ask> {
    ui.opening = Some(ChatWanted::NAME.to_owned());
    vec![Ask::Request(Request::Chat(ChatWanted::default()))]
}

/// A chat that was asked for is open, and in front: the person can write at once.
pub(super) fn opened(ui: &mut Ui, asked: &str) {
    let is_chat = asked == ChatWanted::NAME;
    let Some(tab) = ui.tab().filter(|tab| is_chat && tab.has_open_run()) else { return };
    let steer = Steer::new(tab, ui.unsent.message(&tab.id));
    if ui.modals.is_empty() {
        ui.modals.push(Modal::Steer(steer));
    }
}

/// A message is given up: its text is what the next one begins with, unless another one has been begun.
pub(super) fn not_sent(ui: &mut Ui, ticket: &TicketKey, id: &str) {
    let Some(tab) = ui.tabs.iter().find(|tab| tab.id == *ticket) else { return };
    let text = tab.state.notes.all().iter().find(|note| note.id == id).map(|note| note.text.clone());
    if let Some(text) = text {
        ui.unsent.return_message(ticket, &text);
    }
    ui.tell("not sent, it failed twice; i has the text");
}
