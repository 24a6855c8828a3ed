//! The border of panes and dialogs: light and round, heavy for the one with the focus.

use crate::tui::marks::Glyphs;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::symbols::border;
use ratatui::widgets::{Block, Clear, Widget};
use unicode_width::UnicodeWidthStr;

/// Whether keys go here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Light,
    /// Heavy: the focus.
    Heavy,
}

const ASCII_LIGHT: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

const ASCII_HEAVY: border::Set<'static> = border::Set {
    top_left: "#",
    top_right: "#",
    bottom_left: "#",
    bottom_right: "#",
    vertical_left: "#",
    vertical_right: "#",
    horizontal_top: "=",
    horizontal_bottom: "=",
};

/// Columns of the title that a status leaves it.
const LEAST_TITLE: usize = 8;

/// A border with a title at the left and words at the right of its top.
pub struct Frame<'a> {
    pub title: &'a str,
    /// At the right; may be empty.
    pub status: &'a str,
    /// The status wants to be read.
    pub status_role: Role,
    /// Light or heavy.
    pub weight: Weight,
    pub glyphs: Glyphs,
}

impl<'a> Frame<'a> {
    /// That of a dialog, which has the focus.
    pub fn dialog(title: &'a str, status: &'a str, glyphs: Glyphs) -> Self {
        Self { title, status, status_role: Role::Dim, weight: Weight::Heavy, glyphs }
    }

    /// Draws it over an emptied `area` and returns the inside: a border and a column of air at each side.
    pub fn draw(&self, theme: &Theme, area: Rect, buf: &mut Buffer) -> Rect {
        let area = area.intersection(buf.area);
        let (set, role) = match (self.weight, self.glyphs) {
            (Weight::Light, Glyphs::Unicode) => (border::ROUNDED, Role::Border),
            (Weight::Heavy, Glyphs::Unicode) => (border::THICK, Role::BorderFocus),
            (Weight::Light, Glyphs::Ascii) => (ASCII_LIGHT, Role::Border),
            (Weight::Heavy, Glyphs::Ascii) => (ASCII_HEAVY, Role::BorderFocus),
        };
        uncover(area, buf);
        Clear.render(area, buf);
        Block::bordered()
            .border_set(set)
            .border_style(theme.style(role))
            .style(theme.style(Role::Text))
            .render(area, buf);
        let top = Rect {
            x: area.x.saturating_add(2),
            width: area.width.saturating_sub(4),
            height: area.height.min(1),
            ..area
        };
        let mut row = Row::new().left(Role::Title, format!(" {} ", self.title));
        // A long title is cut before the status goes.
        let least = self.title.width().min(LEAST_TITLE);
        if !self.status.is_empty() && least + self.status.width() + 8 < top.width.into() {
            row = row.right(self.status_role, format!(" {} ", self.status));
        }
        row.draw(theme, top, buf);
        inside(area)
    }
}

/// A wide character that begins one column before `area` would reach into it: a blank is left of it.
fn uncover(area: Rect, buf: &mut Buffer) {
    let Some(before) = area.x.checked_sub(1).filter(|x| *x >= buf.area.x) else { return };
    for y in area.y..area.bottom() {
        let cell = &mut buf[(before, y)];
        if cell.symbol().width() > 1 {
            cell.set_symbol(" ");
        }
    }
}

/// What a border leaves: a line at the top and bottom, and a column of air at each side, are gone.
pub fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(2),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2),
    }
}

/// The last line of a dialog's inside, for its keys.
pub fn foot(inside: Rect) -> Rect {
    Rect { y: inside.bottom().saturating_sub(1), height: inside.height.min(1), ..inside }
}

/// A box of `width` × `height` in the middle of `area`, or as much of it as fits.
pub fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

/// A box of this height at the bottom of `area`, as wide as it.
pub fn lowest(area: Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    Rect { y: area.bottom() - height, height, ..area }
}

/// The place that a dialog at the bottom may take: what stands above it stays readable.
pub fn sheet(screen: Rect) -> Rect {
    // Where there is little room, what is decided takes all of it but the tabs and the gauges.
    let above = if screen.height < 20 { 2 } else { screen.height / 3 };
    let height = screen.height.saturating_sub(above + 1);
    Rect { y: screen.y + screen.height.min(above), height, ..screen }
}

/// Widest dialog in columns.
pub const WIDEST: u16 = 100;

/// The place that dialogs may take: all but the first and last line, and some air where there is room.
pub fn room(screen: Rect) -> Rect {
    let air = if screen.width < 90 { 0 } else { 2 };
    Rect {
        x: screen.x + air,
        y: screen.y + 1.min(screen.height),
        width: screen.width - 2 * air,
        height: screen.height.saturating_sub(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_gives_way_to_the_status() {
        let title = format!("Stream · tk-1 {}", "a very long title ".repeat(12));
        for width in [40, 60, 80, 120] {
            let mut buf = Buffer::empty(Rect::new(0, 0, width, 3));
            Frame::dialog(&title, "3 new ↓", Glyphs::Unicode).draw(&Theme::plain(), buf.area, &mut buf);
            let top: String = buf.content[..width.into()].iter().map(ratatui::buffer::Cell::symbol).collect();
            assert!(top.contains("Stream") && top.contains("… ") | top.contains("…━"), "{top}");
            assert!(top.ends_with(" 3 new ↓ ━┓"), "{top}");
        }
    }

    #[test]
    fn a_wide_character_does_not_reach_into_the_border() {
        for x in 1..6 {
            let mut buf = Buffer::empty(Rect::new(0, 0, 20, 5));
            for row in buf.area.rows() {
                buf.set_string(row.x, row.y, "日本語の説明です", Theme::plain().style(Role::Text));
            }
            let area = Rect::new(x, 1, 8, 3);
            Frame::dialog("a", "", Glyphs::Unicode).draw(&Theme::plain(), area, &mut buf);
            for y in area.y..area.bottom() {
                assert!(buf[(x - 1, y)].symbol().width() < 2, "{x} {y}: {:?}", buf[(x - 1, y)]);
            }
            assert_eq!(buf[(x, 2)].symbol(), "┃");
        }
    }
}
