//! A line about a record, and how much it wants to be read.

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

pub(super) fn quoted(phase: Option<&str>) -> String {
    phase.map_or_else(|| "the whole ticket".into(), |phase| format!("“{phase}”"))
}
