//! Finding words in the pane. The log file is searched as it lies on disk, a stretch a frame, and a hit counts
//! when the words are in the rows that the record shows, or shows in full: then it is opened there.

use super::book::Book;
use super::order::Place;
use super::window::Spot;
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::Piece;
use ratatui::style::Modifier;
use regex::{Regex, RegexBuilder, bytes};
use std::ops::Range;

/// Bytes of the log file that one frame may search.
const STRETCH: u64 = 8 << 20;
/// Bytes read at once.
const CHUNK: u64 = 1 << 20;
/// Records looked up at once.
const BATCH: usize = 1_024;
/// Records that one frame may lay out to look for the words in their rows.
const LAID: usize = 256;

/// Which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Down,
    Up,
}

#[derive(Clone, Copy, Debug)]
struct Hunt {
    way: Way,
    n: u32,
    place: Place,
    /// Rows of the first place that do not count: up to and with it (down), or from it on (up).
    from: Option<usize>,
    start: Spot,
    /// It went on at the other end.
    wrapped: bool,
}

/// Words looked for.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) query: String,
    raw: bytes::Regex,
    shown: Regex,
    pub(super) hit: Option<Spot>,
    hunt: Option<Hunt>,
    /// Nothing was found.
    pub(super) missing: bool,
}

impl Search {
    /// Looks for `query` as it stands, without regard to case. `None` for an empty query.
    pub(super) fn new(query: &str) -> Option<Self> {
        if query.is_empty() {
            return None;
        }
        // As it stands in the log file, where JSON escapes quotes and backslashes.
        let json = serde_json::to_string(query).ok()?;
        let raw = regex::escape(json.trim_start_matches('"').strip_suffix('"')?);
        Some(Self {
            query: query.to_owned(),
            raw: bytes::RegexBuilder::new(&raw).case_insensitive(true).build().ok()?,
            shown: RegexBuilder::new(&regex::escape(query)).case_insensitive(true).build().ok()?,
            hit: None,
            hunt: None,
            missing: false,
        })
    }

    /// It is still looking.
    pub(super) fn busy(&self) -> bool {
        self.hunt.is_some()
    }

    /// Starts at a row. `including` it for a new search, else beyond it.
    pub(super) fn start(&mut self, way: Way, spot: Spot, from: Option<usize>) {
        self.missing = false;
        self.hunt = Some(Hunt { way, n: spot.n, place: spot.place, from, start: spot, wrapped: false });
    }

    /// Looks on for one frame. The spot is a new hit.
    pub(super) fn step(&mut self, book: &mut Book) -> Option<Spot> {
        let mut hunt = self.hunt.take()?;
        let mut bytes = STRETCH;
        for _ in 0..LAID {
            let rows = self.hits(book, hunt.n, hunt.place);
            let row = match (hunt.way, hunt.from.take()) {
                (Way::Down, from) => rows.into_iter().find(|row| from.is_none_or(|from| *row > from)),
                (Way::Up, from) => rows.into_iter().rev().find(|row| from.is_none_or(|from| *row < from)),
            };
            if let Some(row) = row {
                let spot = Spot { n: hunt.n, place: hunt.place, row };
                self.hit = Some(spot);
                return Some(spot);
            }
            if !self.advance(book, &mut hunt, &mut bytes) {
                self.missing = true;
                return None;
            }
            if bytes == 0 {
                break;
            }
        }
        self.hunt = Some(hunt);
        None
    }

    /// Goes to the next place that may hold the words. `false`: all was seen.
    fn advance(&self, book: &Book, hunt: &mut Hunt, bytes: &mut u64) -> bool {
        let journal = &book.journal;
        let next = match hunt.way {
            Way::Down => journal.next(hunt.n, hunt.place),
            Way::Up => journal.prev(hunt.n, hunt.place),
        };
        let next = next.or_else(|| {
            if std::mem::replace(&mut hunt.wrapped, true) {
                return None;
            }
            match hunt.way {
                Way::Down => journal.first(),
                Way::Up => journal.last(),
            }
        });
        let Some((n, place)) = next else { return false };
        (hunt.n, hunt.place) = (n, place);
        if let Place::Entry(i) = place {
            let marks = journal.get(n).map(|segment| &segment.marks);
            let marks = marks.into_iter().flatten().map(|mark| mark.0);
            let len = journal.get(n).map_or(0, |segment| segment.len);
            // Up to the next mark, which is no part of the log file.
            let range = match hunt.way {
                Way::Down => i..marks.filter(|at| *at > i).min().unwrap_or(len).max(i + 1),
                Way::Up => marks.filter(|at| *at <= i).max().unwrap_or(0)..i + 1,
            };
            hunt.place = Place::Entry(self.scan(book, n, range, hunt.way, bytes));
        }
        if hunt.wrapped {
            let order = |n, place| book.journal.order(n, place);
            let here = order(hunt.n, hunt.place);
            let start = order(hunt.start.n, hunt.start.place);
            return match hunt.way {
                Way::Down => here <= start,
                Way::Up => here >= start,
            };
        }
        true
    }

