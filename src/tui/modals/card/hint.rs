//! A key at the foot of a card, and what it does.

use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;

/// A key and what it does.
pub(super) struct Hint {
    pub(super) key: String,
    pub(super) words: String,
    /// The words where there is little room.
    pub(super) brief: String,
    pub(super) role: Role,
    pub(super) counts: bool,
}

impl Hint {
    pub(super) fn new(key: &str, words: &str, brief: &str) -> Self {
        Self { key: key.into(), words: words.into(), brief: brief.into(), role: Role::Hint, counts: true }
    }
}

/// The keys on one line, in shorter words where the long ones do not fit, at last in one word each.
pub(super) fn line_of(hints: &[Hint], columns: u16) -> Row {
    let line = |air: &str, words: fn(&Hint) -> &str| {
        hints.iter().fold(Row::new(), |row, hint| {
            let row = if row.is_empty() { row } else { row.left(Role::Hint, air) };
            let (key, rest) = if hint.counts { (Role::Key, hint.role) } else { (Role::Dim, Role::Dim) };
            let gap = if hint.key.is_empty() { "" } else { " " };
            row.left(key, &hint.key).left(rest, format!("{gap}{}", words(hint)))
        })
    };
    let long = line("   ", |hint| &hint.words);
    let brief = line("  ", |hint| &hint.brief);
    let fits = |row: &Row| row.left_width() <= columns.into();
    match (fits(&long), fits(&brief)) {
        (true, _) => long,
        (_, true) => brief,
        _ => line("  ", |hint| hint.brief.rsplit(' ').next().unwrap_or_default()),
    }
}
