//! What programmator itself says between Claude's words: verdicts, disputes, notes to Claude, notices.
//!
//! A mark may learn more after it is drawn (a note is read, a claim is judged): its words change, its number of rows
//! does not.

use super::layout::{Body, Group, notice, plain};
use super::row::Row;
use crate::base::text::{clean_line, tail};
use crate::base::time::short;
use crate::domain::note::NoteStage;
use crate::domain::outcome::DoneHow;
use crate::domain::record::Level;
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::Piece;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// Rows of a failing command's output that a dispute shows.
const TAIL_ROWS: usize = 10;

/// The rule above an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    pub(super) phase: Option<String>,
    pub(super) resumed: bool,
    pub(super) cost_usd: f64,
    /// Time in milliseconds, once it is over.
    pub(super) ms: Option<u64>,
}

/// How a claim was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    NotYet,
    Done(DoneHow),
    Disputed,
}

/// A validation command that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) command: String,
    pub(super) exit: Option<i32>,
    pub(super) timed_out: bool,
    pub(super) ms: u64,
    pub(super) tail: String,
}

impl Check {
    pub(super) fn passed(&self) -> bool {
        self.exit == Some(0) && !self.timed_out
    }

    fn words(&self) -> String {
        let exit = match (self.timed_out, self.exit) {
            (true, _) => "timed out".to_owned(),
            (false, Some(code)) => format!("exit {code}"),
            (false, None) => "killed by a signal".to_owned(),
        };
        format!("`{}` {exit}, {} s", clean_line(&self.command, 60), self.ms / 1000)
    }
}

/// One thing said between Claude's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Notice { level: Level, text: String },
    Note { id: String, text: String, state: NoteStage },
    Claim { phase: Option<String>, checks: Vec<Check>, judged: Judged },
    Dispute { why: String, check: Option<Check> },
}

/// The rule above iteration `n`.
pub(super) fn divider(n: u32, head: &Head, columns: usize) -> Body {
    let right = match head.ms {
        Some(ms) => format!(" ${:.2} · {} ──", head.cost_usd, short(Duration::from_millis(ms))),
        None => "──".to_owned(),
    };
    let resumed = if head.resumed { "· resumed " } else { "" };
    let mut title = format!("── iteration {n} ");
    if let Some(phase) = &head.phase {
        let taken = title.width() + resumed.width() + right.width() + "·  ──".width();
        let room = columns.saturating_sub(taken).max(8);
        title = format!("{title}· {} ", clean_line(phase, room));
    }
    title.push_str(resumed);
    let fill = columns.saturating_sub(title.width() + right.width());
    title.push_str(&"─".repeat(fill));
    let row = Row::from(vec![Piece::new(title, Role::StreamDivider), Piece::new(right, Role::StreamDivider)]);
    Body { rows: vec![row], first: Group::Divider, last: Group::Divider }
}

/// A mark's rows.
pub(super) fn body(mark: &Mark, columns: usize) -> Body {
    let rows = match mark {
        Mark::Notice { level, text } => notice(*level, text, columns),
        Mark::Note { text, state, .. } => note(text, *state, columns),
        Mark::Claim { phase, checks, judged } => vec![claim(phase.as_deref(), checks, *judged)],
        Mark::Dispute { why, check } => dispute(why, check.as_ref(), columns),
    };
    let mut body = Body::default();
    body.add(Group::Notes, rows);
    body
}

fn note(text: &str, state: NoteStage, columns: usize) -> Vec<Row> {
    let role = if state == NoteStage::Read { Role::Success } else { Role::Dim };
    // The room of the longest word is kept free, so that another one does not wrap the text anew.
    let room = columns.saturating_sub(NoteStage::Returned.word().width() + 2).max(8);
    let mut rows = plain(text, room, Role::StreamPerson, "› ", 12);
    if let Some(first) = rows.first_mut() {
        first.right = vec![Piece::new(state.word(), role)];
    }
    rows
}

fn claim(phase: Option<&str>, checks: &[Check], judged: Judged) -> Row {
    let what = phase
        .map_or_else(|| "claimed the whole ticket".to_owned(), |phase| format!("claimed “{}”", clean_line(phase, 120)));
    let (mark, role) = match judged {
        Judged::NotYet => ("◐", Role::PhaseClaimed),
        Judged::Done(DoneHow::Verified) => ("✓", Role::PhaseDone),
        Judged::Done(_) => ("✓", Role::PhaseUnchecked),
        Judged::Disputed => ("≠", Role::PhaseDisputed),
    };
    let how = match (judged, checks) {
        (Judged::Done(DoneHow::ClaimedUnchecked), _) => " · not verified: no validation commands".to_owned(),
        (Judged::Done(DoneHow::ClaimedNoChange), _) => " · no files changed".to_owned(),
        (Judged::Done(DoneHow::TickedByPerson), _) => " · ticked by a person".to_owned(),
        (Judged::Disputed, _) => " · disputed".to_owned(),
        (_, []) => String::new(),
        (_, [one]) => format!(" · validated: {}", one.words()),
        (_, all) => format!(
            " · validated: {} of {} commands passed, {} s",
            all.iter().filter(|check| check.passed()).count(),
            all.len(),
            all.iter().map(|check| check.ms).sum::<u64>() / 1000
        ),
    };
    Row::from(vec![Piece::new(format!("{mark} {what}"), role), Piece::new(how, Role::Dim)])
}

fn dispute(why: &str, check: Option<&Check>, columns: usize) -> Vec<Row> {
    let Some(check) = check else { return plain(why, columns, Role::PhaseDisputed, "  ≠ ", 6) };
    // The reason ends with the command's output, which follows below.
    let reason = why.lines().next().unwrap_or_default();
    let mut rows = plain(reason, columns, Role::PhaseDisputed, "  ≠ ", 3);
    rows.extend(plain(&check.words(), columns, Role::StreamError, "    ", 3));
    let mut output = plain(tail(&check.tail, 4_000), columns, Role::StreamResult, "    ", usize::MAX);
    output.drain(..output.len().saturating_sub(TAIL_ROWS));
    rows.extend(output);
    rows
}
