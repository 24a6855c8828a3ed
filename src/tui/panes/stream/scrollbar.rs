//! Where the window is in all that was printed, and where a search found something: the pane's right edge, while the
//! person is away from the end or searches. Measured in records: rows are only known where somebody looked.

use super::book::Book;
use super::order::Place;
use super::window::Spot;
use crate::domain::search::Found;
use crate::tui::marks::Glyphs;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// One row of the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Nothing,
    /// Records with the words.
    Match,
    /// The window.
    Here,
}

/// The edge beside a window of `rows` rows whose first row is `top`.
pub(super) fn cells(book: &Book, top: Option<Spot>, found: Option<&Found>, rows: usize) -> Vec<Cell> {
    let segments = &book.journal.segments;
    let total: usize = segments.iter().map(|segment| segment.len).sum();
    let Some(top) = top.filter(|_| total > 0) else { return Vec::new() };
    let earlier: usize = segments.iter().filter(|segment| segment.n < top.n).map(|segment| segment.len).sum();
    let within = match top.place {
        Place::Entry(i) => i,
        Place::Live => usize::MAX,
        Place::Head => 0,
        Place::Mark(k) => book.journal.get(top.n).and_then(|s| s.marks.get(k)).map_or(0, |mark| mark.0),
    };
    let here = earlier.saturating_add(within).min(total - 1) * rows / total;
    let matches = |row: usize| {
        let (from, to) = (row * total / rows, ((row + 1) * total / rows).max(row * total / rows + 1));
        let mut start = 0;
        segments.iter().any(|segment| {
            let range = from.saturating_sub(start)..to.saturating_sub(start).min(segment.len);
            start += segment.len;
            !range.is_empty() && found.is_some_and(|found| found.any(segment.n, &range))
        })
    };
    let cell = |row| match row {
        row if row == here => Cell::Here,
        row if matches(row) => Cell::Match,
        _ => Cell::Nothing,
    };
    (0..rows).map(cell).collect()
}

/// Draws it over the border right of `inside`.
pub(super) fn view(cells: &[Cell], glyphs: Glyphs, theme: &Theme, inside: Rect, buffer: &mut Buffer) {
    let edge = Rect { x: inside.right(), width: 1, ..inside }.intersection(buffer.area);
    for (y, cell) in edge.rows().map(|row| row.y).zip(cells) {
        let (glyph, role) = match cell {
            Cell::Nothing => continue,
            Cell::Match => (glyphs.pick("◆", "*"), Role::Warning),
            Cell::Here => (glyphs.pick("█", "#"), Role::Accent),
        };
        buffer.set_string(edge.x, y, glyph, theme.style(role));
    }
}
