//! Finding words in the pane. Which records show them is found out in the background; a hit is a row of such a record, or
//! of a mark, that shows them in brief, or in full: then it is opened there.

use super::book::Book;
use super::fold::Fold;
use super::journal::{Journal, Segment};
use super::layout::{self, Origin};
use super::order::Place;
use super::row::Row;
use super::window::Spot;
use crate::domain::search::{Found, Nearest, Only, Way, Words};
use crate::domain::stream::show::Shown;
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::Piece;
use ratatui::style::Modifier;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Places that one frame may lay out to look for the words in their rows.
const LAID: usize = 256;
/// Iterations whose rules and marks one frame may lay out.
const MARKED: usize = 64;
/// Columns in which a record is laid out to see whether it shows the words: none is cut there.
const WIDE: usize = 4_096;

#[derive(Clone, Copy, Debug)]
struct Hunt {
    way: Way,
    n: u32,
    place: Place,
    /// The rows of the place were looked at.
    seen: bool,
    /// Rows of the first place that do not count: up to and with it (down), or from it on (up).
    from: Option<usize>,
    start: Spot,
    /// It went on at the other end.
    wrapped: bool,
}

/// How the next place was sought.
enum Step {
    There,
    /// It is not known yet.
    Wait,
    /// All was seen.
    End,
}

/// The rules and marks of an iteration that show the words.
#[derive(Debug, Default)]
struct Marked {
    /// How it was when they were looked at.
    marks: usize,
    ended: bool,
    len: usize,
    hits: Vec<Place>,
}

/// Words looked for.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) found: Arc<Found>,
    /// By iteration.
    marked: BTreeMap<u32, Marked>,
    /// Some are not looked at yet.
    unmarked: bool,
    pub(super) hit: Option<Spot>,
    hunt: Option<Hunt>,
    /// Nothing was found.
    pub(super) missing: bool,
}

impl Search {
    /// Looks for words from a row on, `including` it.
    pub(super) fn new(words: Words, way: Way, spot: Spot, from: Option<usize>) -> Self {
        let record = match (spot.place, way) {
            (Place::Entry(i), _) => i,
            (Place::Live, _) | (_, Way::Up) => usize::MAX,
            (_, Way::Down) => 0,
        };
        let found = Arc::new(Found::new(words, (spot.n, record), way));
        let (marked, unmarked) = (BTreeMap::new(), true);
        let mut this = Self { found, marked, unmarked, hit: None, hunt: None, missing: false };
        this.start(way, spot, from);
        this
    }

    /// It is still looking for the next hit.
    pub(super) fn busy(&self) -> bool {
        self.hunt.is_some()
    }

    /// The number of the hit among the records, rules and marks with the words, how many there are, and whether more are
    /// looked for.
    pub(super) fn count(&self, journal: &Journal) -> (Option<usize>, usize, bool) {
        let marked = || self.marked.iter().flat_map(|(n, marked)| marked.hits.iter().map(move |place| (*n, *place)));
        let order = self.hit.map(|hit| journal.order(hit.n, hit.place));
        let (records, before, more) = self.found.count(order.map_or((0, 0), |(n, i, _, _)| (n, i)));
        let earlier = |hit| marked().filter(|(n, place)| journal.order(*n, *place) < hit).count();
        let at =
            order.filter(|_| self.hit.is_some_and(|hit| hit.place != Place::Live)).map(|hit| before + earlier(hit) + 1);
        (at, records + marked().count(), more || self.unmarked)
    }

    /// Looks at rules and marks that are new, as many as one frame may.
    fn mark(&mut self, book: &mut Book) {
        let now = |segment: &Segment| (segment.marks.len(), segment.ended, segment.len);
        let stale = |segment: &&Segment| {
            let seen = self.marked.get(&segment.n);
            seen.is_none_or(|seen| (seen.marks, seen.ended, seen.len) != now(segment))
        };
        let mut stale: Vec<(u32, (usize, bool, usize))> =
            book.journal.segments.iter().filter(stale).map(|segment| (segment.n, now(segment))).collect();
        self.unmarked = stale.len() > MARKED;
        stale.truncate(MARKED);
        for (n, (marks, ended, len)) in stale {
            let places = std::iter::once(Place::Head).chain((0..marks).map(Place::Mark));
            let hits = places.filter(|place| !self.visible(book, n, *place).is_empty()).collect();
            self.marked.insert(n, Marked { marks, ended, len, hits });
        }
    }

    /// Goes on from a row, beyond `from`.
    pub(super) fn start(&mut self, way: Way, spot: Spot, from: Option<usize>) {
        self.missing = false;
        let (n, place) = (spot.n, spot.place);
        self.hunt = Some(Hunt { way, n, place, seen: false, from, start: spot, wrapped: false });
    }

    /// Looks on for one frame. The spot is a new hit.
    pub(super) fn step(&mut self, book: &mut Book) -> Option<Spot> {
        book.survey(&self.found);
        self.mark(book);
        let mut hunt = self.hunt.take()?;
        if let (Place::Entry(i), false) = (hunt.place, hunt.seen) {
            match self.found.nearest(hunt.n, &(i..i + 1), hunt.way) {
                Nearest::At(_) => {}
                Nearest::None => hunt.seen = true,
                Nearest::Unknown => {
                    self.hunt = Some(hunt);
                    return None;
                }
            }
        }
        for _ in 0..LAID {
            let from = hunt.from.take();
            let rows = if hunt.seen { Vec::new() } else { self.hits(book, hunt.n, hunt.place) };
            hunt.seen = true;
            let row = match hunt.way {
                Way::Down => rows.into_iter().find(|row| from.is_none_or(|from| *row > from)),
                Way::Up => rows.into_iter().rev().find(|row| from.is_none_or(|from| *row < from)),
            };
            if let Some(row) = row {
                let spot = Spot { n: hunt.n, place: hunt.place, row };
                self.hit = Some(spot);
                return Some(spot);
            }
            match self.advance(book, &mut hunt) {
                Step::There => {}
                Step::Wait => break,
                Step::End => {
                    self.missing = true;
                    return None;
                }
            }
        }
        self.hunt = Some(hunt);
        None
    }

