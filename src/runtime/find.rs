//! Looks through the tickets, and the log and what Claude printed of all runs, for as long as it may at once. Blocking:
//! nothing of it is kept between two pieces, and one run is open at a time.

use crate::adapters::store::{Store, StoreError};
use crate::adapters::tickets;
use crate::base::text::Clean;
use crate::domain::find::{Batch, Cursor, Find, InRun, Match, Spot};
use crate::domain::messages::{IterationSummary, LogFormatter, Weight};
use crate::domain::scrollback::{Entry, Scrollback};
use crate::domain::search::{LONGEST, STRETCH, Words};
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunSummary;
use crate::domain::ticket::TicketKey;
use jiff::tz::TimeZone;
use std::cmp::Reverse;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a piece takes on the screen: so often the person sees what is found, and another search waits no longer.
pub const PIECE: Duration = Duration::from_millis(100);
/// Found at most in the log of a run, in all of a run, and in one piece.
const PER_LOG: usize = 10;
const PER_RUN: usize = 40;
const PER_BATCH: usize = 100;
/// Characters of a line before the words, and in all.
const BEFORE: usize = 40;
const LINE: usize = 240;

/// The next piece of a search, of about this long. Runs that are gone or cannot be read are passed over.
pub fn batch(store: &Store, tickets: &Path, find: &Find, long: Duration) -> Result<Batch, StoreError> {
    let Some(words) = Words::among(find.query.trim(), find.only) else { return Ok(Batch::default()) };
    let end = Instant::now() + long;
    let mut matches = Vec::new();
    let from = match &find.from {
        Cursor::Ticket(after) if find.only.is_none() => {
            if let Some(last) = in_tickets(tickets, after.as_deref(), &words, end, &mut matches) {
                let next = Some(Cursor::Ticket(Some(last)));
                return Ok(Batch { matches, next, ..Batch::default() });
            }
            None
        }
        Cursor::Ticket(_) => None,
        Cursor::Run(from) => from.clone(),
    };
    let mut runs = store.runs()?;
    runs.sort_by_key(|run| Reverse((run.started, run.run)));
    let at =
        from.as_ref().map_or(0, |from| runs.partition_point(|run| (run.started, run.run) > (from.started, from.run)));
    let mut from = from;
    for (looked, run) in runs.iter().enumerate().skip(at) {
        let here = from.take().filter(|from| from.run == run.run);
        if here.as_ref().is_some_and(|here| here.iteration == 0) {
            continue;
        }
        if let Some(next) = in_run(store, run, here, &words, end, &mut matches) {
            let next = Some(Cursor::Run(Some(next)));
            return Ok(Batch { matches, next, looked, runs: runs.len() });
        }
        if Instant::now() >= end || matches.len() >= PER_BATCH {
            let next = InRun { run: run.run, started: run.started, iteration: 0, record: 0, found: 0 };
            let next = (looked + 1 < runs.len()).then_some(Cursor::Run(Some(next)));
            return Ok(Batch { matches, next, looked: looked + 1, runs: runs.len() });
        }
    }
    Ok(Batch { matches, next: None, looked: runs.len(), runs: runs.len() })
}

/// Looks at the tickets behind one. The last one where there was no time for more.
fn in_tickets(dir: &Path, after: Option<&str>, words: &Words, end: Instant, out: &mut Vec<Match>) -> Option<String> {
    for path in tickets::files_in(dir).unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if after.is_some_and(|after| name.as_str() <= after) {
            continue;
        }
        let bytes = tickets::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let hits: Vec<(usize, &str)> =
            text.lines().enumerate().filter(|(_, line)| words.shown.is_match(line)).take(PER_RUN).collect();
        if !hits.is_empty()
            && let Ok(ticket) = tickets::load(&path)
        {
            let key = TicketKey::new(ticket.id, &path);
            out.extend(hits.into_iter().filter_map(|(at, line)| {
                let (line, marked) = excerpt(words, line)?;
                let (ticket, title) = (key.clone(), ticket.title.clone());
                Some(Match { ticket, title, spot: Spot::Ticket { line: at as u64 + 1 }, time: None, line, marked })
            }));
        }
        if Instant::now() >= end || out.len() >= PER_BATCH {
            return Some(name);
        }
    }
    None
}

