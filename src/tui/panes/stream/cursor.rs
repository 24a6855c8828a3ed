//! What is selected in the pane: a call with its result, a thought, words, a verdict. It stays selected while the stream
//! grows and is folded; scrolled out of the window, it is the nearest one in it.

use super::order::Place;
use super::window::{self, Spot};
use super::{Fold, StreamState};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cmp::Ordering;

impl StreamState {
    /// The selected card shows everything.
    pub fn is_unfolded(&self) -> bool {
        let fold = self.selected().map(|(n, place)| self.book.fold_at(n, place));
        fold.unwrap_or(self.fold) == Fold::Full
    }

    /// The selected card can be unfolded, or folded.
    pub fn folds(&self) -> bool {
        self.selected().is_some_and(|(n, place)| self.book.folds(n, place))
    }

    /// What a key would act on: the cursor, or the last card of the window that can be unfolded.
    fn selected(&self) -> Option<(u32, Place)> {
        let mut cards = self.lines.iter().rev().filter_map(|line| line.card);
        self.cursor.or_else(|| cards.find(|(n, place)| self.book.folds(*n, *place)))
    }

    /// To a card further down, or up.
    pub(super) fn step(&mut self, by: i32, rows: usize) {
        for _ in 0..by.unsigned_abs() {
            let here = self.cursor.or_else(|| self.lines.iter().rev().find_map(|line| line.card));
            let next = match self.cursor {
                Some((n, place)) => self.book.neighbour(n, place, by > 0),
                // The first step up from the end is to what stands there.
                None => here.filter(|_| by < 0),
            };
            let Some(next) = next else { return };
            self.select(next, rows);
        }
    }

    /// Selects a card and brings it into the window.
    fn select(&mut self, (n, place): (u32, Place), rows: usize) {
        let Some(top) = self.top.or_else(|| window::tail(&mut self.book, rows)) else { return };
        self.cursor = Some((n, place));
        let gap = self.book.item(n, place).gap();
        let first = Spot { n, place, row: gap };
        let mut last = Spot { n, place, row: self.book.item(n, place).height().saturating_sub(1) };
        if let Some((n, place)) = self.book.continuation(n, place) {
            last = Spot { n, place, row: self.book.item(n, place).height().saturating_sub(1) };
        }
        let lowest = window::up(&mut self.book, last, rows - 1).unwrap_or(first);
        let to = if first.compare(top, &self.book) == Ordering::Less
            || first.compare(lowest, &self.book) == Ordering::Less
        {
            first
        } else if top.compare(lowest, &self.book) == Ordering::Less {
            lowest
        } else {
            top
        };
        self.stay(to);
    }

    /// Folds or unfolds the selected card; its first row stays where it is.
    pub(super) fn toggle(&mut self, rows: usize) {
        let Some((n, place)) = self.selected() else { return };
        let Some(top) = self.top.or_else(|| window::tail(&mut self.book, rows)) else { return };
        if !self.book.toggle(n, place) {
            return;
        }
        self.cursor = Some((n, place));
        let inside = self.book.card(top.n, top.place) == Some((n, place));
        let first = Spot { n, place, row: self.book.item(n, place).gap() };
        self.stay(if inside && first.compare(top, &self.book) == Ordering::Less { first } else { top });
        self.hold();
    }

    /// Folds or unfolds everything; the selected card stays where it is.
    pub(super) fn toggle_all(&mut self) {
        self.fold = self.fold.other();
        self.book.fold_all(self.fold);
        if self.top.is_none() {
            return;
        }
        let at = self.lines.iter().position(|line| line.card.is_some() && line.card == self.cursor);
        if let (Some((n, place)), Some(at)) = (self.cursor, at) {
            let first = Spot { n, place, row: self.book.item(n, place).gap() };
            self.top = window::up(&mut self.book, first, at);
        }
        self.hold();
    }

    /// The cursor is in the window, or nowhere while the end is followed.
    pub(super) fn keep_cursor(&mut self) {
        if self.top.is_none() {
            self.cursor = None;
            return;
        }
        let mut cards = self.lines.iter().filter_map(|line| line.card);
        let order = |card: (u32, Place)| self.book.journal.order(card.0, card.1);
        let first = cards.clone().next();
        self.cursor = match self.cursor {
            Some(here) if cards.any(|card| card == here) => Some(here),
            Some(here) if first.is_some_and(|first| order(here) < order(first)) => first,
            _ => self.lines.iter().rev().find_map(|line| line.card),
        };
    }
}

/// Marks the selected card, in the column before `area`.
pub fn view_cursor(state: &StreamState, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let Some(x) = area.left().checked_sub(1).filter(|_| state.cursor.is_some()) else { return };
    for (line, y) in state.lines.iter().zip(area.top()..area.bottom()) {
        if line.card == state.cursor && buffer.area.contains((x, y).into()) {
            buffer.set_string(x, y, "▎", theme.style(Role::BorderFocus));
        }
    }
}
