//! A framed list of lines that is longer than the screen: how far it is scrolled, and how it is drawn.
//!
//! Owns the offset and its ends. What the lines say is the dialog's.

use crate::tui::marks::Glyphs;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, Weight, centred};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// How far the list is scrolled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scrolled {
    /// Lines above the first that is seen.
    offset: usize,
}

impl Scrolled {
    /// Lines of the list that are seen at once.
    pub fn page(room: Rect) -> usize {
        room.height.saturating_sub(2).into()
    }

    /// Scrolls a list of `rows` lines, not beyond its ends.
    pub fn scroll(&mut self, by: i32, rows: usize, room: Rect) {
        let most = rows.saturating_sub(Self::page(room));
        self.offset = self.offset.saturating_add_signed(by as isize).min(most);
    }

    /// Draws the list in a frame with this title, as wide as the room.
    pub fn view(self, title: &str, rows: &[Row], glyphs: Glyphs, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let height = rows.len().min(Self::page(room));
        let area = centred(room, room.width, height as u16 + 2);
        let status = match (rows.len().saturating_sub(self.offset + height), self.offset) {
            (0, 0) => "Esc closes".to_owned(),
            (0, above) => format!("{above} more {} · Esc closes", glyphs.pick("↑", "^")),
            (below, _) => format!("{below} more {} · Space pages", glyphs.pick("↓", "v")),
        };
        let frame = Frame { title, status: &status, status_role: Role::Dim, weight: Weight::Heavy, glyphs };
        let inside = frame.draw(theme, area, buf);
        for (place, row) in inside.rows().zip(rows.iter().skip(self.offset)) {
            row.draw(theme, place, buf);
        }
    }
}

/// Where a list that may be longer than its place is scrolled to, so that `cursor` is seen.
pub fn scrolled_to(cursor: usize, offset: usize, height: usize) -> usize {
    if cursor < offset {
        cursor
    } else if height > 0 && cursor >= offset + height {
        cursor + 1 - height
    } else {
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_at_both_ends() {
        let room = Rect::new(0, 0, 40, 12);
        let mut list = Scrolled::default();
        for (by, offset) in [(5, 5), (i32::MAX, 20), (-3, 17), (i32::MIN, 0), (-1, 0)] {
            list.scroll(by, 30, room);
            assert_eq!(list.offset, offset, "by {by}");
        }
        list.scroll(1, 4, room);
        assert_eq!(list.offset, 0, "all is seen");
    }
}
