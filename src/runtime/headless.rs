//! The front end without a screen: one line for each fact, for people or (NDJSON) for machines.

use crate::base::text::clean_line;
use crate::domain::news::News;
use crate::domain::record::{Record, Stored};
use crate::domain::words::Teller;
use std::io::{self, Write};

/// How facts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A readable line each.
    Text,
    /// The stored record as JSON.
    Json,
}

/// Prints news to `out`.
pub struct Printer<W> {
    out: W,
    format: Format,
    zone: jiff::tz::TimeZone,
    /// Last record printed of each run: what is told twice is printed once.
    seen: std::collections::HashMap<crate::base::id::RunId, (u64, Teller)>,
}

impl<W: Write> Printer<W> {
    /// A printer; times are shown in `zone`.
    pub fn new(out: W, format: Format, zone: jiff::tz::TimeZone) -> Self {
        Self { out, format, zone, seen: std::collections::HashMap::new() }
    }

    /// Prints what the news says. Fails when `out` is gone.
    pub fn print(&mut self, news: &News) -> io::Result<()> {
        match news {
            News::RunOpened { records, .. } => {
                // Of a run that is gone on with, the past has been printed in its time.
                let begins = records.iter().rposition(|stored| is_beginning(&stored.record)).unwrap_or(0);
                for stored in &records[begins..] {
                    self.record(stored)?;
                }
            }
            News::Recorded(stored) => self.record(stored)?,
            News::RunFailed { ticket, message, .. } if self.format == Format::Text => {
                writeln!(self.out, "{ticket}  {}", clean_line(message, 1_000))?;
            }
            News::Trouble { ticket, message } if self.format == Format::Text => {
                writeln!(self.out, "{ticket}  {}", clean_line(message, 1_000))?;
            }
            _ => return Ok(()),
        }
        self.out.flush()
    }

    /// Prints one record unless it was printed before.
    pub fn record(&mut self, stored: &Stored) -> io::Result<()> {
        let (seen, teller) = self.seen.entry(stored.run).or_default();
        if stored.seq <= *seen {
            return Ok(());
        }
        *seen = stored.seq;
        match self.format {
            Format::Json => {
                serde_json::to_writer(&mut self.out, stored)?;
                writeln!(self.out)
            }
            Format::Text => match teller.line(&stored.record) {
                Some(line) => {
                    let time = stored.time.clock_time(&self.zone);
                    writeln!(self.out, "{time} {:5} {}  {}", line.level.word(), stored.ticket, line.text)
                }
                None => Ok(()),
            },
        }
    }
}

fn is_beginning(record: &Record) -> bool {
    matches!(record, Record::RunStarted { .. } | Record::RunResumed { .. })
}
