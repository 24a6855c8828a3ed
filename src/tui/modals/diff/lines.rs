//! The lines of a diff, safe to show, and how one is drawn.

use crate::base::text::Clean;
use crate::domain::changes::{self, Side};
use crate::domain::syntax::Code;
use crate::tui::syntax::Syntax;
use crate::tui::theme::role::Role;
use crate::tui::widgets::diff;
use crate::tui::widgets::row::Row;
use crate::tui::widgets::wrap::untabbed;

/// A line, or the beginning of a hunk.
pub(super) struct Line {
    /// `None`: a new hunk begins here.
    pub(super) side: Option<Side>,
    /// In the file as it was for an old line, else as it is.
    pub(super) n: u64,
    pub(super) text: String,
    /// The line that stands in place of this one.
    pub(super) other: Option<usize>,
    pub(super) code: Option<Code>,
}

/// The lines of all hunks, safe to show.
pub(super) fn lines(changed: changes::Diff, language: &str) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    for hunk in changed.hunks {
        let (mut old, mut new) = (hunk.old, hunk.new);
        out.push(Line { side: None, n: 0, text: format!("line {new}"), other: None, code: None });
        for (side, text) in hunk.lines {
            let text = untabbed(Clean::new(&text).as_str());
            let n = if side == Side::Old { old } else { new };
            old += u64::from(side != Side::New);
            new += u64::from(side != Side::Old);
            out.push(Line { side: Some(side), n, text, other: None, code: None });
        }
    }
    let side = |line: &Line| match line.side {
        None => diff::Side::Gap,
        Some(Side::Both) => diff::Side::Context,
        Some(Side::Old) => diff::Side::Removed,
        Some(Side::New) => diff::Side::Added,
    };
    let pairs = diff::pairs(out.iter().map(side));
    let code = diff::code(language, out.iter().map(|line| (side(line), &line.text)));
    for ((line, other), code) in out.iter_mut().zip(pairs).zip(code) {
        (line.other, line.code) = (other, code);
    }
    out
}

pub(super) fn row(syntax: &Syntax, line: &Line, other: Option<&Line>) -> Row {
    let (sign, role, mark) = match line.side {
        None => return Row::new().left(Role::StreamDivider, format!("  ── {} ──", line.text)),
        Some(Side::Both) => ("  ", Role::DiffContext, Role::DiffContext),
        Some(Side::Old) => ("- ", Role::DiffDel, Role::DiffDelWord),
        Some(Side::New) => ("+ ", Role::DiffAdd, Role::DiffAddWord),
    };
    let head = Row::new().left(Role::Dim, format!("{:>5} ", line.n)).left(role, sign);
    let parts = other.map_or_else(|| vec![(false, line.text.as_str())], |other| diff::marks(&line.text, &other.text));
    let pieces = diff::pieces(parts, role, mark, line.code.as_ref());
    let parts = pieces.iter().flat_map(|piece| syntax.parts(piece).into_iter().map(|part| (piece.role, part)));
    parts.fold(head, |row, (role, (text, over))| row.code(role, over, text))
}
