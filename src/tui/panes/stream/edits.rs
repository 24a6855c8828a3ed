//! An edit under its call: a coloured diff, word by word, with line numbers, which are written in when the result tells them.

use super::fold::Fold;
use super::plain::{bounded, capped, say_beyond};
use super::row::{Later, Row};
use crate::base::text::Clean;
use crate::domain::stream::show::{Edit, Excerpt};
use crate::domain::syntax::{of_path, together};
use crate::tui::theme::role::Role;
use crate::tui::widgets::diff::{self, Side};
use crate::tui::widgets::wrap::{Break, Piece, untabbed, width, wrap};

/// The rows of an edit: at most `cap` lines of it, unfolded ones wrapped.
pub(super) fn rows(edit: &Edit, id: &str, columns: usize, cap: usize, fold: Fold) -> Vec<Row> {
    let lines = diff::lines(&edit.old, &edit.new);
    let more = lines.len().saturating_sub(cap + 1);
    let shown = if more > 0 { cap } else { lines.len() };
    let texts: Vec<String> = lines[..shown].iter().map(|line| untabbed(Clean::new(&line.text).as_str())).collect();
    let code = diff::code(of_path(&edit.path), lines[..shown].iter().map(|line| line.side).zip(&texts));
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
        // The line in whose place it stands may be one of those that are left out.
        let other = pairs[at].map(|at| untabbed(Clean::new(&lines[at].text).as_str()));
        let text = &texts[at];
        let parts = other.as_deref().map_or_else(|| vec![(false, text.as_str())], |other| diff::marks(text, other));
        let parts = diff::pieces(parts, role, word, code[at].as_ref());
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

/// Lines of a file with their numbers: at most `cap` rows.
pub(super) fn contents(read: &Excerpt, columns: usize, cap: usize) -> Vec<Row> {
    let (text, beyond) = bounded(read.text.trim_end_matches('\n'), columns, cap);
    let lines: Vec<String> = Clean::new(text).as_str().split('\n').map(untabbed).collect();
    let places = together(of_path(&read.path), &lines);
    let mut rows = Vec::new();
    for ((n, line), code) in (read.first..).zip(lines).zip(places) {
        let head = Piece::new(format!("{n:>8}  "), Role::Dim);
        let room = columns.saturating_sub(width(std::slice::from_ref(&head)));
        let mut lead = Some(head);
        for part in wrap(&[Piece { code, ..Piece::new(line, Role::StreamTarget) }], room, 0, Break::Anywhere) {
            let head = lead.take().unwrap_or_else(|| Piece::new(" ".repeat(10), Role::Dim));
            rows.push(Row::from([head].into_iter().chain(part).collect::<Vec<_>>()));
        }
    }
    let mut rows = capped(rows, cap);
    say_beyond(&mut rows, cap, beyond);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_has_its_numbers_and_is_code() {
        let read = Excerpt { path: "/a/b.rs".into(), first: 9, text: format!("fn a() {{\n\t{}\n}}\n", "x".repeat(30)) };
        let rows = contents(&read, 30, 50);
        let seen: Vec<String> = rows.iter().map(|row| row.left.iter().map(|piece| &*piece.text).collect()).collect();
        let long = format!("      10      {}", "x".repeat(16));
        assert_eq!(seen, ["       9  fn a() {", &long, "          xxxxxxxxxxxxxx", "      11  }"]);
        let code: Vec<usize> = rows.iter().map(|row| row.left[1].code.as_ref().unwrap().at).collect();
        assert_eq!(code, [0, 9, 29, 44]);
        let rows = contents(&Excerpt { text: "x".repeat(1 << 24), ..read }, 80, 100);
        assert!(rows.len() <= 101 && rows[0].left[1].code.is_none(), "{}", rows.len());
    }

    #[test]
    fn what_comes_and_stays_is_code_and_what_goes_is_not() {
        let edit = Edit { path: "a.rs".into(), old: "a();\nzzz\n".into(), new: "a();\nnew(\"x\");\n".into() };
        let rows = rows(&edit, "t", 60, 12, Fold::Brief);
        let code: Vec<Vec<bool>> =
            rows.iter().map(|row| row.left[3..].iter().map(|piece| piece.code.is_some()).collect()).collect();
        assert_eq!(code, [vec![true], vec![false], vec![true]]);
        let place = rows[2].left[3].code.as_ref().unwrap();
        assert_eq!((place.snippet.text.as_str(), place.at), ("a();\nnew(\"x\");", 5));
    }

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
