//! `programmator search`: words in the tickets here, and in the log and in what Claude said, ran and changed of every run.

use super::error::CliError;
use super::nothing;
use super::options::whole;
use super::session::Session;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::find::{Cursor, Find, Match, Spot};
use crate::domain::search::Only;
use crate::runtime::find::batch;
use crate::runtime::headless::Format;
use clap::{Args, ValueEnum};
use std::io::Write;
use std::time::Duration;

/// How long is looked until what was found is printed.
const PIECE: Duration = Duration::from_millis(200);

/// What is looked for.
#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// The words to search for; case-insensitive.
    #[arg(value_name = "WORDS", required_unless_present = "only")]
    pub words: Vec<String>,
    /// Search only these records; without words, list them.
    #[arg(long, value_name = "KIND")]
    pub only: Option<Kind>,
    /// Stop after this many matches.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 500, value_parser = whole)]
    pub limit: usize,
    /// Print one JSON object per line instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Which records count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Tool calls.
    Tools,
    /// Failed calls and turns.
    Errors,
    /// Calls that change a file.
    Edits,
}

impl From<Kind> for Only {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Tools => Self::Tools,
            Kind::Errors => Self::Errors,
            Kind::Edits => Self::Edits,
        }
    }
}

/// Prints what is found as it is found. The exit code: 1 where that is nothing.
pub fn run(out: &mut dyn Write, session: &Session, args: &SearchArgs) -> Result<u8, CliError> {
    let store = session.store_to_read()?;
    let resolved = session.resolve(&session.folder)?;
    let dir = session.places(&resolved).dir();
    let dir = dir.canonicalize().unwrap_or(dir);
    let format = if args.json { Format::Json } else { Format::Text };
    let mut printer = Printer { out, format, now: session.clock().now(), last: None };
    let mut find = Find { query: args.words.join(" "), only: args.only.map(Into::into), from: Cursor::default() };
    let mut left = args.limit;
    loop {
        let batch = batch(&store, &dir, &find, PIECE)?;
        for found in batch.matches.iter().take(left) {
            printer.print(found)?;
        }
        left = left.saturating_sub(batch.matches.len());
        match batch.next.filter(|_| left > 0) {
            Some(next) => find.from = next,
            None => break,
        }
    }
    let is_empty = printer.last.is_none();
    if is_empty {
        nothing::found();
    }
    Ok(u8::from(is_empty))
}

struct Printer<'a> {
    out: &'a mut dyn Write,
    format: Format,
    now: Timestamp,
    last: Option<String>,
}

impl Printer<'_> {
    fn print(&mut self, found: &Match) -> Result<(), CliError> {
        let place = match found.spot {
            Spot::Ticket { line } => format!("line {line}"),
            Spot::Run { iteration, .. } => format!("iteration {iteration}"),
            Spot::Log { .. } => "log".to_owned(),
        };
        let age = || {
            let ago = |time| format!(" · {} ago", crate::base::time::short(self.now.since(time)));
            found.time.map_or_else(String::new, ago)
        };
        let head = found.spot.run().map_or_else(|| "ticket".to_owned(), |run| format!("run {}{}", run.short(), age()));
        let head = format!("{}  {} · {head}", found.ticket, clean_line(&found.title, 200));
        let is_new = self.last.as_ref() != Some(&head);
        if self.format == Format::Json {
            writeln!(self.out, "{}", serde_json::to_string(found)?)?;
        } else {
            if is_new {
                let gap = if self.last.is_some() { "\n" } else { "" };
                writeln!(self.out, "{gap}{head}")?;
            }
            writeln!(self.out, "  {place}: {}", found.line)?;
        }
        self.last = Some(head);
        Ok(())
    }
}
