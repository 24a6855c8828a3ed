//! A line about a record, how long it is, and how much it wants to be read.

use crate::base::text::clean_line;

/// Longest line in columns; tails and messages are cut there.
pub(super) const WIDEST: usize = 400;
/// The same of our own sentences: what to do stands at their end.
pub(super) const WIDEST_OURS: usize = 2_000;

/// How much a line wants to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// A tool call that the gate let through.
    Call,
    Info,
    /// A decision of the gate against a call.
    Gate,
    Warn,
    Error,
}

impl Weight {
    /// Every weight, lightest first.
    pub const ALL: [Self; 5] = [Self::Call, Self::Info, Self::Gate, Self::Warn, Self::Error];

    /// Five columns for people: `CALL `, `INFO `, `GATE `, `WARN `, `ERROR`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Call => "CALL ",
            Self::Info => "INFO ",
            Self::Gate => "GATE ",
            Self::Warn => "WARN ",
            Self::Error => "ERROR",
        }
    }
}

/// One line about one record; safe to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How much it wants to be read.
    pub level: Weight,
    /// The sentence: one line, no control characters.
    pub text: String,
}

impl Line {
    /// The sentence in at most so many columns.
    pub(super) fn of(level: Weight, text: &str, widest: usize) -> Self {
        Self { level, text: clean_line(text, widest) }
    }
}

pub(super) fn quoted(phase: Option<&str>) -> String {
    phase.map_or_else(|| "the whole ticket".into(), |phase| format!("“{phase}”"))
}
