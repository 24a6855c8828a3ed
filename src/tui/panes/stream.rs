//! The Stream pane: what Claude says and does, with programmator's verdicts between.
//!
//! Owns its state, messages, update and view. Only what is visible is read, decoded and wrapped; nothing is kept per
//! record, so a run of a million records costs what a screen costs. [`StreamState::prepare`] is the only place that reads
//! the scrollback; drawing is pure.

mod book;
mod card;
mod cursor;
mod edits;
mod fold;
mod journal;
mod jump;
mod kept;
mod layout;
mod live;
mod marks;
mod msg;
mod order;
mod own;
mod pane;
mod plain;
mod row;
mod scrollbar;
mod search;
mod seek;
mod select;
mod verdict;
mod window;

pub use book::Part;
pub use cursor::view_cursor;
pub use fold::Fold;
pub use msg::{FollowStatus, Goal, SearchStatus, StreamMsg};
pub use pane::{PANE, Stream};

use crate::domain::record::{Record, Stored};
use crate::domain::scrollback::Scrollback;
use crate::domain::search::{Only, Way};
use crate::domain::syntax::Code;
use crate::tui::marks::Glyphs;
use crate::tui::syntax::Syntax;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::highlight;
use crate::tui::widgets::wrap::Piece;
use book::Book;
use order::Place;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use search::Search;
use std::cmp::Ordering;
use std::mem::take;
use std::sync::Arc;
use window::{FARTHEST, Selected, Spot};

/// The pane's name.
pub const NAME: &str = "stream";

/// Places that one frame lays out to count new lines; further records count as one line each.
const COUNTED: usize = 64;

/// Counts what comes while the window is away from the end.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    /// The last place that was counted (or there when the window left).
    last: (u32, Place),
    rows: u64,
    /// Live rows that were seen when the window left.
    seen: u64,
    /// Records that came and are not counted in `rows`.
    rest: u64,
}

/// A row, ready to be drawn.
#[derive(Clone, Debug)]
struct Line {
    pieces: Vec<Piece>,
    /// What the cursor stands on when it is on this row; `None`: a blank row, or live text.
    card: Option<(u32, Place)>,
    /// Which row it is; `None`: live text.
    spot: Option<Spot>,
    is_selected: bool,
}

/// The pane's state.
#[derive(Default)]
pub struct StreamState {
    book: Book,
    fold: Fold,
    /// The window's first row; `None` follows the end.
    top: Option<Spot>,
    /// What is selected, in the window. `None` while the end is followed.
    cursor: Option<(u32, Place)>,
    /// The window ends with the last row.
    ends: bool,
    /// Records of the iteration when `top` was in the live text.
    live_from: usize,
    fresh: Option<Fresh>,
    moves: Vec<StreamMsg>,
    search: Option<Search>,
    /// The records that a search looks at.
    only: Option<Only>,
    selected_rows: Option<Selected>,
    lines: Vec<Line>,
    /// The right edge; nothing while the end is followed and nothing is searched.
    edge: Vec<scrollbar::Cell>,
    shown_top: Option<Spot>,
    width: u16,
    height: u16,
}

impl StreamState {
    /// Shows this scrollback from now on. The window stays where it is: it may be the same run, read again.
    pub fn attach(&mut self, scrollback: Arc<dyn Scrollback>) {
        self.book.attach(scrollback);
    }

    /// Folds a record of the run in.
    pub fn record(&mut self, stored: &Stored) {
        self.book.journal.record(stored);
        if matches!(stored.record, Record::ApprovalsKept { .. }) {
            // Their results are laid out already, and no longer shown.
            self.book.forget_all();
        }
    }

    /// The run was left without a last record: nothing waits in it any more.
    pub fn left(&mut self) {
        self.book.journal.waiting.clear();
    }

    /// Takes a message; what it does is seen after [`Self::prepare`].
    pub fn update(&mut self, msg: StreamMsg) {
        match (&msg, self.moves.last_mut()) {
            (StreamMsg::Lines(more), Some(StreamMsg::Lines(rows))) => {
                *rows = rows.saturating_add(*more);
            }
            (StreamMsg::Page(more), Some(StreamMsg::Page(pages))) => {
                *pages = pages.saturating_add(*more);
            }
            _ => {
                // Scrolling straight before it no longer counts.
                while matches!(msg, StreamMsg::Top | StreamMsg::End)
                    && self.moves.last().is_some_and(StreamMsg::scrolls)
                {
                    self.moves.pop();
                }
                self.moves.push(msg);
            }
        }
    }

