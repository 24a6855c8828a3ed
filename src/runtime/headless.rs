//! The front end without a screen: one line for each fact, for people or (NDJSON) for machines.

use crate::adapters::store::Store;
use crate::base::id::{RunId, TicketId};
use crate::base::json;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::limits::Parking;
use crate::domain::messages::{LogFormatter, Weight, wait_words};
use crate::domain::news::News;
use crate::domain::record::{Record, Stored};
use crate::domain::request::Refused;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
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
    seen: HashMap<RunId, (u64, LogFormatter)>,
    /// Runs that wait for a limit.
    parked: BTreeMap<TicketId, Parking>,
}

/// A ticket that waits to be started.
#[derive(Serialize)]
struct Waits<'a> {
    ticket: &'a str,
    why: &'a str,
}

/// A ticket that was not started.
#[derive(Serialize)]
struct Left<'a> {
    ticket: &'a str,
    message: &'a str,
    exit_code: u8,
}

impl<W: Write> Printer<W> {
    /// A printer; times are shown in `zone`.
    pub fn new(out: W, format: Format, zone: jiff::tz::TimeZone) -> Self {
        Self { out, format, zone, seen: HashMap::new(), parked: BTreeMap::new() }
    }

    /// Prints what the news says. The store is the source: news that was lost on the way is read from there.
    /// Fails when `out` is gone.
    pub fn print(&mut self, news: &News, store: &Store) -> io::Result<()> {
        match news {
            News::RunOpened { run, earlier, records, .. } => {
                if !self.seen.contains_key(run) {
                    // What a run that is resumed did before was printed in its time; what it named then is still known.
                    let mut formatter = LogFormatter::of(self.zone.clone());
                    let before =
                        if *earlier > 0 { store.load(*run).map_err(io::Error::other)?.records } else { vec![] };
                    for stored in before.iter().filter(|stored| stored.seq <= *earlier) {
                        formatter.line(&stored.record);
                    }
                    self.seen.insert(*run, (*earlier, formatter));
                }
                for stored in records {
                    self.record(stored)?;
                }
            }
            News::Recorded(stored) => {
                let seen = self.seen.get(&stored.run).map_or(0, |(seen, _)| *seen);
                if stored.seq == seen + 1 {
                    self.record(stored)?;
                } else if stored.seq > seen {
                    self.catch_up(stored.run, store)?;
                }
            }
            // For people `cli::headless` says it and other trouble on stderr.
            News::StorageAwaited(waiting) if self.format == Format::Json => self.fact("storage_awaited", waiting)?,
            News::Queued(ticket, Some(why)) => match self.format {
                Format::Json => self.fact("queued", &Waits { ticket: ticket.as_str(), why })?,
                Format::Text => writeln!(self.out, "{ticket}  waits: {}", clean_line(why, 1_000))?,
            },
            News::NotStarted(refused) if self.format == Format::Json => {
                let Refused { ticket, message, exit_code, .. } = refused;
                self.fact("not_started", &Left { ticket: ticket.as_str(), message, exit_code: *exit_code })?;
            }
            News::RunLeft(left) if self.format == Format::Json => self.fact("run_left", left)?,
            News::SourceReplied { ticket, message } if self.format == Format::Text => {
                writeln!(self.out, "{ticket}  {}", clean_line(message, 1_000))?;
            }
            _ => return Ok(()),
        }
        self.out.flush()
    }

    /// Prints what is no record, because it cannot be one: it has a kind, and no `seq`.
    fn fact(&mut self, kind: &str, fact: &impl Serialize) -> io::Result<()> {
        #[derive(Serialize)]
        struct Fact<'a, T> {
            kind: &'a str,
            #[serde(flatten)]
            fact: &'a T,
        }
        writeln!(self.out, "{}", json::line(&Fact { kind, fact })?)
    }

    /// Prints what is stored of every run and was not told: the last words before the program goes.
    pub fn finish(&mut self, store: &Store) -> io::Result<()> {
        let runs: Vec<RunId> = self.seen.keys().copied().collect();
        for run in runs {
            self.catch_up(run, store)?;
        }
        self.out.flush()
    }

    fn catch_up(&mut self, run: RunId, store: &Store) -> io::Result<()> {
        let seen = self.seen.get(&run).map_or(0, |(seen, _)| *seen);
        for stored in store.load_after(run, seen).map_err(io::Error::other)?.records {
            self.record(&stored)?;
        }
        Ok(())
    }

    /// Prints how long parked runs still wait; machines read the time from the record.
    pub fn countdown(&mut self, now: Timestamp) -> io::Result<()> {
        if self.format == Format::Text {
            for (ticket, parking) in &self.parked {
                let (time, wait) = (now.clock_time(&self.zone), wait_words(parking, now));
                let about = clean_line(&parking.about, 200);
                writeln!(self.out, "{time} {:5} {ticket}  parked: {about}; {wait}", Weight::Info.word())?;
            }
        }
        self.out.flush()
    }

    /// Prints one record unless it was printed before.
    pub fn record(&mut self, stored: &Stored) -> io::Result<()> {
        let (seen, formatter) = self.seen.entry(stored.run).or_default();
        if stored.seq <= *seen {
            return Ok(());
        }
        *seen = stored.seq;
        match &stored.record {
            Record::Parked(parking) => drop(self.parked.insert(stored.ticket.clone(), parking.clone())),
            Record::Unparked | Record::RunEnded { .. } | Record::IterationEnded { .. } => {
                self.parked.remove(&stored.ticket);
            }
            _ => {}
        }
        match self.format {
            Format::Json => writeln!(self.out, "{}", json::line(stored)?),
            Format::Text => match formatter.line(&stored.record) {
                Some(line) => {
                    let time = stored.time.clock_time(&self.zone);
                    writeln!(self.out, "{time} {:5} {}  {}", line.level.word(), stored.ticket, line.text)
                }
                None => Ok(()),
            },
        }
    }
}
