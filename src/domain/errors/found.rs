//! What came of reading a text for errors.

use super::kind::ErrorKind;
use super::lines;
use crate::base::text::clean_line;
use serde::Serialize;

/// Columns of an error line that are kept; the head tells what it is.
pub(super) const SHOWN_COLUMNS: usize = 300;

/// What came of reading a text for errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// At least one line reports an error.
    pub is_error: bool,
    /// Those lines, in the text's order.
    pub lines: Vec<ErrorLine>,
}

/// A line that reports an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorLine {
    /// Its number in the text, from 1.
    pub line: usize,
    pub kind: ErrorKind,
    /// What it says: one clean line of at most 300 columns. Of a JSON record, its message.
    pub text: String,
}

pub(super) fn error_line(line: usize, kind: ErrorKind, said: &str) -> ErrorLine {
    ErrorLine { line, kind, text: clean_line(lines::head(said), SHOWN_COLUMNS) }
}
