//! Every key, by group, from the one table.

use crate::tui::command::{Flag, Row as Command, keys_text, table};
use crate::tui::marks::Glyphs;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::centred;
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Columns of the list with its frame.
const WIDTH: u16 = 84;
/// Columns for the keys.
const KEYS: usize = 12;

/// The list of keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Help(Scrolled);

impl Help {
    /// Scrolls by lines, not beyond the end.
    pub fn scroll(&mut self, by: i32, room: Rect) {
        self.0.scroll(by, rows(room).len(), Scrolled::page(room));
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let place = centred(room, WIDTH, room.height);
        self.0.view("Keys", &rows(room), model.glyphs, theme, place, buf);
    }
}

/// The list where the dialogs have this room.
fn rows(room: Rect) -> Vec<Row> {
    let columns = usize::from(room.width.min(WIDTH)).saturating_sub(KEYS + 6);
    let mut groups: Vec<(&str, Vec<&Command>)> = Vec::new();
    for row in table().filter(|row| row.flag != Flag::Hidden) {
        match groups.iter_mut().find(|(group, _)| *group == row.group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((row.group, vec![row])),
        }
    }
    let mut out = Vec::new();
    for (group, rows) in groups {
        if !out.is_empty() {
            out.push(Row::new());
        }
        out.push(Row::new().left(Role::Title, group));
        for row in rows {
            let keys = keys_text(row);
            let gap = " ".repeat(KEYS.saturating_sub(keys.width()).max(1));
            let first = Row::new().left(Role::Key, format!("  {keys}{gap}"));
            let indent = std::iter::repeat_with(|| Row::new().left(Role::Key, " ".repeat(KEYS + 2)));
            let lines = wrap(row.doc, columns.saturating_sub(keys.width().saturating_sub(KEYS - 1)));
            out.extend([first].into_iter().chain(indent).zip(lines).map(|(start, line)| start.left(Role::Text, line)));
        }
    }
    out.push(Row::new());
    out.push(Row::new().left(Role::Title, "marks"));
    out.extend(marks());
    out
}

fn marks() -> impl Iterator<Item = Row> {
    use crate::domain::outcome::DoneHow::{ClaimedUnchecked, Verified};
    use crate::domain::phase::Mark;
    let marks = [
        (Mark::Pending, "not started"),
        (Mark::Running, "Claude is working on it"),
        (Mark::Claimed, "Claude says it is done; being checked"),
        (Mark::Done(Verified), "done; the validation commands passed"),
        (Mark::Done(ClaimedUnchecked), "done; no command checked it"),
        (Mark::Disputed, "claimed, but the check failed"),
        (Mark::Skipped, "skipped by you"),
        (Mark::Blocked, "Claude reported BLOCKED"),
    ];
    marks.into_iter().map(|(mark, doc)| {
        let sign = Glyphs::Unicode.phase(mark);
        let ascii = Glyphs::Ascii.phase(mark).glyph;
        Row::new()
            .left(sign.role, format!("  {} {ascii} ", sign.glyph))
            .left(sign.role, format!("{:<12}", sign.word))
            .left(Role::Text, doc)
    })
}
