//! Lines that the person selects, from one row to another, and what can be copied: those, or a part of the selected card.

use super::book::Part;
use super::order::Place;
use super::window::{self, FARTHEST, Selected, Spot};
use super::{StreamMsg, StreamState};
use std::cmp::Ordering;

/// Bytes that are gathered for the clipboard at most.
const MOST: usize = 1 << 20;

impl StreamState {
    /// Lines are selected.
    pub fn selects(&self) -> bool {
        self.selected_rows.is_some()
    }

    /// Begins at the selected card, else at the window's last row; what comes in moves nothing then.
    pub(super) fn begin_selection(&mut self, rows: usize) {
        if self.selected_rows.take().is_some() {
            return;
        }
        let of_card = self.lines.iter().find(|line| line.card.is_some() && line.card == self.cursor);
        let last = || self.lines.iter().rev().find(|line| line.spot.is_some());
        let Some(from) = of_card.or_else(last).and_then(|line| line.spot) else { return };
        let Some(top) = self.top.or_else(|| window::tail(&mut self.book, rows)) else { return };
        self.selected_rows = Some(Selected { from, to: from });
        self.stay(top);
    }

    /// Selects the card in a row of the window, which stays where it is: a drag may follow.
    pub(super) fn point(&mut self, row: u16, rows: usize) {
        let Some(card) = self.lines.get(usize::from(row)).map(|line| line.card) else { return };
        // What came meanwhile is not on the screen yet.
        let seen = self.shown_top.filter(|spot| spot.place != Place::Live);
        if let Some(top) = self.top.or(seen).or_else(|| window::tail(&mut self.book, rows)) {
            self.stay(top);
            self.cursor = card.or(self.cursor);
        }
    }

    /// Selects from one row of the window to another; where lines are selected already, from where that began.
    pub(super) fn drag(&mut self, from: u16, to: u16, rows: usize) {
        let spot = |row: u16| self.lines.iter().take(usize::from(row) + 1).rev().find_map(|line| line.spot);
        let from = self.selected_rows.map_or_else(|| spot(from), |selected| Some(selected.from));
        let (Some(from), Some(to)) = (from, spot(to)) else { return };
        let Some(top) = self.top.or_else(|| window::tail(&mut self.book, rows)) else { return };
        self.selected_rows = Some(Selected { from, to });
        self.stay(top);
    }

    /// Rows may have come and gone where the selection begins and ends.
    pub(super) fn hold_selection(&mut self) {
        let Some(Selected { from, to }) = self.selected_rows else { return };
        let held = (window::held(&mut self.book, from), window::held(&mut self.book, to));
        self.selected_rows = match held {
            (Some(from), Some(to)) => Some(Selected { from, to }),
            _ => None,
        };
    }

    /// Moves the end of the selection as a message moves the window. `false`: it moves nothing, and nothing is selected.
    pub(super) fn extend_selection(&mut self, msg: &StreamMsg, rows: usize) -> bool {
        let Some(Selected { from, to }) = self.selected_rows else { return false };
        let by = match msg {
            StreamMsg::Lines(by) => i64::from(*by),
            StreamMsg::Page(by) => i64::from(*by) * (rows as i64 - 1).max(1),
            StreamMsg::Top | StreamMsg::End | StreamMsg::Card(_) => 0,
            StreamMsg::Select | StreamMsg::Drag(..) => return false,
            _ => {
                self.selected_rows = None;
                return false;
            }
        };
        let count = by.unsigned_abs().min(FARTHEST.into()) as usize;
        let moved = match (msg, by.cmp(&0)) {
            (StreamMsg::Top, _) => window::first(&mut self.book),
            (StreamMsg::End, _) => None,
            (StreamMsg::Card(by), _) => Some(self.card_edge(to, *by)),
            (_, Ordering::Less) => window::up(&mut self.book, to, count),
            _ => window::down(&mut self.book, to, count),
        };
        // What is being said now is not in it.
        let moved = moved.filter(|spot| spot.place != Place::Live).or_else(|| self.last_row());
        let (Some(to), Some(top)) = (moved, self.top) else { return true };
        self.selected_rows = Some(Selected { from, to });
        let lowest = window::up(&mut self.book, to, rows - 1).unwrap_or(to);
        let top = match () {
            () if to.compare(top, &self.book) == Ordering::Less => to,
            () if top.compare(lowest, &self.book) == Ordering::Less => lowest,
            () => top,
        };
        self.stay(top);
        true
    }

