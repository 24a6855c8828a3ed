//! Taking the wheel: the person works in the ticket's own session of Claude, between two iterations or once the run has
//! ended.

use crate::domain::command::UserCommand;
use crate::domain::request::Request;
use crate::orchestrator::state::Stage;
use crate::tui::modals::Modal;
use crate::tui::modals::confirm::Confirm;
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;

/// Of a run that is at work it is asked whether to pause it first.
pub(super) fn take(ui: &mut Ui) -> Vec<Ask> {
    let Some(tab) = ui.tab() else { return Vec::new() };
    let (Some(run), id) = (tab.run, tab.id.clone()) else { return Vec::new() };
    if tab.state.stage == Stage::Paused || tab.is_over() {
        return vec![Ask::TakeWheel(run)];
    }
    let words = format!(
        "Claude is working on {id}. Pause after this iteration? Once paused, O opens its session. (Cancel and press P to interrupt Claude now.)"
    );
    let asks = vec![Ask::Request(Request::Command(id, UserCommand::Pause))];
    ui.modals.push(Modal::Confirm(Confirm { title: "Take the wheel", words, asks }));
    Vec::new()
}
