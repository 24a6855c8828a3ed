//! Walking over rows: from a spot up or down, by what stands there. Every walk costs as many rows as it passes, whatever
//! the length of the run.

use super::book::Book;
use super::order::Place;

/// A row of a place of an iteration. Stays the same while the stream grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) n: u32,
    pub(super) place: Place,
    pub(super) row: usize,
}

/// Rows that one message scrolls at most.
pub(super) const FARTHEST: u32 = 2_000;

/// Rows that the person selects: the one where that began, and the one where it ends now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    pub(super) from: Spot,
    pub(super) to: Spot,
}

impl Spot {
    /// Before (`Less`) or after another spot.
    pub(super) fn compare(self, other: Self, book: &Book) -> std::cmp::Ordering {
        let key = |spot: Self| (book.journal.order(spot.n, spot.place), spot.row);
        key(self).cmp(&key(other))
    }
}

/// The first row of all.
pub(super) fn first(book: &mut Book) -> Option<Spot> {
    let (n, place) = book.journal.first()?;
    down(book, Spot { n, place, row: 0 }, 0)
}

/// The spot itself, or the nearest row there is: its place may have got fewer rows.
pub(super) fn held(book: &mut Book, spot: Spot) -> Option<Spot> {
    let height = book.item(spot.n, spot.place).height();
    if height > 0 {
        return Some(Spot { row: spot.row.min(height - 1), ..spot });
    }
    down(book, Spot { row: 0, ..spot }, 0).or_else(|| up(book, spot, 1))
}

/// `rows` rows further down, or the last row there is.
pub(super) fn down(book: &mut Book, from: Spot, rows: usize) -> Option<Spot> {
    let mut spot = from;
    let mut left = rows;
    let mut best = None;
    loop {
        let height = book.item(spot.n, spot.place).height();
        if spot.row + left < height {
            return Some(Spot { row: spot.row + left, ..spot });
        }
        if height > 0 {
            best = Some(Spot { row: height - 1, ..spot });
        }
        left -= height.saturating_sub(spot.row).min(left);
        match book.journal.next(spot.n, spot.place) {
            Some((n, place)) => spot = Spot { n, place, row: 0 },
            None => return best,
        }
    }
}

/// `rows` rows further up, or the first row there is.
pub(super) fn up(book: &mut Book, from: Spot, rows: usize) -> Option<Spot> {
    let mut spot = from;
    let mut left = rows;
    let mut best = None;
    loop {
        if left <= spot.row {
            return Some(Spot { row: spot.row - left, ..spot });
        }
        if spot.row > 0 || book.item(spot.n, spot.place).height() > 0 {
            best = Some(Spot { row: 0, ..spot });
        }
        left -= spot.row;
        // Up into the places before, whose last row is one row away.
        loop {
            let Some((n, place)) = book.journal.prev(spot.n, spot.place) else { return best };
            let height = book.item(n, place).height();
            spot = Spot { n, place, row: 0 };
            if height > 0 {
                spot.row = height - 1;
                left -= 1;
                break;
            }
        }
    }
}

/// The top row of a window of `rows` rows that ends with the last row.
pub(super) fn tail(book: &mut Book, rows: usize) -> Option<Spot> {
    let (n, place) = book.journal.last()?;
    let height = book.item(n, place).height();
    // One beyond the last row.
    let end = Spot { n, place, row: height };
    up(book, end, rows.max(1))
}
