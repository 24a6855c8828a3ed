//! What programmator itself says between Claude's words: verdicts, disputes, notes to Claude, notices.
//!
//! A mark may learn more after it is drawn (a note is read, a claim is judged): its words change, its number of rows
//! does not.

use super::card;
use super::layout::{Body, Group, notice, output};
use super::plain::plain;
use super::row::Row;
use super::verdict::{BAR, Check, Judged};
use crate::base::text::{clean_line, tail};
use crate::base::time::human;
use crate::domain::note::NoteStage;
use crate::domain::outcome::IterationOutcome;
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
    /// What it is for, where that is not work on the ticket.
    pub(super) step: Option<String>,
    pub(super) resumed: bool,
    pub(super) cost_usd: f64,
    /// Time in milliseconds, once it is over.
    pub(super) ms: Option<u64>,
}

/// One thing said between Claude's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Notice { level: Level, text: String },
    Note { id: String, text: String, state: NoteStage },
    Claim { phase: Option<String>, checks: Vec<Check>, judged: Judged },
    Dispute { why: String, check: Option<Check> },
}

/// What cut an iteration off; `None`: nothing did, or it is told already.
pub(super) fn cut_words(outcome: IterationOutcome, is_told: bool) -> Option<&'static str> {
    Some(match outcome {
        IterationOutcome::TimedOut | IterationOutcome::Idle | IterationOutcome::Interrupted if is_told => return None,
        IterationOutcome::Claimed | IterationOutcome::NoClaim | IterationOutcome::Failed => return None,
        IterationOutcome::TimedOut => "timed out: the iteration took too long",
        IterationOutcome::Idle => "timed out: no output from Claude for too long",
        IterationOutcome::Interrupted => "interrupted",
        IterationOutcome::Parked => "rate limited; iteration not counted",
        IterationOutcome::CutOff => "interrupted: its process has exited",
    })
}

/// The rule above iteration `n`.
pub(super) fn divider(n: u32, head: &Head, columns: usize) -> Body {
    let right = match head.ms {
        Some(ms) => format!(" ${:.2} · {} ──", head.cost_usd, human(Duration::from_millis(ms))),
        None => "──".to_owned(),
    };
    let resumed = if head.resumed { "· resumed " } else { "" };
    let step = head.step.as_ref().map(|step| format!("· {step} ")).unwrap_or_default();
    let mut title = format!("── iteration {n} {step}");
    if let Some(phase) = &head.phase {
        let taken = title.width() + resumed.width() + right.width() + "·  ──".width();
        let room = columns.saturating_sub(taken).max(8);
        title = format!("{title}· {} ", clean_line(phase, room));
    }
    title.push_str(resumed);
    let fill = columns.saturating_sub(title.width() + right.width());
    title.push_str(&"─".repeat(fill));
    let row = Row::from(vec![Piece::new(title, Role::StreamDivider), Piece::new(right, Role::StreamDivider)]);
    Body { rows: vec![row], first: Group::Divider, last: Group::Divider, ..Body::default() }
}

/// A mark's rows.
pub(super) fn body(mark: &Mark, columns: usize) -> Body {
    let rows = match mark {
        Mark::Notice { level, text } => notice(*level, text, columns),
        Mark::Note { text, state, .. } => note(text, *state, columns),
        Mark::Claim { phase, checks, judged } => vec![card::claim(phase.as_deref(), checks, *judged)],
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

/// Why a claim is not believed, below its card.
fn dispute(why: &str, check: Option<&Check>, columns: usize) -> Vec<Row> {
    let columns = columns.saturating_sub(BAR.width()).max(1);
    let mut rows = match check {
        None => plain(why, columns, Role::PhaseDisputed, "≠ ", 6),
        // The reason ends with the command's output, which follows below.
        Some(_) => plain(why.lines().next().unwrap_or_default(), columns, Role::PhaseDisputed, "≠ ", 3),
    };
    if let Some(check) = check {
        let mut printed = output(tail(&check.tail, 4_000), true, columns, usize::MAX);
        printed.drain(..printed.len().saturating_sub(TAIL_ROWS));
        rows.extend(printed);
    }
    for row in &mut rows {
        row.left.insert(0, Piece::new(BAR, Role::PhaseDisputed));
    }
    rows
}
