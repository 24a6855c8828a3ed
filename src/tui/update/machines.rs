//! Other machines on the screen: what is asked of them, and what is told.

use crate::domain::machine::Machine;
use crate::domain::request::Request;
use crate::tui::modals::Modal;
use crate::tui::modals::machines::Machines;
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;

/// Opens the dialog, and asks what is at work there.
pub(super) fn open(ui: &mut Ui) -> Vec<Ask> {
    ui.modals.push(Modal::Machines(Machines::default()));
    vec![Ask::Request(Request::Machines)]
}

/// Tells the dialog. Closed, nobody waits for it.
pub(super) fn told(ui: &mut Ui, told: Result<Vec<Machine>, String>) {
    let dialog = ui.modals.iter_mut().find_map(|modal| match modal {
        Modal::Machines(dialog) => Some(dialog),
        _ => None,
    });
    if let Some(dialog) = dialog {
        dialog.told(told);
    }
}
