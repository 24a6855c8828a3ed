//! From one iteration, phase, error or edit to the next.

use super::order::Place;
use super::window::{self, Spot};
use super::{Goal, StreamMsg, StreamState};
use crate::domain::search::Way;

impl StreamState {
    /// Goes to the next of its kind; errors and edits are searched for, and `n` goes on with them.
    pub(super) fn jump(&mut self, to: Goal, way: Way, rows: usize) {
        let Goal::Record(only) = to else { return self.jump_to_head(to == Goal::Phase, way, rows) };
        let is_sought = |words: &crate::domain::search::Words| words.only == Some(only) && words.query.is_empty();
        if self.search.as_ref().is_some_and(|search| is_sought(&search.found.words)) {
            return self.act(if way == Way::Down { StreamMsg::NextHit } else { StreamMsg::PrevHit }, rows);
        }
        self.only = Some(only);
        self.seek("");
        if let (Some(search), Some(top)) = (&mut self.search, self.top) {
            search.start(way, top, Some(top.row));
        }
    }

    /// To the rule above this iteration, where there is one.
    pub(super) fn jump_to_iteration(&mut self, n: u32, rows: usize) {
        if self.book.journal.segments.iter().any(|segment| segment.n == n) {
            let row = self.book.item(n, Place::Head).gap();
            self.go(Some(Spot { n, place: Place::Head, row }), rows);
            self.cursor = self.top.map(|_| (n, Place::Head));
        }
    }

    /// To the rule above an iteration, or above the first one of a phase: downwards of the next, upwards of this one, and
    /// from there of the one before.
    fn jump_to_head(&mut self, of_phase: bool, way: Way, rows: usize) {
        let Some(here) = self.top.or_else(|| window::tail(&mut self.book, rows)) else { return };
        let segments = &self.book.journal.segments;
        let begins = |at: usize| {
            segments[at].n > 0 && (!of_phase || at == 0 || segments[at - 1].head.phase != segments[at].head.phase)
        };
        let mut heads = (0..segments.len()).filter(|at| begins(*at)).map(|at| segments[at].n);
        let at_head = here.place == Place::Head;
        let n = match way {
            Way::Down => heads.find(|n| *n > here.n),
            Way::Up => heads.rfind(|n| if at_head { *n < here.n } else { *n <= here.n }),
        };
        match (n, way) {
            (Some(n), _) => self.jump_to_iteration(n, rows),
            (None, Way::Down) => self.go(None, rows),
            (None, Way::Up) => {}
        }
    }
}
