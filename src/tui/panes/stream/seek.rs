//! A search from the window on, and the window that follows it from hit to hit.

use super::order::Place;
use super::search::{Search, drawn};
use super::window::{self, Spot};
use super::{SearchStatus, StreamState};
use crate::domain::search::{Only, Way, Words};
use std::cmp::Ordering;

impl StreamState {
    /// How the search goes; `None` without one.
    pub fn search(&self) -> Option<SearchStatus> {
        let search = self.search.as_ref()?;
        let query = search.found.words.label();
        Some(match (search.busy(), search.missing) {
            (true, _) => SearchStatus::Busy(query),
            (false, true) => SearchStatus::Missing(query),
            (false, false) => SearchStatus::Found(query),
        })
    }

    /// What the search has found so far: the number of the hit among what holds the words, how many these are, and
    /// whether more are looked for.
    pub fn hits(&self) -> Option<(Option<usize>, usize, bool)> {
        self.search.as_ref().map(|search| search.count(&self.book.journal))
    }

    /// More is found in frames to come.
    pub fn is_searching(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.busy() || search.count(&self.book.journal).2)
    }

    /// Looks for words from the window on: at the end the newest hit is wanted, elsewhere the next one.
    pub(super) fn seek(&mut self, query: &str) {
        self.end_search();
        let (way, from) = match self.top {
            Some(top) => (Way::Down, top.row.checked_sub(1)),
            None => (Way::Up, None),
        };
        let end = self.book.journal.last().map(|(n, place)| Spot { n, place, row: 0 });
        if let (Some(words), Some(spot)) = (Words::among(query, self.only), self.top.or(end)) {
            let words = words.drawn_by(drawn);
            self.search = Some(Search::new(words, way, spot, from));
        }
    }

    /// To a record with these words.
    pub(super) fn land(&mut self, n: u32, record: usize, query: &str, only: Option<Only>) {
        self.end_search();
        self.only = only;
        let spot = Spot { n, place: Place::Entry(record), row: 0 };
        self.stay(spot);
        self.cursor = self.book.card(n, spot.place);
        self.search = Words::among(query, only).map(|words| Search::new(words.drawn_by(drawn), Way::Down, spot, None));
    }

    /// What the search opened is folded again.
    pub(super) fn end_search(&mut self) {
        self.search = None;
        self.book.close_all();
        self.hold();
    }

    /// Looks on for one frame; a hit is brought into the window.
    pub(super) fn hunt(&mut self, rows: usize) {
        let Some(search) = &mut self.search else { return };
        let Some(hit) = search.step(&mut self.book) else { return };
        let bottom = self.shown_top.and_then(|top| window::down(&mut self.book, top, rows - 1));
        let visible = self.shown_top.is_some_and(|top| top.compare(hit, &self.book) != Ordering::Greater)
            && bottom.is_some_and(|bottom| bottom.compare(hit, &self.book) != Ordering::Less);
        if !visible {
            let top = window::up(&mut self.book, hit, rows / 3);
            self.go(top, rows);
        }
        // Where the end is followed, the hit is on the screen, and stays there.
        if self.search.as_ref().is_some_and(|search| search.found.words.only.is_some())
            && let Some(top) = self.top.or_else(|| window::tail(&mut self.book, rows))
        {
            self.stay(top);
            self.cursor = self.book.card(hit.n, hit.place);
        }
    }
}
