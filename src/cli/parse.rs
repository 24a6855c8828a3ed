//! `programmator parse status|errors`: how a text of Claude's is read, without running anything. Reads a file or
//! stdin, writes JSON for machines or lines for people; the readers themselves live in the domain.

use super::error::CliError;
use super::help;
use crate::base::text::{Clean, clean_line};
use crate::domain::analysis::shape;
use crate::domain::claim::Claim;
use crate::domain::claim::parse::{Reading, Reason};
use crate::domain::errors;
use crate::runtime::headless::Format;
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write, stderr, stdin};
use std::path::{Path, PathBuf};

/// Most bytes that are read: far beyond any answer of Claude's, far below what would hurt.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What a text is read for.
#[derive(Debug, Subcommand)]
pub enum ParseCommand {
    /// Find the status block at the end of an answer.
    #[command(after_help = help::PARSE_STATUS)]
    Status(Source),
    /// Find the lines that report an error.
    #[command(after_help = help::PARSE_ERRORS)]
    Errors {
        /// The text to parse.
        #[command(flatten)]
        source: Source,
        /// Which lines count.
        #[arg(long, value_enum, default_value_t)]
        rule: Rule,
    },
}

/// What makes a line an error.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Rule {
    /// programmator's own rule.
    #[default]
    Programmator,
    /// Exactly Hank's two-stage grep.
    HankLiteral,
}

/// Where the text is, and how to answer.
#[derive(Debug, Args)]
pub struct Source {
    /// A file; `-` or nothing for stdin.
    pub file: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Source {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

/// Reads the text and prints what is in it. Exit code 2 when there is no text to read.
pub fn run(out: &mut dyn Write, command: &ParseCommand) -> Result<(), CliError> {
    match command {
        ParseCommand::Status(source) => status(out, &shape::status(&text(source.file.as_deref())?), source.format())?,
        ParseCommand::Errors { source, rule } => {
            let text = text(source.file.as_deref())?;
            let found = match rule {
                Rule::Programmator => errors::read(&text),
                Rule::HankLiteral => errors::hank_lines(&text),
            };
            errors(out, &found, source.format())?;
        }
    }
    Ok(())
}

/// The last 16 MiB of `file`, where a status block stands; bytes that are no text are replaced, never refused.
fn text(file: Option<&Path>) -> Result<String, CliError> {
    let read = match file.filter(|file| *file != Path::new("-")) {
        None => tail(stdin().lock()),
        Some(file) => File::open(file).and_then(tail),
    };
    let (bytes, skipped) = read.map_err(|error| {
        let name = file.unwrap_or(Path::new("-")).display();
        CliError::usage(format!("cannot read {name}: {error}. Use a readable file, or `-` for stdin"))
    })?;
    if skipped > 0 {
        writeln!(stderr(), "programmator: the text is longer than 16 MiB; only its last 16 MiB were read").ok();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last 16 MiB, and how many bytes stand before them.
fn tail(mut from: impl Read) -> std::io::Result<(Vec<u8>, usize)> {
    let (mut bytes, mut skipped) = (Vec::new(), 0);
    while from.by_ref().take(MAX_BYTES as u64).read_to_end(&mut bytes)? > 0 {
        let surplus = bytes.len().saturating_sub(MAX_BYTES);
        bytes.drain(..surplus);
        skipped += surplus;
    }
    Ok((bytes, skipped))
}

/// The block as machines get it; the fields of an invalid block are empty.
#[derive(Serialize)]
struct StatusView<'a> {
    found: bool,
    valid: bool,
    status: Option<&'static str>,
    phase_completed: Option<&'a str>,
    files_changed: &'a [String],
    summary: &'a str,
    error: Option<&'a str>,
    warnings: &'a [String],
    reason: Option<&'static str>,
}

impl<'a> From<&'a Reading> for StatusView<'a> {
    fn from(reading: &'a Reading) -> Self {
        let claim = reading.claim.as_ref();
        Self {
            found: reading.found,
            valid: claim.is_some(),
            status: claim.map(|claim| claim.status.word()),
            phase_completed: claim.and_then(|claim| claim.phase_completed.as_deref()),
            files_changed: claim.map_or(&[], |claim| &claim.files_changed),
            summary: claim.map_or("", |claim| &claim.summary),
            error: claim.and_then(|claim| claim.error.as_deref()),
            warnings: &reading.warnings,
            reason: reading.reason.map(Reason::word),
        }
    }
}

fn status(out: &mut dyn Write, reading: &Reading, format: Format) -> std::io::Result<()> {
    let view = StatusView::from(reading);
    match format {
        Format::Json => json(out, &view),
        Format::Text => {
            match (view.status, view.reason) {
                (Some(status), _) => row(out, "status", status)?,
                (None, Some("missing") | None) => writeln!(out, "No status block found.")?,
                (None, Some(reason)) => writeln!(out, "Invalid status block: {}.", reason.replace('_', " "))?,
            }
            if view.valid {
                row(out, "phase completed", view.phase_completed.unwrap_or("none"))?;
                let files = view.files_changed.join(", ");
                row(out, "files changed", if files.is_empty() { "none" } else { &files })?;
                row(out, "summary", view.summary)?;
            }
            if let Some(error) = view.error {
                row(out, "error", error)?;
            }
            for (name, value) in reading.claim.iter().flat_map(optional) {
                row(out, name, &value)?;
            }
            view.warnings.iter().try_for_each(|warning| row(out, "warning", warning))
        }
    }
}

/// The optional keys that are there.
fn optional(claim: &Claim) -> Vec<(&'static str, String)> {
    let signals = &claim.signals;
    let rows = [
        ("exit signal", signals.exit_signal.map(|exit| exit.to_string())),
        ("work type", signals.work_type.map(|kind| kind.word().to_owned())),
        ("tests status", signals.tests_status.map(|status| status.word().to_owned())),
        ("tasks completed", signals.tasks_completed.map(|count| count.to_string())),
        ("files modified", signals.files_modified.map(|count| count.to_string())),
        ("recommendation", signals.recommendation.clone()),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A name and what stands behind it, the further lines set in under the first.
fn row(out: &mut dyn Write, name: &str, value: &str) -> std::io::Result<()> {
    let value = Clean::new(value).as_str().trim_end().replace('\n', &format!("\n{:18}", ""));
    writeln!(out, "{}", format!("{name:16}  {value}").trim_end())
}

fn errors(out: &mut dyn Write, found: &errors::Errors, format: Format) -> std::io::Result<()> {
    match format {
        Format::Json => json(out, found),
        Format::Text if found.lines.is_empty() => writeln!(out, "No error lines found."),
        Format::Text => found.lines.iter().try_for_each(|line| {
            writeln!(out, "{:>6}  {:11}  {}", line.line, line.kind.word(), clean_line(&line.text, 300))
        }),
    }
}

fn json<T: Serialize>(out: &mut dyn Write, value: &T) -> std::io::Result<()> {
    writeln!(out, "{}", crate::base::json::line(value)?)
}
