//! Text as it stands, as rows: wrapped, at most so many of them, and what was left out counted in the last one.

use super::row::Row;
use crate::base::text::{Clean, beginning};
use crate::domain::stream::show::size;
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::{Break, Piece, untabbed, wrap};
use unicode_width::UnicodeWidthStr;

/// As much of `text` as `cap` rows can hold, and how many bytes that leaves out: what will not be shown is not wrapped.
pub(super) fn bounded(text: &str, columns: usize, cap: usize) -> (&str, usize) {
    // A cell may take several bytes; empty lines take a row each, so this is plenty.
    let most = cap.saturating_add(2).saturating_mul(columns.max(20) * 4);
    let shown = beginning(text, most);
    (shown, text.len() - shown.len())
}

pub(super) fn say_beyond(rows: &mut Vec<Row>, cap: usize, bytes: usize) {
    if bytes > 0 {
        // The row that counts rows gives way to the one that counts bytes.
        rows.truncate(cap);
        rows.push(Row::of(format!("… {} more", size(bytes as u64)), Role::Dim));
    }
}

/// Text as it stands, wrapped, in one role, with a mark before its first row.
pub(super) fn plain(text: &str, columns: usize, role: Role, mark: &str, cap: usize) -> Vec<Row> {
    let (text, beyond) = bounded(text.trim_end(), columns, cap);
    let clean = Clean::new(text);
    let hang = mark.width();
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (at, line) in clean.as_str().trim_start_matches('\n').lines().enumerate() {
        // Beyond the cap lines are only counted.
        if rows.len() > cap {
            left_out += 1;
            continue;
        }
        let lead = if at == 0 { mark.to_owned() } else { " ".repeat(hang) };
        let pieces = [Piece::new(lead + &untabbed(line), role)];
        rows.extend(wrap(&pieces, columns, hang, Break::Words).into_iter().map(Row::from));
    }
    if left_out > 0 {
        let more = rows.len() - cap + left_out;
        rows.truncate(cap);
        let text = format!("{}… {more} more", " ".repeat(hang));
        rows.push(Row::of(text, Role::Dim));
    } else {
        rows = capped(rows, cap);
    }
    say_beyond(&mut rows, cap, beyond);
    rows
}

/// At most `cap` rows, the last of which says how many were left out.
pub(super) fn capped(mut rows: Vec<Row>, cap: usize) -> Vec<Row> {
    // One row too many is shown: saying so would take it as well.
    if rows.len() > cap.saturating_add(1) {
        let more = rows.len() - cap;
        rows.truncate(cap);
        rows.push(Row::of(format!("… {more} more"), Role::Dim));
    }
    rows
}
