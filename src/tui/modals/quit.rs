//! Leaving while something runs: finish the iteration, stop now, or stay.

use crate::tui::model::Model;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, Weight, centred};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws it.
pub fn view(model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
    let area = centred(room, 64, 9);
    let frame =
        Frame { title: "Quit", status: "", status_role: Role::Dim, weight: Weight::Heavy, glyphs: model.glyphs };
    let inside = frame.draw(theme, area, buf);
    let active: Vec<&Tab> = model.tabs.iter().filter(|tab| tab.is_active()).collect();
    let what = match active.as_slice() {
        [one] => format!("{} is at work.", one.id),
        many => format!("{} tickets are at work.", many.len()),
    };
    let rows = [
        Row::new().left(Role::Text, what),
        Row::new(),
        option("f", "finish the iteration, then quit", "nothing is lost"),
        option("s", "stop now and quit", "the iteration is cut off"),
        option("Esc", "stay", ""),
        Row::new(),
        Row::new().left(Role::Dim, "Either way the same command goes on where it stopped."),
    ];
    for (place, row) in inside.rows().zip(rows) {
        row.draw(theme, place, buf);
    }
}

fn option(key: &str, words: &str, price: &str) -> Row {
    Row::new().left(Role::Key, format!("{key:<5}")).left(Role::Text, words).right(Role::Dim, price)
}
