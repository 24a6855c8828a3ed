//! A field of several lines that a person types into. Everything in it can be shown: what cannot is not taken.

use crate::base::text::Clean;
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
    pub fn view(&self, head: (&str, &str), hint: &str, theme: &Theme, area: Rect, buf: &mut Buffer) {
        Row::new().left(Role::Key, head.0).left(Role::Dim, format!("  {}", head.1)).draw(theme, area, buf);
        let area = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        self.view_text(hint, true, theme, area, buf);
    }

    /// Draws the text alone; `focused`: keys go here, and the cursor is in sight, else the beginning is.
    pub fn view_text(&self, hint: &str, focused: bool, theme: &Theme, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
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
            field.view_text("", focused, &Theme::plain(), buf.area, &mut buf);
            buf.content.iter().map(ratatui::buffer::Cell::symbol).collect::<String>()
        };
        assert_eq!(drawn(true, rows).split_whitespace().collect::<Vec<_>>().join(" "), text, "{rows}");
        assert_eq!(drawn(true, rows + 1).trim_end(), drawn(true, rows).trim_end());
        assert!(drawn(true, 1).trim_start().starts_with("twelve"), "{}", drawn(true, 1));
        assert!(drawn(false, 1).starts_with("these nine"), "{}", drawn(false, 1));
    }
}
