//! Which lines of a text report an error: of a program's output, of Claude's words, or of stream records.
//!
//! Structure first: a line (or a whole text) that is JSON is judged by its fields alone (`errors/structured.rs`).
//! All else is judged by how its line begins (`errors/lines.rs`, by the tables in `errors/patterns.rs`), for a
//! report stands at the head of a line and a mention does not. The status block is a claim and no evidence,
//! so its lines are passed over. Hank's own rule lives in `errors/hank.rs`. Telling one error from another for
//! "the same error again" is the work of [`super::claim::fingerprint`]. Time is linear in the text.

mod block;
mod hank;
mod lines;
mod patterns;
mod structured;

pub use hank::{hank_lines, hank_literal};

use crate::base::text::clean_line;
use block::Extent;
use serde::Serialize;
use structured::Structure;

/// Columns of an error line that are kept; the head tells what it is.
const SHOWN_COLUMNS: usize = 300;

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
    /// Who reports it.
    pub kind: ErrorKind,
    /// What it says: one clean line of at most 300 columns. Of a JSON record, its message.
    pub text: String,
}

/// Who reports an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// A `result` record of Claude's: `is_error`, or an `error_*` subtype.
    Result,
    /// A `tool_result` with `is_error`.
    ToolResult,
    /// The provider's API, by its error type or Claude's `API Error`.
    Api,
    /// Any other JSON that says so: `error`, `has_errors`, `error_count`, `level`.
    Json,
    /// A compiler or a linter.
    Compiler,
    /// The linker.
    Linker,
    /// A build tool: make, ninja, gradle, maven, bundlers, go.
    Build,
    /// A panic of Rust or Go.
    Panic,
    /// An exception that nobody caught, or a traceback.
    Exception,
    /// A process killed by a signal, or that ran out of memory.
    Crash,
    /// Git.
    Git,
    /// A package manager.
    Package,
    /// The shell or a system's tool: not found, permission denied, a failing exit code.
    Shell,
    /// A test that failed.
    Test,
    /// An HTTP answer of 400 and above.
    Http,
    /// A log line of level error or above.
    Log,
    /// Anything else that begins with `error:` or `fatal:`.
    Error,
}

impl ErrorKind {
    /// The word for people; the same that machines get.
    pub fn word(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::ToolResult => "tool_result",
            Self::Api => "api",
            Self::Json => "json",
            Self::Compiler => "compiler",
            Self::Linker => "linker",
            Self::Build => "build",
            Self::Panic => "panic",
            Self::Exception => "exception",
            Self::Crash => "crash",
            Self::Git => "git",
            Self::Package => "package",
            Self::Shell => "shell",
            Self::Test => "test",
            Self::Http => "http",
            Self::Log => "log",
            Self::Error => "error",
        }
    }
}

/// Reads `text` for lines that report errors.
pub fn read(text: &str) -> Errors {
    let lines = structured::whole(text).unwrap_or_else(|| by_line(text));
    Errors { is_error: !lines.is_empty(), lines }
}

fn by_line(text: &str) -> Vec<ErrorLine> {
    let mut found = Vec::new();
    let mut extent = Extent::default();
    let mut lines = text.split('\n').zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        if extent.holds(line) {
            continue;
        }
        let next = lines.peek().map_or("", |(next, _)| *next);
        match structured::line(line) {
            Structure::Error(kind, said) => found.push(error_line(number, kind, &said)),
            Structure::Fine => {}
            Structure::None => {
                found.extend(lines::judge(line, next).map(|(kind, said)| error_line(number, kind, &said)));
            }
        }
    }
    found
}

fn error_line(line: usize, kind: ErrorKind, said: &str) -> ErrorLine {
    ErrorLine { line, kind, text: clean_line(lines::head(said), SHOWN_COLUMNS) }
}

#[cfg(test)]
mod tests;
