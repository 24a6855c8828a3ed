//! What the commit dialog hears.

use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::commit::Committed;
use crate::tui::modals::Modal;
use crate::tui::modals::commit::{self, Commit};
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;

/// The commit dialog of this run, where it is open.
pub(super) fn dialog(ui: &mut Ui, run: RunId) -> Option<&mut Commit> {
    ui.modals.iter_mut().find_map(|modal| match modal {
        Modal::Commit(commit) if commit.run == run => Some(&mut **commit),
        _ => None,
    })
}

/// A commit was made, or why not. The signing may have written to the terminal.
pub(super) fn made(ui: &mut Ui, run: RunId, made: Result<Committed, String>) -> Vec<Ask> {
    let mut asks = vec![Ask::Redraw];
    match made {
        Ok(made) => {
            ui.modals.retain(|modal| !matches!(modal, Modal::Commit(commit) if commit.run == run));
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.run == Some(run)) {
                tab.commit_draft.clear();
                tab.committed = Some(commit::short(&made.id).to_owned());
            }
            ui.tell(clean_line(&commit::made(&made), 600));
        }
        Err(why) => match dialog(ui, run) {
            Some(dialog) => asks.push(dialog.refused(why)),
            None => ui.tell(clean_line(&format!("not committed: {why}"), 600)),
        },
    }
    asks
}
