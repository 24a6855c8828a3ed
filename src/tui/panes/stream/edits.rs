//! An edit under its call: a coloured diff with line numbers, which are written in when the result tells them.

use super::fold::Fold;
use super::row::{Later, Row};
use crate::base::text::Clean;
use crate::domain::stream::show::Edit;
use crate::tui::theme::role::Role;
use crate::tui::widgets::diff::{self, Side};
use crate::tui::widgets::wrap::{Break, Piece, untabbed, width, wrap};

/// The rows of an edit: at most `cap` lines of it, unfolded ones wrapped.
pub(super) fn rows(edit: &Edit, id: &str, columns: usize, cap: usize, fold: Fold) -> Vec<Row> {
    let lines = diff::lines(&edit.old, &edit.new);
    let more = lines.len().saturating_sub(cap + 1);
    let shown = if more > 0 { cap } else { lines.len() };
    let mut rows = Vec::new();
    for line in &lines[..shown] {
        let (mark, role) = match line.side {
            Side::Context => ("     ", Role::DiffContext),
            Side::Removed => ("   - ", Role::DiffDel),
            Side::Added => ("   + ", Role::DiffAdd),
            Side::Gap => {
                rows.push(Row::of("     …", Role::Dim));
                continue;
            }
        };
        let text = untabbed(Clean::new(&line.text).as_str());
        let head = vec![Piece::new(mark, role), Piece::new("    ", Role::Dim), Piece::new("   ", role)];
        let room = columns.saturating_sub(width(&head));
        let parts = match fold {
            Fold::Full => wrap(&[Piece::new(text, role)], room, 0, Break::Anywhere),
            Fold::Brief => vec![vec![Piece::new(text, role)]],
        };
        for (at, part) in parts.into_iter().enumerate() {
            let later = match at {
                0 => Later::Number { id: id.to_owned(), place: line.place },
                _ => Later::Nothing,
            };
            let left = head.iter().cloned().chain(part).collect();
            rows.push(Row { left, later, ..Row::default() });
        }
    }
    if more > 0 {
        rows.push(Row::of(format!("     … {} more", lines.len() - shown), Role::Dim));
    }
    rows
}
