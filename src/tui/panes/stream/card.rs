//! How an iteration ends, as one card: the status block in words, and written into it later how it was judged, by which
//! commands, what it cost and how long it took. A claim without a readable status block is a row of its own.

use super::row::{Later, Row};
use super::verdict::{BAR, Check, Judged, Part, how, sign};
use crate::base::text::clean_line;
use crate::domain::claim::{Claim, ClaimStatus};
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::{Break, Piece, wrap};
use ratatui::style::Modifier;

/// A status block's rows.
pub(super) fn rows(claim: &Claim, columns: usize) -> Vec<Row> {
    let line = |text: &str| clean_line(text, 400);
    let (mark, role, word) = match claim.status {
        ClaimStatus::Blocked => ("■ ", Role::PhaseBlocked, "blocked"),
        _ if says_done(claim) => ("◐ ", Role::PhaseClaimed, "claimed"),
        _ => ("◐ ", Role::StreamStatus, "not done yet"),
    };
    let what = match &claim.phase_completed {
        Some(phase) => format!(" · “{}”", line(phase)),
        None if says_done(claim) => " · the whole ticket".to_owned(),
        None => " · no phase completed".to_owned(),
    };
    let of = |part, left: Vec<Piece>| {
        let left = [Piece::new(BAR, role)].into_iter().chain(left).collect();
        Row { left, later: Later::Verdict(part), ..Row::default() }
    };
    let word = Piece { modifier: Modifier::BOLD, ..Piece::new(word, role) };
    let mut out = vec![of(Part::Head, vec![Piece::new(mark, role), word, Piece::new(what, Role::StreamText)])];
    let mut say = |text: String, role| {
        let rows = wrap(&[Piece::new(text, role)], columns.saturating_sub(2), 0, Break::Words);
        out.extend(rows.into_iter().map(|row| of(Part::Words, row)));
    };
    if !claim.summary.is_empty() {
        say(line(&claim.summary), Role::StreamText);
    }
    if let Some(error) = &claim.error {
        say(line(error), Role::StreamError);
    }
    if !claim.files_changed.is_empty() {
        let count = claim.files_changed.len();
        let files = if count == 1 { "file" } else { "files" };
        say(line(&format!("{count} {files} · {}", claim.files_changed.join(", "))), Role::Dim);
    }
    if says_done(claim) {
        out.push(of(Part::Checks, vec![Piece::new("", Role::Dim)]));
    }
    out
}

/// It says that something is done.
fn says_done(claim: &Claim) -> bool {
    claim.phase_completed.is_some() || claim.status == ClaimStatus::Done
}

/// The row of a claim that has no card.
pub(super) fn claim(phase: Option<&str>, checks: &[Check], judged: Judged) -> Row {
    let what = phase
        .map_or_else(|| "claimed the whole ticket".to_owned(), |phase| format!("claimed “{}”", clean_line(phase, 120)));
    let (mark, role, _) = sign(judged);
    let how = match (how(judged, checks).as_str(), judged) {
        (_, Judged::Disputed) => " · disputed".to_owned(),
        ("", _) => String::new(),
        (how, _) => format!(" · {how}"),
    };
    Row::from(vec![Piece::new(format!("{mark} {what}"), role), Piece::new(how, Role::Dim)])
}
