//! JSON of another program that cannot be read, in words for the person.

/// What was expected, and where it is something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not {what}: line {line} {why}")]
pub struct Unread {
    what: &'static str,
    /// From 1.
    line: usize,
    why: &'static str,
}

impl Unread {
    /// `what` is wanted, and so many lines stand `before` what was read.
    pub(super) fn of(what: &'static str, before: usize, error: &serde_json::Error) -> Self {
        let why = if error.is_data() { "has an unexpected value" } else { "is not JSON" };
        Self { what, line: before + error.line().max(1), why }
    }
}
