//! A run, or one iteration of it, as a file: for people (Markdown), for machines (JSONL), to be watched (asciinema).
//!
//! What is written, and in which order, is in `export::stored`.

mod cast;
mod markdown;
pub mod stored;

use crate::adapters::beside;
use crate::base::json;
use crate::domain::export::Format;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use stored::{Exported, Item};

/// Makes a file that only its owner can read, where there is none. It has another name until it is whole; what could not be
/// written is removed again.
pub fn create(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let begun = beside::file(path)?;
    let mut out = BufWriter::new(begun);
    fill(&mut out)?;
    out.flush()?;
    let whole = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    whole.persist_noclobber(path).map(drop).map_err(|failed| failed.error)
}

/// Writes the run.
pub fn write(out: &mut dyn Write, run: &Exported<'_>, format: Format) -> io::Result<()> {
    match format {
        Format::Markdown => markdown::write(out, run),
        Format::Jsonl => jsonl(out, run),
        Format::Cast => cast::write(out, run),
    }
}

/// One record a line as `logs --json` prints it, and each line of Claude's as `{"kind":"stream","iteration":…,"line":…}`.
fn jsonl(out: &mut dyn Write, run: &Exported<'_>) -> io::Result<()> {
    run.each(|item| {
        let line = match item {
            Item::Record(stored) => json::line(stored)?,
            Item::Said(n, line, _) => {
                let value = serde_json::from_slice(&line)
                    .unwrap_or_else(|_| serde_json::Value::from(String::from_utf8_lossy(&line).into_owned()));
                json::line(&json!({ "kind": "stream", "iteration": n, "line": value }))?
            }
        };
        writeln!(out, "{}", run.secrets.mask(line))
    })
}
