//! A field of several lines that a person types into. Everything in it can be shown: what cannot is not taken.

use crate::base::text::Clean;
use crate::tui::marks::Glyphs;
use crate::tui::msg::{Input, Key};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, TextArea, WrapMode};

/// Longest text in bytes where nothing else is said.
const LONGEST: usize = 200_000;
/// Columns from which on there is room for a mark beside the text.
const MARKED: u16 = 10;

/// The field, and the most bytes that it takes.
pub struct Field(Box<TextArea<'static>>, usize);

impl Field {
    /// A field with text in it, the cursor at its end.
    pub fn new(text: &str) -> Self {
        Self::of_at_most(LONGEST, text)
    }

    /// The same with the cursor at the end of the first line.
    pub fn at_first_line(text: &str) -> Self {
        let mut field = Self::new(text);
        field.0.move_cursor(CursorMove::Top);
        field.0.move_cursor(CursorMove::End);
        field
    }

    /// The same that takes fewer bytes.
    pub fn of_at_most(longest: usize, text: &str) -> Self {
        let clean = Clean::new(text);
        let mut area = TextArea::new(clean.as_str().split('\n').map(str::to_owned).collect());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_cursor_line_style(Style::new());
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self(Box::new(area), longest)
    }

    /// Takes a key as typing.
    pub fn typed(&mut self, input: &Input) {
        if input.ctrl && input.key == Key::Char('u') {
            self.0.delete_line_by_head();
            return;
        }
        let seen = !matches!(input.key, Key::Char(c) if Clean::new(c.encode_utf8(&mut [0; 4])).as_str().is_empty());
        if seen && (self.len() < self.1 || !matches!(input.key, Key::Char(_))) {
            self.0.input(input.clone());
        }
    }

    /// Takes pasted text, as far as it can be shown; `false` when there is no room for it, and nothing was taken.
    pub fn pasted(&mut self, text: &str) -> bool {
        let fits = self.fits(text);
        if fits {
            self.0.insert_str(Clean::new(text).as_str());
        }
        fits
    }

    /// There is room for pasted text.
    pub fn fits(&self, text: &str) -> bool {
        self.len() + Clean::new(text).as_str().len() <= self.1
    }

    /// The cursor can go no further up, or down.
    pub fn is_at_end(&self, up: bool) -> bool {
        let row = self.0.cursor().0;
        if up { row == 0 } else { row + 1 >= self.0.lines().len() }
    }

    pub fn new_line(&mut self) {
        self.0.insert_newline();
    }

    pub fn text(&self) -> String {
        self.0.lines().join("\n")
    }

    fn len(&self) -> usize {
        self.0.lines().iter().map(|line| line.len() + 1).sum()
    }

    /// Rows that the text takes at this width, at least 1.
    pub fn rows(&self, columns: u16) -> u16 {
        // Only the widget knows where it breaks lines.
        let mut drawn = self.0.as_ref().clone();
        drawn.move_cursor(CursorMove::Bottom);
        drawn.move_cursor(CursorMove::End);
        let place = Rect::new(0, 0, columns.max(1), 1);
        (&drawn).render(place, &mut Buffer::empty(place));
        u16::try_from(drawn.screen_cursor().row + 1).unwrap_or(u16::MAX)
    }

    /// Draws it below its head: what happens with the text, and more words on that. `hint` stands in it while it is
    /// empty.
    pub fn view(
        &self,
        head: (&str, &str),
        hint: &str,
        (theme, glyphs): (&Theme, Glyphs),
        area: Rect,
        buf: &mut Buffer,
    ) {
        Row::new().left(Role::Key, head.0).left(Role::Dim, format!("  {}", head.1)).draw(theme, area, buf);
        let area = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        self.view_text(hint, true, (theme, glyphs), area, buf);
    }

    /// Draws the text alone; `focused`: keys go here, and the cursor is in sight, else the beginning is.
    pub fn view_text(
        &self,
        hint: &str,
        focused: bool,
        (theme, glyphs): (&Theme, Glyphs),
        area: Rect,
        buf: &mut Buffer,
    ) {
        if area.is_empty() {
            return;
        }
        let all = self.rows(area.width);
        // Where there is more than is seen, the last column says in which direction.
        let edge = Rect { x: area.right().saturating_sub(1), width: 1, ..area };
        let area = Rect { width: area.width - u16::from(all > area.height && area.width > MARKED), ..area };
        // The widget carries its styles; they come from the theme of the moment.
        let mut shown = self.0.as_ref().clone();
        if !focused {
            shown.move_cursor(CursorMove::Top);
            shown.move_cursor(CursorMove::Head);
        }
        shown.set_style(theme.style(Role::Input));
        shown.set_cursor_style(theme.style(if focused { Role::Cursor } else { Role::Input }));
        shown.set_placeholder_text(hint);
        shown.set_placeholder_style(theme.style(Role::Dim));
        (&shown).render(area, buf);
        if all > area.height && area.width >= MARKED {
            let (above, below) = self.hidden(focused, area, buf);
            for (is_more, mark, y) in [
                (above, glyphs.pick("↑", "^"), edge.y),
                (below, glyphs.pick("↓", "v"), edge.bottom().saturating_sub(1)),
            ] {
                if is_more {
                    Row::new().left(Role::Dim, mark).draw(theme, Rect { y, height: 1, ..edge }, buf);
                }
            }
        }
    }

    /// Whether the text goes on above, and below, what was drawn: only the widget knows where it has scrolled to.
    fn hidden(&self, focused: bool, area: Rect, buf: &Buffer) -> (bool, bool) {
        let all = self.rows(area.width);
        let whole_area = Rect::new(0, 0, area.width, all);
        let mut whole = Buffer::empty(whole_area);
        self.0.as_ref().render(whole_area, &mut whole);
        let cursor = self.0.screen_cursor().row;
        let row = |buf: &Buffer, area: Rect, y: u16| {
            (0..area.width).map(|x| buf[(area.x + x, y)].symbol().to_owned()).collect::<String>()
        };
        let seen: Vec<String> = area.rows().map(|line| row(buf, area, line.y)).collect();
        let lines: Vec<String> = (0..all).map(|y| row(&whole, whole_area, y)).collect();
        // Where lines are alike, those with the cursor.
        let fits = |at: &usize| lines[*at..].starts_with(&seen);
        let places: Vec<usize> = (0..=lines.len().saturating_sub(seen.len())).filter(fits).collect();
        let with_cursor = |at: &&usize| focused && (**at..**at + seen.len()).contains(&cursor);
        let first = places.iter().find(with_cursor).or(places.first()).copied().unwrap_or(0);
        (first > 0, first + seen.len() < lines.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_only_what_can_be_shown() {
        let mut field = Field::new("one\x1b[2J\ntwo\u{202e}");
        field.typed(&Input { key: Key::Char('\u{202e}'), ..Input::default() });
        field.typed(&Input { key: Key::Char('日'), ..Input::default() });
        field.new_line();
        field.pasted("a\x1b]52;c;x\x07b");
        assert_eq!(field.text(), "one\ntwo日\nab");
        field.typed(&Input { key: Key::Char('u'), ctrl: true, ..Input::default() });
        assert_eq!(field.text(), "one\ntwo日\n", "as in a shell");
    }

    #[test]
    fn as_many_rows_are_asked_for_as_the_words_take_and_without_the_focus_the_beginning_is_seen() {
        let text = "these nine words take four rows of twelve";
        let field = Field::new(text);
        let rows = field.rows(12);
        let drawn = |focused, height| {
            let mut buf = Buffer::empty(Rect::new(0, 0, 12, height));
            field.view_text("", focused, (&Theme::plain(), Glyphs::Unicode), buf.area, &mut buf);
            buf.content.iter().map(ratatui::buffer::Cell::symbol).collect::<String>()
        };
        assert_eq!(drawn(true, rows).split_whitespace().collect::<Vec<_>>().join(" "), text, "{rows}");
        assert_eq!(drawn(true, rows + 1).trim_end(), drawn(true, rows).trim_end());
        assert!(drawn(true, 1).contains("twelve"), "{}", drawn(true, 1));
        assert!(drawn(false, 1).starts_with("these nine"), "{}", drawn(false, 1));
    }

    #[test]
    fn what_is_out_of_sight_is_told_at_the_edge_towards_it() {
        let edge = |field: &Field, focused| {
            let area = Rect::new(0, 0, 20, 2);
            let mut buf = Buffer::empty(area);
            field.view_text("", focused, (&Theme::plain(), Glyphs::Unicode), area, &mut buf);
            [0, 1].map(|y| buf[(19, y)].symbol().to_owned())
        };
        let four = "one\ntwo\nthree\nfour";
        assert_eq!(edge(&Field::new(four), true), ["↑", " "], "the cursor is at the end");
        assert_eq!(edge(&Field::new(four), false), [" ", "↓"]);
        assert_eq!(edge(&Field::at_first_line(four), true), [" ", "↓"]);
        assert_eq!(edge(&Field::new("one\ntwo"), true), [" ", " "]);
        assert_eq!(edge(&Field::new(&"same\n".repeat(9)), true), ["↑", " "], "lines that are alike");
    }
}
