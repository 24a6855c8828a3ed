//! Leaving while something runs: finish the iteration, stop now, or stay.

use crate::tui::command::{Command, Scope, row_of};
use crate::tui::model::Model;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub fn view(model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
    let area = centred(room, 64, 9);
    let frame = Frame::dialog("Quit", "", model.glyphs);
    let inside = frame.draw(theme, area, buf);
    let active: Vec<&Tab> = model.tabs.iter().filter(|tab| tab.is_active()).collect();
    let what = match active.as_slice() {
        [one] => format!("{} is running.", one.id),
        many => format!("{} tickets are running.", many.len()),
    };
    let asks = active.iter().any(|tab| tab.unstored.open_questions(&tab.state).next().is_some());
    let finish = if asks { "needs your answer first" } else { "nothing is lost" };
    let rows = [
        Row::new().left(Role::Text, what),
        Row::new(),
        option(model, Command::QuitFinish, finish),
        option(model, Command::QuitNow, "the iteration is interrupted"),
        option(model, Command::Close, ""),
        Row::new(),
        Row::new().left(Role::Dim, "Either way, the same command resumes where it stopped."),
    ];
    for (place, row) in inside.rows().zip(rows) {
        row.draw(theme, place, buf);
    }
}

fn option(model: &Model, command: Command, price: &str) -> Row {
    let row = row_of(Scope::Quit, command);
    let (key, words) = row.map_or((String::new(), ""), |row| (model.keys.first(row), row.doc));
    Row::new().left(Role::Key, format!("{key:<5}")).left(Role::Text, words).right(Role::Dim, price)
}
