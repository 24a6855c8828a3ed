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

/// The keys on one line, in shorter words where the long ones do not fit, then in one word each; at last on two lines.
pub(super) fn lines_of(hints: &[Hint], columns: u16) -> Vec<Row> {
    let line_of = |hints: &[Hint], air: &str, words: fn(&Hint) -> &str| {
        hints.iter().fold(Row::new(), |row, hint| {
            let row = if row.is_empty() { row } else { row.left(Role::Hint, air) };
            let (key, rest) = if hint.counts { (Role::Key, hint.role) } else { (Role::Dim, Role::Dim) };
            let gap = if hint.key.is_empty() { "" } else { " " };
            row.left(key, &hint.key).left(rest, format!("{gap}{}", words(hint)))
        })
    };
    let line = |air, words| line_of(hints, air, words);
    // What is no key says why one was not taken: it keeps its words.
    let one_word: fn(&Hint) -> &str = |hint| match hint.key.as_str() {
        "" => &hint.brief,
        _ => hint.brief.rsplit(' ').next().unwrap_or_default(),
    };
    let one = [line("   ", |hint| &hint.words), line("  ", |hint| &hint.brief), line("  ", one_word)];
    if let Some(row) = one.into_iter().find(|row| row.left_width() <= columns.into()) {
        return vec![row];
    }
    let (first, rest) = hints.split_at(hints.len().div_ceil(2));
    [first, rest].map(|hints| line_of(hints, "  ", |hint| &hint.brief)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_of_a_card_are_there_at_60_columns() {
        let keys = [("Space", "more"), ("y", "allow once"), ("t", "this run"), ("T", "this kind"), ("A", "always…")];
        let all = keys.into_iter().chain([("d", "deny"), ("e", "edit"), ("Esc", "later")]);
        let hints: Vec<Hint> = all.map(|(key, words)| Hint::new(key, words, words)).collect();
        for (columns, lines) in [(56, 2), (76, 1), (96, 1)] {
            let rows = lines_of(&hints, columns);
            assert!(rows.len() == lines && rows.iter().all(|row| row.left_width() <= columns.into()), "{columns}");
        }
    }
}
