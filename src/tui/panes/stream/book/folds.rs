//! What is folded, and what belongs together: a call and its result are one card, and so are a thought, words, a verdict.

use super::super::fold::Fold;
use super::super::layout::Group;
use super::super::marks::Mark;
use super::super::order::Place;
use super::Book;
use crate::domain::record::Level;

impl Book {
    /// Shows one record in full. `false`: it is not a record, or in full already.
    pub(in super::super) fn open(&mut self, n: u32, place: Place) -> bool {
        let Place::Entry(i) = place else { return false };
        let with = (n, self.folded_with(n, i));
        let opens = self.fold_of(with) == Fold::Brief;
        if opens {
            self.turn(with);
            self.found.push(with);
            self.forget(n, i);
        }
        opens
    }

    /// Takes [`Self::open`] back.
    pub(in super::super) fn close(&mut self, n: u32, place: Place) {
        let Place::Entry(i) = place else { return };
        let with = (n, self.folded_with(n, i));
        if let Some(at) = self.found.iter().position(|found| *found == with) {
            self.found.swap_remove(at);
            self.turn(with);
            self.forget(n, i);
        }
    }

    /// Takes every [`Self::open`] back.
    pub(in super::super) fn close_all(&mut self) {
        for with in std::mem::take(&mut self.found) {
            self.turn(with);
        }
        self.forget_all();
    }

    /// Folds or unfolds what stands there. `false`: there is nothing to fold.
    pub(in super::super) fn toggle(&mut self, n: u32, place: Place) -> bool {
        let Place::Entry(i) = place else { return false };
        if !self.folds(n, place) {
            return false;
        }
        let with = (n, self.folded_with(n, i));
        self.found.retain(|found| *found != with);
        self.turn(with);
        self.forget_all();
        true
    }

    /// Everything is folded like this.
    pub(in super::super) fn fold_all(&mut self, fold: Fold) {
        self.fold = fold;
        self.turned.clear();
        self.found.clear();
        self.forget_all();
    }

    /// A mark of ours that tells of a failure.
    pub(in super::super) fn is_failure(&self, n: u32, place: Place) -> bool {
        let Place::Mark(k) = place else { return false };
        let mark = self.journal.get(n).and_then(|segment| segment.marks.get(k));
        matches!(mark, Some((_, Mark::Dispute { .. } | Mark::Notice { level: Level::Error, .. })))
    }

    /// There is more of it than is shown, or less when it is folded.
    pub(in super::super) fn folds(&self, n: u32, place: Place) -> bool {
        let Place::Entry(i) = place else { return false };
        self.bodies.get(&(n, i)).is_some_and(|kept| kept.body.folds)
    }

    pub(in super::super) fn fold_at(&self, n: u32, place: Place) -> Fold {
        let Place::Entry(i) = place else { return self.fold };
        self.fold_of((n, self.bodies.get(&(n, i)).map_or(i, |kept| kept.with)))
    }

    /// The record with which record `i` is folded.
    pub(super) fn folded_with(&mut self, n: u32, i: usize) -> usize {
        self.entry_body(n, i);
        self.bodies.get(&(n, i)).map_or(i, |kept| kept.with)
    }

    pub(super) fn turn(&mut self, with: (u32, usize)) {
        if !self.turned.remove(&with) {
            self.turned.insert(with);
        }
        self.forget(with.0, with.1);
    }

    /// The card that a place belongs to.
    pub(in super::super) fn card(&mut self, n: u32, place: Place) -> Option<(u32, Place)> {
        let mut at = (n, place);
        while self.item(at.0, at.1).continues() {
            at = self.journal.prev(at.0, at.1)?;
        }
        (at.1 != Place::Live).then_some(at)
    }

    /// The card below or above one.
    pub(in super::super) fn neighbour(&mut self, n: u32, place: Place, down: bool) -> Option<(u32, Place)> {
        let mut at = (n, place);
        loop {
            at = if down { self.journal.next(at.0, at.1)? } else { self.journal.prev(at.0, at.1)? };
            let item = self.item(at.0, at.1);
            // Rules and notices are neither folded nor worth copying.
            let is_card = matches!(item.body.first, Group::Words | Group::Tools) || self.folds(at.0, at.1);
            if at.1 == Place::Live || is_card && !item.continues() {
                return Some(at).filter(|at| at.1 != Place::Live);
            }
        }
    }

    /// The last place with rows of the card that begins there, when it is another one.
    pub(in super::super) fn continuation(&mut self, n: u32, place: Place) -> Option<(u32, Place)> {
        let (mut at, mut last) = ((n, place), None);
        while let Some(next) = self.journal.next(at.0, at.1) {
            let item = self.item(next.0, next.1);
            if !item.continues() {
                break;
            }
            if item.height() > 0 {
                last = Some(next);
            }
            at = next;
        }
        last
    }
}
