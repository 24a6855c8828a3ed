//! An edit under its call: a coloured diff, word by word, with line numbers, which are written in when the result tells them.

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
    let text = |at: usize| untabbed(Clean::new(&lines[at].text).as_str());
    let pairs = diff::pairs(lines.iter().map(|line| line.side));
    let mut rows = Vec::new();
    for (at, line) in lines[..shown].iter().enumerate() {
        let (mark, role, word) = match line.side {
            Side::Context => ("     ", Role::DiffContext, Role::DiffContext),
            Side::Removed => ("   - ", Role::DiffDel, Role::DiffDelWord),
            Side::Added => ("   + ", Role::DiffAdd, Role::DiffAddWord),
            Side::Gap => {
                rows.push(Row::of("     …", Role::Dim));
                continue;
            }
        };
        let (text, other) = (text(at), pairs[at].map(text));
        let parts = other.as_deref().map_or_else(|| vec![(false, text.as_str())], |other| diff::marks(&text, other));
        let parts = parts.into_iter().map(|(marked, text)| Piece::new(text, if marked { word } else { role }));
        let parts: Vec<Piece> = parts.collect();
        let head = vec![Piece::new(mark, role), Piece::new("    ", Role::Dim), Piece::new("   ", role)];
        let room = columns.saturating_sub(width(&head));
        let parts = match fold {
            Fold::Full => wrap(&parts, room, 0, Break::Anywhere),
            Fold::Brief => vec![parts],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_differ_are_marked() {
        let edit = Edit { path: "a".into(), old: "let a = one(x);\n".into(), new: "let a = two(x);\nmore\n".into() };
        let rows = rows(&edit, "t", 60, 12, Fold::Brief);
        let words =
            |row: &Row, role| row.left.iter().filter(|p| p.role == role).map(|p| p.text.clone()).collect::<String>();
        assert_eq!(words(&rows[0], Role::DiffDelWord), "one");
        assert_eq!(words(&rows[1], Role::DiffAddWord), "two");
        assert_eq!(words(&rows[2], Role::DiffAddWord), "");
    }
}
