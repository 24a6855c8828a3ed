//! What the commit dialog hears, and leaving while git commits.

use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::commit::Committed;
use crate::domain::request::{Closing, Request};
use crate::tui::command::{Command, Scope};
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
    ui.committing.remove(&run);
    match made {
        Ok(made) => {
            ui.modals.retain(|modal| !matches!(modal, Modal::Commit(commit) if commit.run == run));
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.run == Some(run)) {
                tab.commit_draft.clear();
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

/// What was sent to be committed.
pub(super) fn sent(ui: &mut Ui, asks: &[Ask]) {
    for ask in asks {
        if let Ask::Request(Request::Commit(run, _)) = ask {
            let ticket = ui.tabs.iter().find(|tab| tab.run == Some(*run)).map(|tab| tab.id.clone());
            ui.committing.extend(ticket.map(|ticket| (*run, ticket)));
        }
    }
}

/// The person leaves, and no run is at work: while git commits they are told, and a second time git is left alone.
pub(super) fn quit(ui: &mut Ui) -> Vec<Ask> {
    let Some(ticket) = ui.committing.values().next() else { return vec![Ask::Leave] };
    if ui.quitting.is_some() {
        return vec![Ask::Request(Request::LeaveCommits), Ask::Leave];
    }
    let key = ui.keys.key_of(Scope::Global, Command::Quit);
    let words = format!("git is committing {ticket} (hooks, signing); {key} again leaves it to git");
    ui.tell(words);
    ui.quitting = Some(Closing::Now);
    Vec::new()
}
