//! The records of all open runs in words, within bounds.
//!
//! Does not own the sentences (`domain::messages`), nor which of them are shown (`panes::log`).

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::messages::Weight;
use std::collections::VecDeque;

/// Lines kept; the journal has them all.
const KEPT: usize = 5_000;

/// One line.
#[derive(Clone, Debug)]
pub struct LogLine {
    pub n: u64,
    /// When.
    pub time: Timestamp,
    /// How much it wants to be read.
    pub weight: Weight,
    pub ticket: TicketId,
    /// Clean.
    pub text: String,
}

/// All lines, the newest last.
#[derive(Default)]
pub struct LogLines {
    lines: VecDeque<LogLine>,
    next: u64,
}

impl LogLines {
    /// Adds a line; forgets the oldest above the bound.
    pub fn push(&mut self, time: Timestamp, weight: Weight, ticket: TicketId, text: &str) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(LogLine { n: self.next, time, weight, ticket, text: clean_line(text, 400) });
        self.next += 1;
    }

    /// Forgets the lines of a ticket: its run is told anew.
    pub fn forget(&mut self, ticket: &TicketId) {
        self.lines.retain(|line| line.ticket != *ticket);
    }

    /// The lines, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &LogLine> {
        self.lines.iter()
    }

    /// Nothing logged yet.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_bound() {
        let mut log = LogLines::default();
        for n in 0..KEPT + 7 {
            log.push(Timestamp::from_millis(0), Weight::Info, TicketId::parse("tk-1").unwrap(), &format!("line {n}"));
        }
        assert_eq!((log.lines.len(), log.lines[0].n), (KEPT, 7));
    }
}