    /// Goes to the next place that may hold the words.
    fn advance(&self, book: &Book, hunt: &mut Hunt) -> Step {
        let journal = &book.journal;
        let mut wrapped = hunt.wrapped;
        let next = match hunt.way {
            Way::Down => journal.next(hunt.n, hunt.place),
            Way::Up => journal.prev(hunt.n, hunt.place),
        };
        let next = next.or_else(|| {
            if std::mem::replace(&mut wrapped, true) {
                return None;
            }
            match hunt.way {
                Way::Down => journal.first(),
                Way::Up => journal.last(),
            }
        });
        let Some((n, mut place)) = next else { return Step::End };
        let mut seen = false;
        if let Place::Entry(i) = place {
            let marks = journal.get(n).map(|segment| &segment.marks);
            let marks = marks.into_iter().flatten().map(|mark| mark.0);
            let len = journal.get(n).map_or(0, |segment| segment.len);
            // Up to the next mark, which is no part of the log file.
            let range = match hunt.way {
                Way::Down => i..marks.filter(|at| *at > i).min().unwrap_or(len).max(i + 1),
                Way::Up => marks.filter(|at| *at <= i).max().unwrap_or(0)..i + 1,
            };
            place = match (self.found.nearest(n, &range, hunt.way), hunt.way) {
                (Nearest::At(i), _) => Place::Entry(i),
                (Nearest::Unknown, _) => return Step::Wait,
                (Nearest::None, Way::Down) => Place::Entry(range.end - 1),
                (Nearest::None, Way::Up) => Place::Entry(range.start),
            };
            seen = !matches!(place, Place::Entry(i) if self.found.any(n, &(i..i + 1)));
        }
        (hunt.n, hunt.place, hunt.seen, hunt.wrapped) = (n, place, seen, wrapped);
        if hunt.wrapped {
            let here = journal.order(hunt.n, hunt.place);
            let start = journal.order(hunt.start.n, hunt.start.place);
            let over = match hunt.way {
                Way::Down => here > start,
                Way::Up => here < start,
            };
            return if over { Step::End } else { Step::There };
        }
        Step::There
    }

    /// The rows of a place that hold the words. Words that the wrapping tore apart, or the edge cut off, count for the first
    /// row.
    fn hits(&self, book: &mut Book, n: u32, place: Place) -> Vec<usize> {
        let rows = self.visible(book, n, place);
        if !rows.is_empty() || !matches!(place, Place::Entry(_)) {
            return rows;
        }
        if book.open(n, place) {
            let rows = self.visible(book, n, place);
            if !rows.is_empty() {
                return rows;
            }
            book.close(n, place);
        }
        let item = book.item(n, place);
        if item.height() > item.gap() { vec![item.gap()] } else { Vec::new() }
    }

    /// Those among the rows as they are drawn: what is cut at the edge does not count.
    fn visible(&self, book: &mut Book, n: u32, place: Place) -> Vec<usize> {
        let words = &self.found.words;
        if let (Some(only), Place::Head | Place::Mark(_) | Place::Live) = (words.only, place)
            && !(only == Only::Errors && book.is_failure(n, place))
        {
            return Vec::new();
        }
        let item = book.item(n, place);
        if words.query.is_empty() {
            return if item.height() > item.gap() { vec![item.gap()] } else { Vec::new() };
        }
        let texts: Vec<String> = (0..item.height()).map(|row| book.drawn(&item.row(row))).collect();
        let rows: Vec<usize> = (0..texts.len()).filter(|row| self.found.words.shown.is_match(&texts[*row])).collect();
        if rows.is_empty() && self.found.words.shown.is_match(&texts.join(" ")) {
            return vec![0];
        }
        rows
    }

    /// Marks the words in a row.
    pub(super) fn highlight(&self, pieces: Vec<Piece>, current: bool) -> Vec<Piece> {
        let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        if self.found.words.query.is_empty() {
            return pieces;
        }
        let hits: Vec<Range<usize>> = self.found.words.shown.find_iter(&text).map(|found| found.range()).collect();
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
                    out.push(piece.beginning(at - start, &text[at..from]));
                }
                let found = Piece::new(&text[from..to], Role::Selection);
                out.push(Piece { modifier: weight | Modifier::REVERSED, ..found });
                at = to;
            }
            if at < end {
                out.push(piece.beginning(at - start, &text[at..end]));
            }
            start = end;
        }
        out
    }
}

/// All that the pane shows of a record, unfolded.
pub(super) fn drawn(shown: &Shown) -> String {
    let body = layout::body(shown, WIDE, 0, Fold::Full, &mut |_| Origin::Above);
    body.rows.iter().map(Row::text).collect::<Vec<_>>().join(" ")
}

impl Drop for Search {
    fn drop(&mut self) {
        self.found.stop();
    }
}
