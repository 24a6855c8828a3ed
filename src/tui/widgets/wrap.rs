//! Styled text broken into rows of cells: by words, or anywhere. Never splits a grapheme and never loses a visible one.
//!
//! Takes clean text only (`base::text::Clean`). Does not own styles; it carries them.

use crate::domain::syntax::Code;
use crate::tui::theme::{Theme, role::Role};
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of a tab stop.
const TAB: usize = 4;

/// A run of text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Clean text without newlines and tabs.
    pub text: String,
    pub role: Role,
    /// Weight and slant on top of the role's style.
    pub modifier: Modifier,
    /// Where in a piece of code it stands, which has colours of its own.
    pub code: Option<Code>,
}

impl Piece {
    /// A run without extra weight or slant.
    pub fn new(text: impl Into<String>, role: Role) -> Self {
        Self { text: text.into(), role, modifier: Modifier::empty(), code: None }
    }

    /// The piece that begins `skipped` bytes into this one.
    #[must_use]
    pub fn beginning(&self, skipped: usize, text: impl Into<String>) -> Self {
        let code = self.code.as_ref().map(|code| Code { at: code.at + skipped, ..code.clone() });
        Self { text: text.into(), code, ..*self }
    }

    pub fn style(&self, theme: &Theme) -> Style {
        theme.style(self.role).add_modifier(self.modifier)
    }
}

/// Where a line may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Between words; blanks at the break are dropped, longer words are broken anywhere.
    Words,
    /// Anywhere; every blank is kept (code, output).
    Anywhere,
    /// Behind a blank in the second half of the row where there is one, else anywhere; every blank is kept: what must
    /// be read to the letter.
    Letters,
}

/// Columns that `pieces` take.
pub fn width(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.text.width()).sum()
}

/// Tabs as blanks up to the next stop.
pub fn untabbed(line: &str) -> String {
    if !line.contains('\t') {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len() + TAB);
    for (at, part) in line.split('\t').enumerate() {
        if at > 0 {
            let fill = TAB - out.width() % TAB;
            out.extend(std::iter::repeat_n(' ', fill));
        }
        out.push_str(part);
    }
    out
}

/// One grapheme of the line.
struct Cell<'a> {
    text: &'a str,
    piece: usize,
    /// Bytes of the piece before it.
    at: usize,
    width: usize,
}

/// Breaks one line into rows of at most `columns` cells (at least 1); rows after the first are indented by `hang`.
/// An empty line is one empty row.
pub fn wrap(pieces: &[Piece], columns: usize, hang: usize, at: Break) -> Vec<Vec<Piece>> {
    let columns = columns.max(1);
    let hang = if hang * 2 > columns { 0 } else { hang };
    if width(pieces) <= columns {
        return vec![pieces.to_vec()];
    }
    let cells: Vec<Cell<'_>> = pieces
        .iter()
        .enumerate()
        .flat_map(|(piece, run)| {
            run.text.grapheme_indices(true).map(move |(at, text)| Cell { text, piece, at, width: text.width() })
        })
        .collect();
    let mut rows = Vec::new();
    let mut start = 0;
    while start < cells.len() {
        let room = if rows.is_empty() { columns } else { columns - hang };
        let (end, next) = row_end(&cells, start, room, at);
        rows.push(row(&cells[start..end], pieces, if rows.is_empty() { 0 } else { hang }));
        start = next;
    }
    rows
}

