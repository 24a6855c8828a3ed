//! The figures of all runs: shown, and told.

use crate::domain::request::Request;
use crate::domain::stats::Line;
use crate::tui::modals::Modal;
use crate::tui::modals::stats::Figures;
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;

/// Asks for them, and shows that.
pub(super) fn show(ui: &mut Ui) -> Vec<Ask> {
    ui.modals.push(Modal::Stats(Figures::default()));
    vec![Ask::Request(Request::Stats)]
}

/// They are known, or why not. Closed, nobody waits for them.
pub(super) fn told(ui: &mut Ui, lines: Result<Vec<Line>, String>) {
    let shown =
        ui.modals.iter_mut().find_map(|modal| if let Modal::Stats(figures) = modal { Some(figures) } else { None });
    if let Some(figures) = shown {
        figures.told(lines);
    }
}