    /// From a row so many cards further down, to the end of the last of them, or up, to its beginning.
    fn card_edge(&mut self, from: Spot, by: i32) -> Spot {
        let mut to = from;
        for _ in 0..by.unsigned_abs() {
            let Some(here) = self.book.card(to.n, to.place) else { break };
            // The card that the row is in comes first, unless the row is its edge already.
            let edge = self.edge(here, by > 0);
            let ahead = if by > 0 { Ordering::Greater } else { Ordering::Less };
            let next = if edge.compare(to, &self.book) == ahead {
                Some(edge)
            } else {
                self.book.neighbour(here.0, here.1, by > 0).map(|next| self.edge(next, by > 0))
            };
            let Some(next) = next else { break };
            to = next;
        }
        to
    }

    /// The last row of a card, or its first.
    fn edge(&mut self, (n, place): (u32, Place), last: bool) -> Spot {
        if !last {
            return Spot { n, place, row: self.book.item(n, place).gap() };
        }
        let (n, place) = self.book.continuation(n, place).unwrap_or((n, place));
        Spot { n, place, row: self.book.item(n, place).height().saturating_sub(1) }
    }

    /// The last row before what is being said now.
    fn last_row(&mut self) -> Option<Spot> {
        let (n, place) = self.book.journal.last()?;
        window::up(&mut self.book, Spot { n, place, row: 0 }, 1).filter(|spot| spot.place != Place::Live)
    }

    /// The row is selected.
    pub(super) fn is_selected(&self, spot: Spot) -> bool {
        let Some((first, last)) = self.ends() else { return false };
        spot.compare(first, &self.book) != Ordering::Less && spot.compare(last, &self.book) != Ordering::Greater
    }

    fn ends(&self) -> Option<(Spot, Spot)> {
        let Selected { from, to } = self.selected_rows?;
        Some(if from.compare(to, &self.book) == Ordering::Greater { (to, from) } else { (from, to) })
    }

    /// Leaves the selection and gives its lines, as they are on the screen but not cut at its edge. Or why not.
    pub fn take_selection(&mut self) -> Result<String, String> {
        self.prepare(self.width, self.height);
        let Some((mut at, last)) = self.ends() else { return Err("no line is selected".into()) };
        let mut lines: Vec<String> = Vec::new();
        let mut bytes = 0;
        loop {
            let item = self.book.item(at.n, at.place);
            let end = if (at.n, at.place) == (last.n, last.place) { last.row + 1 } else { item.height() };
            for row in at.row..end.min(item.height()) {
                let mut row = item.row(row);
                self.book.tell(at.n, at.place, &mut row);
                let text = row.text();
                bytes += text.len() + 1;
                lines.push(text);
            }
            if bytes > MOST {
                return Err("more than 1 MB is selected; select fewer lines, or export the run with E".into());
            }
            let next = self.book.journal.next(at.n, at.place).filter(|_| (at.n, at.place) != (last.n, last.place));
            let Some((n, place)) = next else { break };
            at = Spot { n, place, row: 0 };
        }
        self.selected_rows = None;
        Ok(lines.join("\n"))
    }

    /// A part of the selected card: all of it, folded or not, the command of its call or the path that it is about. While the
    /// end is followed: of the last card that has such a part. `None`: there is none.
    pub fn part(&mut self, part: Part) -> Option<String> {
        self.prepare(self.width, self.height);
        let mut cards: Vec<(u32, Place)> = match self.cursor {
            Some(card) => vec![card],
            None => self.lines.iter().rev().filter_map(|line| line.card).collect(),
        };
        cards.dedup();
        cards.into_iter().find_map(|(n, place)| self.book.part(n, place, part))
    }
}
