//! `programmator export`: a run, or one iteration of it, as a file.

use super::error::CliError;
use super::in_force;
use super::session::Session;
use crate::domain::export::Format;
use crate::domain::scrollback::Scrollback as _;
use crate::domain::stream::envelope::classify;
use crate::runtime::export::stored::{Exported, Secrets};
use crate::runtime::export::{create, write};
use crate::runtime::supervisor::Typed;
use clap::{Args, ValueEnum};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// What is exported, and where to.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A run id or its last characters, or a ticket.
    pub run: String,
    /// Format of the file.
    #[arg(long = "as", value_enum, default_value_t)]
    pub form: Form,
    /// Only this iteration.
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
    /// File to write; must not exist. Without it the export is printed.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The forms of an export.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Form {
    /// Markdown, for reading.
    #[default]
    Md,
    /// One JSON object per line: the records and Claude's output.
    Jsonl,
    /// A recording for `asciinema play`.
    Cast,
}

/// Writes the export. Fails without a trace when the file is there already.
pub fn run(out: &mut dyn Write, session: &Session, args: &ExportArgs) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let summary = session.find_run(&store, &args.run, Typed::Part)?;
    let scrollback = store.scrollback(summary.run, classify)?;
    let records = store.load(summary.run)?.records;
    if let Some(n) = args.iteration.filter(|n| !scrollback.iterations().contains(n)) {
        let known = scrollback.iterations();
        let last = known.last().map_or_else(|| "it has none".to_owned(), |last| format!("its last one is {last}"));
        return Err(CliError::usage(format!("there is no iteration {n} in this run; {last}")));
    }
    let secrets = session.resolve(&session.folder).map(|resolved| in_force::secrets(session, &resolved));
    let exported = Exported {
        summary: &summary,
        records: &records,
        scrollback: &scrollback,
        iteration: args.iteration,
        secrets: secrets.unwrap_or_else(|_| Secrets::of(&session.environment)),
        zone: jiff::tz::TimeZone::system(),
    };
    let format = match args.form {
        Form::Md => Format::Markdown,
        Form::Jsonl => Format::Jsonl,
        Form::Cast => Format::Cast,
    };
    let Some(path) = &args.output else { return Ok(write(out, &exported, format)?) };
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            CliError::usage(format!("{} exists; name another file, or remove it first", path.display()))
        }
        _ => CliError::cannot_write(path, &error),
    };
    create(path, |file| write(file, &exported, format)).map_err(failed)?;
    writeln!(out, "{}", path.display())?;
    Ok(())
}
