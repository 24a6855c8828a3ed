//! Nothing is spent by accident: what a start may cost is said before it.

use crate::domain::request::Request;
use crate::tui::modals::Modal;
use crate::tui::modals::confirm::Confirm;
use crate::tui::msg::Ask;
use crate::tui::panes::home;
use crate::tui::ui::Ui;

/// A start of the ticket that is selected at Home is asked about; anything else is done.
pub(super) fn ask_to_start(ui: &mut Ui, mut asks: Vec<Ask>) -> Vec<Ask> {
    let (true, Some(words)) = (matches!(&asks[..], [Ask::Request(Request::Start(_))]), home::start_words(ui)) else {
        return asks;
    };
    ui.toast = None;
    let confirm = asks.pop().map(|ask| Confirm { title: "Start a run", words, ask });
    ui.modals.extend(confirm.map(Modal::Confirm));
    Vec::new()
}
