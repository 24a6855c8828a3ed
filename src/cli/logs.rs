//! `programmator logs`: the records of a run, and those to come.

use super::error::CliError;
use super::session::Session;
use crate::domain::record::Record;
use crate::runtime::headless::{Format, Printer};
use crate::runtime::supervisor::Typed;
use std::io::Write;

/// Whether to wait for more records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// What is there.
    No,
    /// Until the run has ended.
    Yes,
}

/// Prints the records of the run that `text` names.
pub async fn print(
    out: &mut (dyn Write + Send),
    session: &Session,
    text: &str,
    format: Format,
    follow: Follow,
) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let run = session.find_run(&store, text, Typed::Part)?.run;
    let mut printer = Printer::new(out, format, jiff::tz::TimeZone::system());
    let mut follower = store.follow(run, 0)?;
    let mut ended = false;
    let mut loaded = store.load(run)?;
    loop {
        for skipped in &loaded.skipped {
            tracing::warn!(seq = skipped.seq, kind = skipped.kind, why = skipped.why, "a record cannot be read");
        }
        for stored in &loaded.records {
            printer.record(stored)?;
            ended = match stored.record {
                Record::RunEnded { .. } => true,
                Record::RunResumed { .. } => false,
                _ => ended,
            };
        }
        if follow == Follow::No || ended {
            return Ok(());
        }
        loaded = follower.next().await?;
    }
}
