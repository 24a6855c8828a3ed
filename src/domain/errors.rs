//! Which lines of a text report an error: of a program's output, of Claude's words, or of stream records.
//!
//! Structure first: a line (or a whole text) that is JSON is judged by its fields alone (`errors/structured.rs`).
//! All else is judged by how its line begins (`errors/lines.rs`, by the tables in `errors/patterns.rs`), for a
//! report stands at the head of a line and a mention does not. The status block is a claim and no evidence,
//! so its lines are passed over. Hank's own rule lives in `errors/hank.rs`. Telling one error from another for
//! "the same error again" is the work of [`super::claim::fingerprint`]. Time is linear in the text.

mod block;
mod found;
mod hank;
mod kind;
mod lines;
mod patterns;
mod structured;

pub use found::{ErrorLine, Errors};
pub use hank::{hank_lines, hank_literal};
pub use kind::ErrorKind;

use block::Extent;
use found::error_line;
use structured::Structure;

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

#[cfg(test)]
mod tests;
