//! One line of cells: pieces from the left, pieces flush right, the left one cut where they meet.
//!
//! Owns the cleaning: nothing reaches a cell of these lines but through [`Clean`].

use crate::base::text::{Clean, cut};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

/// Text in a role, and in one that lies over it.
type Run = (Role, Option<Role>, String);

/// A line under construction.
#[derive(Clone, Debug, Default)]
pub struct Row {
    left: Vec<Run>,
    right: Vec<Run>,
}

impl Row {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on at the left.
    #[must_use]
    pub fn left(mut self, role: Role, text: impl AsRef<str>) -> Self {
        push(&mut self.left, (role, None), text.as_ref());
        self
    }

    /// Goes on at the left with a part of code.
    #[must_use]
    pub fn code(mut self, role: Role, over: Option<Role>, text: &str) -> Self {
        push(&mut self.left, (role, over), text);
        self
    }

    /// Goes on at the right; the last piece ends at the edge.
    #[must_use]
    pub fn right(mut self, role: Role, text: impl AsRef<str>) -> Self {
        push(&mut self.right, (role, None), text.as_ref());
        self
    }

    /// All that it says, in no width.
    pub fn text(&self) -> String {
        let join = |pieces: &[Run]| pieces.iter().map(|(.., text)| text.as_str()).collect::<String>();
        format!("{}  {}", join(&self.left), join(&self.right)).trim_end().to_owned()
    }

    /// Keys and what they do.
    pub fn keys(hints: impl IntoIterator<Item = (String, &'static str)>) -> Self {
        hints.into_iter().fold(Self::new(), |row, (key, hint)| row.key(Role::Key, &key, hint))
    }

    /// The same in so many columns: the last key, which closes, always, and of the others as many as fit before it.
    pub fn keys_in(width: usize, mut hints: Vec<(String, &'static str)>) -> Self {
        // Behind the last one no gap is needed.
        let columns = |hints: &[(String, &str)]| {
            hints.iter().map(|(key, hint)| key.width() + hint.width() + 4).sum::<usize>().saturating_sub(3)
        };
        while hints.len() > 1 && columns(&hints) > width {
            hints.remove(hints.len() - 2);
        }
        Self::keys(hints)
    }

    /// Goes on with a key and what it does.
    #[must_use]
    pub fn key(self, role: Role, key: &str, hint: &str) -> Self {
        self.left(role, key).left(Role::Hint, format!(" {hint}   "))
    }

    /// Goes on with the left pieces of another line, from this column on.
    #[must_use]
    pub fn beside(mut self, column: usize, other: Self) -> Self {
        let gap = column.saturating_sub(self.left_width());
        if gap > 0 && !other.left.is_empty() {
            self.left.push((Role::Text, None, " ".repeat(gap)));
        }
        self.left.extend(other.left);
        self
    }

    /// Columns that the left pieces take.
    pub fn left_width(&self) -> usize {
        width(&self.left)
    }

    /// Columns that the right pieces take.
    pub fn right_width(&self) -> usize {
        width(&self.right)
    }

    /// Nothing in it.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty() && self.right.is_empty()
    }

    /// Draws into the first line of `area`. The right side wins; the left ends with `…` before it.
    pub fn draw(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let columns = usize::from(area.width);
        let right = self.right_width().min(columns);
        let gap = usize::from(right > 0);
        put(&self.left, columns.saturating_sub(right + gap), area.x, area.y, theme, buf);
        let from = area.x + (columns - right) as u16;
        put(&self.right, right, from, area.y, theme, buf);
    }
}

fn push(pieces: &mut Vec<Run>, (role, over): (Role, Option<Role>), text: &str) {
    if !text.is_empty() {
        let text = Clean::new(text).into_string().replace(['\n', '\t'], " ");
        pieces.push((role, over, text));
    }
}

fn width(pieces: &[Run]) -> usize {
    pieces.iter().map(|(.., text)| text.width()).sum()
}

fn put(pieces: &[Run], columns: usize, x: u16, y: u16, theme: &Theme, buf: &mut Buffer) {
    let mut used = 0;
    for (at, (role, over, text)) in pieces.iter().enumerate() {
        let is_last = pieces[at + 1..].iter().all(|(.., rest)| rest.trim().is_empty());
        let room = columns - used;
        // A gap behind the last words is not worth a mark.
        let is_gap_over = is_last && text.width() > room && text.trim_end().width() <= room;
        let text = cut(if is_gap_over { text.trim_end() } else { text }, room);
        let width = text.width();
        // Exactly the role's style, whatever stood there (a border under a title).
        let style = Style::reset().patch(theme.style(Role::Text)).patch(theme.style(*role));
        let style = over.map_or(style, |over| style.patch(theme.style(over)));
        buf.set_stringn(x + used as u16, y, &text, width, style);
        used += width;
        if used >= columns {
            break;
        }
    }
}

/// Gives one line a style of its own, its text kept: a selection. A background lies under the colours of the text;
/// reversed, they would show through as blots.
pub fn highlight(style: Style, area: Rect, buf: &mut Buffer) {
    let base = if style.bg.is_some() && style.fg.is_none() { Style::new() } else { Style::reset() };
    buf.set_style(area.intersection(buf.area), base.patch(style));
}

/// The lines of `area`, from the top.
pub fn lines(area: Rect) -> impl Iterator<Item = Rect> {
    area.rows()
}

/// Text in lines of at most `columns` cells, broken at blanks where there are any.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut out = Vec::new();
    for line in Clean::new(text).as_str().replace('\t', " ").lines() {
        let mut row = String::new();
        for word in line.split_inclusive(' ') {
            let fits = row.width() + word.trim_end().width() <= columns;
            if !fits && !row.is_empty() {
                out.push(std::mem::take(&mut row).trim_end().to_owned());
            }
            row.push_str(word);
            while row.trim_end().width() > columns {
                let head = head_of(&row, columns);
                let rest = row.split_off(head);
                out.push(std::mem::replace(&mut row, rest));
            }
        }
        out.push(row.trim_end().to_owned());
    }
    out
}

