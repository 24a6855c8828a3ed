//! The order of everything in the pane: iterations, and in each its divider, its records and the marks between them.

use super::journal::{Journal, Segment};

/// A place in the pane's order, within its iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Head,
    Mark(usize),
    Entry(usize),
    /// What is being said now; the last place of all.
    Live,
}

impl Journal {
    fn at(&self, n: u32) -> Option<usize> {
        self.segments.binary_search_by_key(&n, |segment| segment.n).ok()
    }

    /// The iteration `n` as it is known.
    pub(super) fn get(&self, n: u32) -> Option<&Segment> {
        self.segments.get(self.at(n)?)
    }

    /// The first place of all.
    pub(super) fn first(&self) -> Option<(u32, Place)> {
        self.segments.first().map(|segment| (segment.n, Place::Head))
    }

    /// The last place of all.
    pub(super) fn last(&self) -> Option<(u32, Place)> {
        self.segments.last().map(|segment| (segment.n, Place::Live))
    }

    pub(super) fn next(&self, n: u32, place: Place) -> Option<(u32, Place)> {
        let index = self.at(n)?;
        let segment = &self.segments[index];
        let (mark, position) = match place {
            Place::Head => (0, 0),
            Place::Mark(k) => (k + 1, segment.marks.get(k).map_or(0, |mark| mark.0)),
            Place::Entry(i) => (segment.marks.partition_point(|mark| mark.0 <= i), i + 1),
            Place::Live => return None,
        };
        if segment.marks.get(mark).is_some_and(|found| found.0 == position) {
            return Some((n, Place::Mark(mark)));
        }
        if position < segment.len {
            return Some((n, Place::Entry(position)));
        }
        match self.segments.get(index + 1) {
            Some(next) => Some((next.n, Place::Head)),
            None => Some((n, Place::Live)),
        }
    }

    pub(super) fn prev(&self, n: u32, place: Place) -> Option<(u32, Place)> {
        let index = self.at(n)?;
        let segment = &self.segments[index];
        let (marks, position) = match place {
            Place::Head => {
                let before = self.segments.get(index.checked_sub(1)?)?;
                return self.prev(before.n, Place::Live);
            }
            Place::Mark(k) => (k, segment.marks.get(k).map_or(0, |mark| mark.0)),
            Place::Entry(i) => (segment.marks.partition_point(|mark| mark.0 <= i), i),
            Place::Live => (segment.marks.len(), segment.len),
        };
        match marks.checked_sub(1) {
            Some(k) if segment.marks[k].0 == position => Some((n, Place::Mark(k))),
            _ if position > 0 => Some((n, Place::Entry(position - 1))),
            _ => Some((n, Place::Head)),
        }
    }

    /// Sorts places.
    pub(super) fn order(&self, n: u32, place: Place) -> (u32, usize, u8, usize) {
        match place {
            Place::Head => (n, 0, 0, 0),
            Place::Mark(k) => {
                let position = self.get(n).and_then(|s| s.marks.get(k)).map_or(0, |mark| mark.0);
                (n, position, 1, k)
            }
            Place::Entry(i) => (n, i, 2, 0),
            Place::Live => (n, usize::MAX, 3, 0),
        }
    }
}
