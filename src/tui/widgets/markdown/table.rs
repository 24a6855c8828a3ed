//! A table: aligned where it has room, its cells wrapped where it has less, one line a value where it has too little.

use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::{Break, Piece, width, wrap};
use pulldown_cmark::Alignment;
use ratatui::style::Modifier;

/// Between two columns.
const BETWEEN: &str = "  ";
/// A narrower column is no longer read.
const LEAST: usize = 6;

type Cell = Vec<Piece>;

pub(super) struct Table {
    sides: Vec<Alignment>,
    /// The head is the first row.
    rows: Vec<Vec<Cell>>,
    row: Vec<Cell>,
}

impl Table {
    pub(super) fn new(sides: Vec<Alignment>) -> Self {
        Self { sides, rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, mut cell: Cell) {
        if self.rows.is_empty() {
            for piece in &mut cell {
                piece.modifier |= Modifier::BOLD;
            }
        }
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    pub(super) fn rows(&self, room: usize) -> Vec<Vec<Piece>> {
        let natural: Vec<usize> = (0..self.sides.len())
            .map(|at| self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or(0))
            .collect();
        let between = BETWEEN.len() * natural.len().saturating_sub(1);
        match fitted(&natural, room.saturating_sub(between)) {
            Some(widths) => self.aligned(&widths),
            None => self.listed(room),
        }
    }

    fn aligned(&self, widths: &[usize]) -> Vec<Vec<Piece>> {
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Vec<Piece>>> = widths
                .iter()
                .enumerate()
                .map(|(at, room)| wrap(row.get(at).map_or(&[], Vec::as_slice), *room, 0, Break::Words))
                .collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut pieces = Vec::new();
                for (column, (cell, room)) in cells.iter().zip(widths).enumerate() {
                    let part = cell.get(line).cloned().unwrap_or_default();
                    let blank = room.saturating_sub(width(&part));
                    let before = match self.sides[column] {
                        Alignment::Right => blank,
                        Alignment::Center => blank / 2,
                        Alignment::None | Alignment::Left => 0,
                    };
                    let between = if column > 0 { BETWEEN.len() } else { 0 };
                    pieces.push(Piece::new(" ".repeat(between + before), Role::StreamText));
                    pieces.extend(part);
                    pieces.push(Piece::new(" ".repeat(blank - before), Role::StreamText));
                }
                out.push(pieces);
            }
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                out.push(vec![Piece::new(rules.join(BETWEEN), Role::Dim)]);
            }
        }
        out
    }

    /// Each value with the name of its column, the rows apart.
    fn listed(&self, room: usize) -> Vec<Vec<Piece>> {
        let Some((head, rest)) = self.rows.split_first() else { return Vec::new() };
        let mut out = Vec::new();
        if rest.is_empty() {
            out.extend(head.iter().flat_map(|name| wrap(name, room, 0, Break::Words)));
        }
        for (at, row) in rest.iter().enumerate() {
            if at > 0 {
                out.push(Vec::new());
            }
            for (name, value) in head.iter().zip(row) {
                let colon = Piece::new(": ", Role::StreamText);
                let line: Vec<Piece> = name.iter().cloned().chain([colon]).chain(value.iter().cloned()).collect();
                out.extend(wrap(&line, room, 2, Break::Words));
            }
        }
        out
    }
}

/// The widths of columns in this room: the widest give way, all alike. `None`: one would be too narrow.
fn fitted(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let at_most = |cap: usize| natural.iter().map(move |width| (*width).min(cap));
    let widest = natural.iter().copied().max().unwrap_or(0);
    let cap = (LEAST..=widest.max(LEAST)).rev().find(|cap| at_most(*cap).sum::<usize>() <= room)?;
    Some(at_most(cap).collect())
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    const TEXT: &str =
        "| name | 数 | what it is for |\n|---|--:|:-:|\n| alpha | 1 | the first of them |\n| b | 日本 | x |";

    fn seen(columns: usize) -> Vec<String> {
        let text = |row: &Vec<Piece>| row.iter().map(|piece| piece.text.as_str()).collect::<String>();
        rows(TEXT, columns).iter().map(|row| text(row).trim_end().to_owned()).collect()
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        assert_eq!(
            seen(60),
            [
                "name     数   what it is for",
                "─────  ────  ─────────────────",
                "alpha     1  the first of them",
                "b      日本          x",
            ]
        );
        assert!(rows(TEXT, 60)[0].iter().any(|piece| piece.modifier.contains(Modifier::BOLD)));
    }

    #[test]
    fn the_widest_column_gives_way_and_then_the_table_does() {
        assert_eq!(
            seen(22),
            [
                "name     数   what it",
                "              is for",
                "─────  ────  ─────────",
                "alpha     1  the first",
                "              of them",
                "b      日本      x",
            ]
        );
        assert_eq!(
            seen(16),
            [
                "name: alpha", "数: 1", "what it is for:", "  the first of", "  them", "", "name: b", "数: 日本",
                "what it is for:", "  x"
            ]
        );
    }
}
