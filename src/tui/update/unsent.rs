//! Keeping what is typed in a dialog that closes with the screen.

use crate::tui::modals::Modal;
use crate::tui::modals::commit::Commit;
use crate::tui::ui::Ui;

/// Keeps what is typed in every dialog that is open: the screen ends without an answer to them.
pub fn keep_open(ui: &mut Ui) {
    let modals = std::mem::take(&mut ui.modals);
    for modal in &modals {
        match modal {
            Modal::Steer(steer) => ui.unsent.keep_message(&steer.ticket, steer.draft()),
            Modal::Commit(commit) => _ = keep_commit(ui, commit),
            Modal::Draft(form) => ui.unsent.keep_ticket(&ui.model.folder, form.draft()),
            _ => {}
        }
    }
    ui.modals = modals;
}

/// Keeps the message of a commit that is not made; `false`: nothing was typed.
pub(super) fn keep_commit(ui: &mut Ui, commit: &Commit) -> bool {
    let Some(text) = ui.tabs.iter().find(|tab| tab.id == commit.ticket).map(|tab| commit.draft(tab)) else {
        return false;
    };
    let is_typed = !text.is_empty();
    ui.unsent.keep_commit(&commit.ticket, text);
    is_typed
}
