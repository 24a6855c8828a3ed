//! The form of a new ticket while it is open, and what follows when the ticket is written.

use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::draft::Draft;
use crate::tui::modals::Modal;
use crate::tui::modals::draft::{Form, Then};
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;
use crate::tui::update::{planning, spending};

/// A new ticket is written: its form goes, and what the person wanted with it follows.
pub(super) fn follow(ui: &mut Ui, ticket: TicketKey) -> Vec<Ask> {
    let then = form(ui).and_then(|form| form.sent);
    let made = form(ui).map(|form| form.draft());
    ui.modals.retain(|modal| !matches!(modal, Modal::Draft(_)));
    ui.unsent.keep_ticket(&ui.model.folder, Draft::default());
    (ui.home.cursor, ui.home.is_chosen) = (Some(ticket.clone()), true);
    let words = format!("created {ticket} in {}", ui.short_path(ticket.folder()));
    ui.tell(words);
    match then {
        Some(Then::Start) => spending::ask_to_start(ui, vec![Ask::Request(Request::Start(ticket))]),
        Some(Then::Plan) => {
            planning::ask_to_plan(ui, &ticket, made);
            Vec::new()
        }
        Some(Then::Edit) => vec![Ask::Edit(ticket)],
        Some(Then::Nothing) | None => Vec::new(),
    }
}

pub(super) fn form(ui: &mut Ui) -> Option<&mut Form> {
    ui.modals.iter_mut().find_map(|modal| match modal {
        Modal::Draft(form) => Some(&mut **form),
        _ => None,
    })
}