/// Looks at the log of a run. Calls that the gate let through are found in what Claude printed.
fn in_log(store: &Store, run: &RunSummary, words: &Words, out: &mut Vec<Match>) -> usize {
    let Ok(loaded) = store.load(run.run) else { return 0 };
    let (mut formatter, mut iteration) = (LogFormatter::of(TimeZone::system()), 0);
    let lines = loaded.records.iter().filter_map(|stored| {
        iteration = IterationSummary::begun_by(&stored.record).map_or(iteration, |begun| begun.n);
        let line = formatter.line(&stored.record).filter(|line| line.level != Weight::Call)?;
        let (line, marked) = excerpt(words, &line.text)?;
        let (spot, time) = (Spot::Log { run: run.run, iteration }, Some(run.updated));
        Some(Match { ticket: run.key(), title: run.title.clone(), spot, time, line, marked })
    });
    let before = out.len();
    out.extend(lines.take(PER_LOG));
    out.len() - before
}

/// Looks at a run from a place on: its log, then what Claude printed. The next one where there was no time for more.
fn in_run(
    store: &Store,
    run: &RunSummary,
    from: Option<InRun>,
    words: &Words,
    end: Instant,
    out: &mut Vec<Match>,
) -> Option<InRun> {
    let mut here = from.unwrap_or_else(|| {
        let found = if words.only.is_none() { in_log(store, run, words, out) } else { 0 };
        InRun { run: run.run, started: run.started, iteration: u32::MAX, record: 0, found }
    });
    let Ok(scrollback) = store.scrollback(run.run, classify) else { return None };
    for n in scrollback.iterations().into_iter().rev().filter(|n| *n > 0 && *n <= here.iteration).collect::<Vec<_>>() {
        let mut record = if n == here.iteration { here.record } else { 0 };
        let len = scrollback.len(n);
        while record < len {
            let range = record..len.min(record + STRETCH);
            for i in words.hits(&scrollback, n, &range) {
                if here.found >= PER_RUN {
                    return None;
                }
                let Some((line, marked)) = line_of(&scrollback, n, i, words) else { continue };
                let (ticket, title, time) = (run.key(), run.title.clone(), Some(run.updated));
                let spot = Spot::Run { run: run.run, iteration: n, record: i };
                out.push(Match { ticket, title, spot, time, line, marked });
                here.found += 1;
            }
            record = range.end;
            if Instant::now() >= end || out.len() >= PER_BATCH {
                (here.iteration, here.record) = (n, record);
                return Some(here);
            }
        }
    }
    None
}

/// The line with the words in a record.
fn line_of(scrollback: &dyn Scrollback, n: u32, i: usize, words: &Words) -> Option<(String, Range<usize>)> {
    let mut entry: Vec<Entry> = Vec::new();
    scrollback.entries(n, i..i + 1, &mut entry);
    let line = scrollback.read(n, *entry.first()?, LONGEST).ok()?;
    excerpt(words, &words.shown_line(&line)?)
}

/// What of a line is around the words, clean, and where they are in it.
fn excerpt(words: &Words, line: &str) -> Option<(String, Range<usize>)> {
    let line = Clean::new(line).into_string().replace(['\n', '\t'], " ");
    let line = line.trim();
    let found = if words.query.is_empty() { 0..0 } else { words.shown.find(line)?.range() };
    let back = |at: usize| line[..at].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let from = if line.chars().count() <= LINE { 0 } else { back(found.start) };
    let text: String = line[from..].chars().take(LINE).collect();
    let cut = if from > 0 { "… " } else { "" };
    let marked = found.start - from..(found.end - from).min(text.len());
    Some((format!("{cut}{text}"), marked.start + cut.len()..marked.end + cut.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_what_is_around_the_words_is_told() {
        let words = Words::new("needle").unwrap();
        let told = |line: &str| {
            let (line, marked) = excerpt(&words, line).unwrap();
            (line[marked].to_owned(), line)
        };
        assert_eq!(told("\t a NEEDLE here\x1b[2J"), ("NEEDLE".into(), "a NEEDLE here".into()));
        let (marked, line) = told(&format!("{} needle {}", "é".repeat(400), "x".repeat(400)));
        assert_eq!((marked.as_str(), line.chars().count()), ("needle", LINE + 2));
        assert!(line.starts_with("… é"), "{line}");
        assert_eq!(excerpt(&words, "none"), None);
    }
}