    /// The first record of `range`, in the search's direction, whose bytes hold the words; else the last one looked at.
    fn scan(&self, book: &Book, n: u32, mut range: Range<usize>, way: Way, bytes: &mut u64) -> usize {
        let mut reached = match way {
            Way::Down => range.start,
            Way::Up => range.end - 1,
        };
        while !range.is_empty() && *bytes > 0 {
            let batch = match way {
                Way::Down => range.start..range.end.min(range.start + BATCH),
                Way::Up => range.end.saturating_sub(BATCH).max(range.start)..range.end,
            };
            let mut spans: Vec<(usize, Range<u64>)> = book
                .entries(n, batch.clone())
                .iter()
                .map(|entry| entry.offset..entry.offset + entry.len() as u64)
                .enumerate()
                .map(|(index, span)| (batch.start + index, span))
                .collect();
            if way == Way::Up {
                spans.reverse();
            }
            let mut rest = spans.as_slice();
            while let Some((_, first)) = rest.first().filter(|_| *bytes > 0) {
                let near = rest.iter().take_while(|(_, span)| distance(first, span) <= CHUNK);
                let (group, beyond) = rest.split_at(near.count().max(1));
                let ends = [&group[0].1, &group[group.len() - 1].1];
                let whole = ends[0].start.min(ends[1].start)..ends[0].end.max(ends[1].end);
                let read = book.stretch(n, &whole, CHUNK as usize);
                *bytes = bytes.saturating_sub(read.len() as u64 + 1);
                for (i, span) in group {
                    reached = *i;
                    let within = |at: u64| ((at - whole.start) as usize).min(read.len());
                    if self.raw.is_match(&read[within(span.start)..within(span.end)]) {
                        return reached;
                    }
                }
                rest = beyond;
            }
            match way {
                Way::Down => range.start = reached + 1,
                Way::Up => range.end = reached,
            }
            if spans.is_empty() {
                break;
            }
        }
        reached
    }

    /// The rows of a place that hold the words. Words that the wrapping tore apart count for the first row.
    fn hits(&self, book: &mut Book, n: u32, place: Place) -> Vec<usize> {
        let rows = self.visible(book, n, place);
        if !rows.is_empty() || !book.open(n, place) {
            return rows;
        }
        let rows = self.visible(book, n, place);
        if rows.is_empty() {
            book.close(n, place);
        }
        rows
    }

    /// Those among the rows as they are drawn: what is cut at the edge does not count.
    fn visible(&self, book: &mut Book, n: u32, place: Place) -> Vec<usize> {
        let item = book.item(n, place);
        let texts: Vec<String> = (0..item.height()).map(|row| book.drawn(&item.row(row))).collect();
        let rows: Vec<usize> = (0..texts.len()).filter(|row| self.shown.is_match(&texts[*row])).collect();
        if rows.is_empty() && self.shown.is_match(&texts.join(" ")) {
            return vec![0];
        }
        rows
    }

    /// Marks the words in a row.
    pub(super) fn highlight(&self, pieces: Vec<Piece>, current: bool) -> Vec<Piece> {
        let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        let hits: Vec<Range<usize>> = self.shown.find_iter(&text).map(|found| found.range()).collect();
        if hits.is_empty() {
            return pieces;
        }
        let weight = if current { Modifier::BOLD | Modifier::UNDERLINED } else { Modifier::empty() };
        let mut out = Vec::new();
        let mut start = 0;
        for piece in pieces {
            let end = start + piece.text.len();
            let mut at = start;
            for hit in hits.iter().filter(|hit| hit.start < end && hit.end > start) {
                let (from, to) = (hit.start.max(start), hit.end.min(end));
                if from > at {
                    out.push(Piece { text: text[at..from].to_owned(), ..piece.clone() });
                }
                out.push(Piece {
                    text: text[from..to].to_owned(),
                    role: Role::Selection,
                    modifier: weight | Modifier::REVERSED,
                });
                at = to;
            }
            if at < end {
                out.push(Piece { text: text[at..end].to_owned(), ..piece });
            }
            start = end;
        }
        out
    }
}

/// Bytes from the one end of the first span to the other end of another.
fn distance(first: &Range<u64>, other: &Range<u64>) -> u64 {
    first.end.max(other.end) - first.start.min(other.start)
}
