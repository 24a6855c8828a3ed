//! A list of lines that may be longer than its place: how far it is scrolled, and how it is drawn.
//!
//! Owns the offset and its ends. What the lines say, and which one is chosen, is the pane's or the dialog's.

use crate::tui::marks::Glyphs;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::{Row, highlight};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// How far the list is scrolled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scrolled {
    /// Lines above the first that is seen.
    offset: usize,
}

impl Scrolled {
    /// Lines of the list that are seen at once.
    pub fn page(room: Rect) -> usize {
        room.height.saturating_sub(2).into()
    }

    /// Scrolls a list of `rows` lines of which `page` are seen, not beyond its ends.
    pub fn scroll(&mut self, by: i32, rows: usize, page: usize) {
        self.offset = self.offset.saturating_add_signed(by as isize).min(rows.saturating_sub(page));
    }

    /// Scrolled no further than that these lines are seen, from the first on.
    #[must_use]
    pub fn showing(self, first: usize, last: usize, page: usize) -> Self {
        Self { offset: self.offset.clamp((last + 1).saturating_sub(page.max(1)).min(first), first) }
    }

    /// Lines above those that are seen.
    pub fn above(self) -> usize {
        self.offset
    }

    /// Lines below those that are seen.
    pub fn below(self, rows: usize, page: usize) -> usize {
        rows.saturating_sub(self.offset + page)
    }

    /// Draws rows from the first that is seen on, the chosen one highlighted.
    pub fn list(
        self,
        rows: impl Iterator<Item = Row>,
        chosen: Option<usize>,
        theme: &Theme,
        area: Rect,
        buf: &mut Buffer,
    ) {
        for (place, (at, row)) in area.rows().zip(rows.enumerate().skip(self.offset)) {
            row.draw(theme, place, buf);
            if chosen == Some(at) {
                highlight(theme.style(Role::Selection), place, buf);
            }
        }
    }

    /// Draws the list in a frame with this title, as wide as the room.
    pub fn view(self, title: &str, rows: &[Row], glyphs: Glyphs, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let height = rows.len().min(Self::page(room));
        let area = centred(room, room.width, height as u16 + 2);
        let status = match (self.below(rows.len(), height), self.offset) {
            (0, 0) => "Esc closes".to_owned(),
            (0, above) => format!("{above} more {} · Esc closes", glyphs.pick("↑", "^")),
            (below, _) => format!("{below} more {} · Space pages", glyphs.pick("↓", "v")),
        };
        let frame = Frame::dialog(title, &status, glyphs);
        let inside = frame.draw(theme, area, buf);
        for (place, row) in inside.rows().zip(rows.iter().skip(self.offset)) {
            row.draw(theme, place, buf);
        }
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
            list.scroll(by, 30, Scrolled::page(room));
            assert_eq!(list.offset, offset, "by {by}");
        }
        list.scroll(1, 4, Scrolled::page(room));
        assert_eq!(list.offset, 0, "all is seen");
    }
}