    /// Gets everything ready to be drawn in a window of `width` × `height` cells. The only place that reads the scrollback.
    pub fn prepare(&mut self, width: u16, height: u16) {
        (self.width, self.height) = (width, height);
        let rows = usize::from(height.max(1));
        self.refresh(usize::from(width.max(1)));
        for msg in take(&mut self.moves) {
            self.act(msg, rows);
        }
        self.hunt(rows);
        self.fill(rows);
        self.keep_cursor();
        self.count();
        let found = self.search.as_ref().map(|search| &*search.found);
        let top = self.shown_top.filter(|_| self.top.is_some() || found.is_some());
        self.edge = scrollbar::cells(&self.book, top, found, rows);
    }

    pub fn status(&self) -> FollowStatus {
        match (self.top, self.fresh) {
            (None, _) => FollowStatus::Following,
            (Some(_), fresh) => match fresh.map_or(0, |fresh| (fresh.rows + fresh.rest).saturating_sub(fresh.seen)) {
                0 if self.ends => FollowStatus::Held,
                new_lines => FollowStatus::Behind { new_lines },
            },
        }
    }

    /// The code that is in the window.
    pub fn code(&self) -> impl Iterator<Item = &Code> {
        self.lines.iter().flat_map(|line| &line.pieces).filter_map(|piece| piece.code.as_ref())
    }

    /// The iteration that is read: the one in the window's first row.
    pub fn iteration(&self) -> Option<u32> {
        let shown = self.lines.iter().find_map(|line| line.spot).map(|spot| spot.n);
        shown
            .filter(|n| *n > 0)
            .or_else(|| self.book.journal.segments.last().map(|segment| segment.n))
            .filter(|n| *n > 0)
    }

    /// How much is shown of what is not folded or unfolded by itself.
    pub fn fold(&self) -> Fold {
        self.fold
    }

    /// Sees what is new, at this width; what is read stays where it is.
    fn refresh(&mut self, columns: usize) {
        let before = self.top.map(|top| (top, self.book.item(top.n, top.place).height()));
        let wrapped = self.book.refresh(columns);
        if let (Some((top, before)), true) = (before, wrapped)
            && before > 0
        {
            // The same words, more or less, in rows of another width.
            let now = self.book.item(top.n, top.place).height();
            self.top = Some(Spot { row: top.row * now / before, ..top });
        }
        self.hold();
    }

    /// The place of the window's first row may have changed: live text became a record, rows were folded.
    fn hold(&mut self) {
        self.hold_selection();
        let Some(mut spot) = self.top else { return };
        let len = self.book.journal.get(spot.n).map_or(0, |segment| segment.len);
        if spot.place == Place::Live && len > self.live_from {
            spot.place = Place::Entry(self.live_from);
        }
        self.top = window::held(&mut self.book, spot);
    }

    fn act(&mut self, msg: StreamMsg, rows: usize) {
        if self.extend_selection(&msg, rows) {
            return;
        }
        let here = |state: &mut Self| state.top.or_else(|| window::tail(&mut state.book, rows));
        match msg {
            StreamMsg::Lines(by) => self.scroll(by.into(), rows),
            StreamMsg::Page(by) => self.scroll(i64::from(by) * (rows as i64 - 1).max(1), rows),
            StreamMsg::Top => {
                let first = window::first(&mut self.book);
                self.go(first, rows);
                self.cursor = first.map(|first| (first.n, first.place));
            }
            StreamMsg::End => self.go(None, rows),
            StreamMsg::Card(by) => self.step(by, rows),
            StreamMsg::Select => self.begin_selection(rows),
            StreamMsg::Leave => {}
            StreamMsg::Point(row) => self.point(row, rows),
            StreamMsg::Drag(from, to) => self.drag(from, to, rows),
            StreamMsg::Toggle => self.toggle(rows),
            StreamMsg::ToggleFold => self.toggle_all(),
            StreamMsg::Search(query) => self.seek(&query),
            StreamMsg::Only(only) => {
                let query = self.search.as_ref().map_or_else(String::new, |search| search.found.words.query.clone());
                self.only = Some(only);
                self.seek(&query);
            }
            StreamMsg::Jump(to, way) => self.jump(to, way, rows),
            StreamMsg::Iteration(n) => self.jump_to_iteration(n, rows),
            StreamMsg::Land { n, record, query, only } => self.land(n, record, &query, only),
            StreamMsg::NextHit | StreamMsg::PrevHit => {
                let way = if msg == StreamMsg::NextHit { Way::Down } else { Way::Up };
                let top = here(self);
                if let Some(search) = &mut self.search
                    && let Some(spot) = search.hit.or(top)
                {
                    search.start(way, spot, Some(spot.row));
                }
            }
            StreamMsg::ClearSearch => {
                self.only = None;
                self.end_search();
            }
        }
    }