/// As [`wrap`], in at most `most` lines: where there would be more, the last one says so by `…`.
pub fn wrap_most(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrap(text, columns);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), columns.max(1));
        }
    }
    lines
}

/// Bytes of the longest beginning that fits into `columns`; at least one character.
fn head_of(text: &str, columns: usize) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    let mut used = 0;
    let mut end = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if used > columns && at > 0 {
            break;
        }
        end = at + grapheme.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(row: &Row, width: u16) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, 1));
        row.draw(&Theme::plain(), buf.area, &mut buf);
        buf.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn the_right_side_is_flush_and_the_left_gives_way() {
        let row = Row::new().left(Role::Text, "Wire into middleware").right(Role::Dim, "4m12s");
        assert_eq!(drawn(&row, 30), "Wire into middleware     4m12s");
        assert_eq!(drawn(&row, 20), "Wire into mid… 4m12s");
        assert_eq!(drawn(&row, 5), "4m12s");
        assert_eq!(drawn(&row, 3), "4m…");
    }

    #[test]
    fn a_gap_behind_the_last_words_is_no_reason_to_cut_them() {
        let row = Row::keys([("^S".to_owned(), "save"), ("Esc".to_owned(), "later")]);
        assert_eq!(drawn(&row, 19), "^S save   Esc later");
        assert_eq!(drawn(&row, 20), "^S save   Esc later ");
        assert_eq!(drawn(&row, 18), "^S save   Esc lat…");
        assert_eq!(drawn(&row, 9), "^S save …", "what follows is not put to it");
    }

    #[test]
    fn nothing_is_obeyed() {
        let row = Row::new().left(Role::Text, "a\x1b[2Jb\nc");
        assert_eq!(drawn(&row, 6), "ab c  ");
    }

    #[test]
    fn wraps_at_blanks_and_breaks_what_has_none() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("日本語日本", 4), ["日本", "語日", "本"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked_and_no_letter_is_lost(text in "[a-z ]{0,80}", columns in 1usize..20) {
            let rows = wrap(&text, columns);
            prop_assert!(rows.iter().all(|row| row.width() <= columns));
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&rows.concat()), letters(&text));
        }
    }
}