/// The end of the row that begins at `start`, and where the next one begins.
fn row_end(cells: &[Cell<'_>], start: usize, room: usize, at: Break) -> (usize, usize) {
    let mut used = 0;
    let mut end = start;
    while end < cells.len() && used + cells[end].width <= room {
        used += cells[end].width;
        end += 1;
    }
    // A grapheme wider than the whole row still has to go somewhere.
    let end = end.max(start + 1);
    if end == cells.len() || at == Break::Anywhere {
        return (end, end);
    }
    let blank = |cell: &Cell<'_>| cell.text == " ";
    if at == Break::Letters {
        let second_half = start + (end - start) / 2 + 1..=end;
        let end = second_half.rev().find(|at| blank(&cells[at - 1])).unwrap_or(end);
        return (end, end);
    }
    let skip = |from: usize| from + cells[from..].iter().take_while(|cell| blank(cell)).count();
    if blank(&cells[end]) {
        return (end, skip(end));
    }
    let breaks = |at: &usize| {
        // Wide characters (CJK) may be broken before; words end at blanks.
        blank(&cells[*at - 1]) || (cells[*at].width > 1 && cells[*at - 1].width > 1)
    };
    match (start + 1..=end).rev().find(breaks) {
        Some(found) if cells[start..found].iter().any(|cell| !blank(cell)) => {
            let trimmed = found - cells[start..found].iter().rev().take_while(|cell| blank(cell)).count();
            (trimmed, found)
        }
        _ => (end, end),
    }
}

fn row(cells: &[Cell<'_>], pieces: &[Piece], indent: usize) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut last = usize::MAX;
    for cell in cells {
        if cell.piece != last {
            last = cell.piece;
            out.push(pieces[cell.piece].beginning(cell.at, String::new()));
        }
        if let Some(piece) = out.last_mut() {
            piece.text.push_str(cell.text);
        }
    }
    if indent > 0 {
        out.insert(0, Piece::new(" ".repeat(indent), Role::StreamText));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, columns: usize, at: Break) -> Vec<String> {
        wrap(&[Piece::new(text, Role::Text)], columns, 0, at)
            .iter()
            .map(|row| row.iter().map(|piece| piece.text.as_str()).collect())
            .collect()
    }

    #[test]
    fn breaks_where_people_would() {
        assert_eq!(rows("one two three", 8, Break::Words), ["one two", "three"]);
        assert_eq!(rows("one two", 7, Break::Words), ["one two"]);
        assert_eq!(rows("abcdefgh ij", 4, Break::Words), ["abcd", "efgh", "ij"]);
        assert_eq!(rows("  a bcdef", 5, Break::Words), ["  a", "bcdef"]);
        assert_eq!(rows("日本語テスト", 5, Break::Words), ["日本", "語テ", "スト"]);
        assert_eq!(rows("a  b", 2, Break::Anywhere), ["a ", " b"]);
        assert_eq!(rows("git push --force main", 9, Break::Letters), ["git push ", "--force ", "main"]);
        assert_eq!(rows("a bcdefghijk", 6, Break::Letters), ["a bcde", "fghijk"]);
        assert_eq!(rows("👩‍👩‍👧👩‍👩‍👧", 3, Break::Words), ["👩‍👩‍👧", "👩‍👩‍👧"]);
        assert_eq!(rows("", 3, Break::Words), [""]);
        assert_eq!(rows("日", 1, Break::Words), ["日"]);
    }

    #[test]
    fn styles_and_indents_go_along() {
        let line = [Piece::new("one ", Role::Text), Piece::new("two", Role::Dim)];
        let rows = wrap(&line, 5, 2, Break::Words);
        assert_eq!(rows[0], [Piece::new("one", Role::Text)]);
        assert_eq!(rows[1], [Piece::new("  ", Role::StreamText), Piece::new("two", Role::Dim)]);
    }

    #[test]
    fn tabs_go_to_stops() {
        assert_eq!(untabbed("a\tb\t\tc"), "a   b       c");
        assert_eq!(untabbed("日\tx"), "日  x");
    }

    proptest! {
        #[test]
        fn nothing_visible_is_lost_and_nothing_is_too_wide(text in "[a-z 日e\u{301}👍\\-]{0,80}", columns in 2_usize..20, at in prop::sample::select(vec![Break::Words, Break::Anywhere, Break::Letters])) {
            let rows = rows(&text, columns, at);
            prop_assert!(rows.iter().all(|row| row.width() <= columns), "{rows:?}");
            let visible = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(visible(&rows.concat()), visible(&text));
            if at != Break::Words {
                prop_assert_eq!(rows.concat(), text);
            }
        }
    }
}