    fn scroll(&mut self, by: i64, rows: usize) {
        let Some(from) = self.top.or_else(|| window::tail(&mut self.book, rows)) else { return };
        let count = by.unsigned_abs().min(FARTHEST.into()) as usize;
        let to = match by.cmp(&0) {
            Ordering::Less => window::up(&mut self.book, from, count),
            Ordering::Equal => Some(from),
            Ordering::Greater => window::down(&mut self.book, from, count),
        };
        self.go(to, rows);
    }

    /// Puts the window there; at the end (or with everything in it) it follows.
    fn go(&mut self, to: Option<Spot>, rows: usize) {
        let Some(to) = to else {
            (self.top, self.fresh) = (None, None);
            return;
        };
        let tail = window::tail(&mut self.book, rows);
        if tail.is_none_or(|tail| to.compare(tail, &self.book) != Ordering::Less) {
            (self.top, self.fresh) = (None, None);
            return;
        }
        self.stay(to);
    }

    /// Puts the window there and keeps it there, also at the end.
    fn stay(&mut self, to: Spot) {
        if self.fresh.is_none() {
            let last = self.book.journal.last();
            let last = last.and_then(|(n, place)| self.book.journal.prev(n, place));
            let seen = self.book.live_rows() as u64;
            self.fresh = last.map(|last| Fresh { last, rows: 0, seen, rest: seen });
        }
        self.live_from = self.book.journal.get(to.n).map_or(0, |segment| segment.len);
        self.top = Some(to);
    }

    /// Gathers the window's rows.
    fn fill(&mut self, rows: usize) {
        self.lines.clear();
        self.ends = true;
        let top = match self.top {
            Some(top) => Some(top),
            None => window::tail(&mut self.book, rows),
        };
        self.shown_top = top;
        let Some(Spot { mut n, mut place, row: mut from }) = top else { return };
        let columns = usize::from(self.width.max(1));
        let mut card = self.book.card(n, place);
        loop {
            let item = self.book.item(n, place);
            if !item.continues() {
                card = (place != Place::Live).then_some((n, place));
            }
            for at in from..item.height() {
                if self.lines.len() == rows {
                    self.ends = false;
                    return;
                }
                let mut row = item.row(at);
                self.book.tell(n, place, &mut row);
                let mut pieces = row.fit(columns);
                if let Some(search) = &self.search {
                    let current = search.hit == Some(Spot { n, place, row: at });
                    pieces = search.highlight(pieces, current);
                }
                let spot = (place != Place::Live).then_some(Spot { n, place, row: at });
                let is_selected = spot.is_some_and(|spot| self.is_selected(spot));
                self.lines.push(Line { pieces, card: card.filter(|_| at >= item.gap()), spot, is_selected });
            }
            match self.book.journal.next(n, place) {
                Some(next) => ((n, place), from) = (next, 0),
                None => return,
            }
        }
    }

    /// Counts what came since the window left the end.
    fn count(&mut self) {
        let Some(mut fresh) = self.fresh.filter(|_| self.top.is_some()) else { return };
        for _ in 0..COUNTED {
            match self.book.journal.next(fresh.last.0, fresh.last.1) {
                Some((n, place)) if place != Place::Live => {
                    fresh.rows += self.book.item(n, place).height() as u64;
                    fresh.last = (n, place);
                }
                _ => break,
            }
        }
        let (n, place) = fresh.last;
        let counted = match place {
            Place::Entry(i) => i + 1,
            Place::Mark(k) => self.book.journal.get(n).and_then(|s| s.marks.get(k)).map_or(0, |mark| mark.0),
            Place::Head | Place::Live => 0,
        };
        let later = self.book.journal.segments.iter().filter(|segment| segment.n >= n);
        let records: usize = later.map(|segment| segment.len).sum();
        fresh.rest = records.saturating_sub(counted) as u64 + self.book.live_rows() as u64;
        self.fresh = Some(fresh);
    }
}

/// Draws the right edge over the border of the place inside of it: where the window is, and where a search found something.
pub fn view_edge(state: &StreamState, glyphs: Glyphs, theme: &Theme, inside: Rect, buffer: &mut Buffer) {
    scrollbar::view(&state.edge, glyphs, theme, inside, buffer);
}

/// Draws what was prepared.
pub fn view(state: &StreamState, syntax: &Syntax, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let area = area.intersection(buffer.area);
    for (line, y) in state.lines.iter().zip(area.top()..area.bottom()) {
        let mut x = area.left();
        for piece in &line.pieces {
            for (text, over) in syntax.parts(piece) {
                let room = usize::from(area.right().saturating_sub(x));
                let over = over.map(|role| theme.style(role)).unwrap_or_default();
                (x, _) = buffer.set_stringn(x, y, text, room, piece.style(theme).patch(over));
            }
        }
        if line.is_selected {
            highlight(theme.style(Role::Selection), Rect { y, height: 1, ..area }, buffer);
        }
    }
}
