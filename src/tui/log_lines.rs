//! The records of all open runs in words, within bounds, and which iteration each belongs to.
//!
//! Does not own the sentences (`domain::messages`), nor which of them are shown (`panes::log`).

use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::messages::{IterationSummary, Weight};
use crate::domain::record::Record;
use crate::domain::ticket::TicketKey;
use std::collections::{BTreeMap, VecDeque};

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
    pub ticket: TicketKey,
    /// The iteration that it belongs to.
    pub iteration: Option<u32>,
    /// It is the first kept line of its iteration.
    pub is_first: bool,
    /// Clean.
    pub text: String,
}

/// All lines, the newest last, and the iterations that they belong to.
#[derive(Default)]
pub struct LogLines {
    lines: VecDeque<LogLine>,
    next: u64,
    /// The iterations of all kept lines.
    iterations: BTreeMap<(TicketKey, u32), IterationSummary>,
    /// The last one of each ticket.
    last: BTreeMap<TicketKey, u32>,
}

impl LogLines {
    /// Takes a record of a run. Gives the iteration that its line belongs to.
    pub fn hear(&mut self, ticket: &TicketKey, record: &Record) -> Option<u32> {
        if let Some(begun) = IterationSummary::begun_by(record) {
            let n = begun.n;
            self.last.insert(ticket.clone(), n);
            self.iterations.insert((ticket.clone(), n), begun);
            return Some(n);
        }
        let n = *self.last.get(ticket)?;
        let summary = self.iterations.get_mut(&(ticket.clone(), n))?;
        // What it claims is ticked, and what it says of the breaker is counted, when it has ended.
        let late = matches!(record, Record::TickSettled(_) | Record::UntickSettled(_) | Record::BreakerCounted(_));
        let belongs = summary.is_under_way() || late;
        summary.hear(record);
        belongs.then_some(n)
    }

    /// The iteration that is under way.
    pub fn under_way(&self, ticket: &TicketKey) -> Option<u32> {
        let n = *self.last.get(ticket)?;
        self.iterations.get(&(ticket.clone(), n))?.is_under_way().then_some(n)
    }

    /// Adds a line of an iteration, or of none; forgets the oldest above the bound.
    pub fn push(&mut self, time: Timestamp, weight: Weight, ticket: TicketKey, iteration: Option<u32>, text: &str) {
        if self.lines.len() == KEPT {
            self.forget_oldest();
        }
        let is_first = iteration.is_some() && self.of(&ticket, iteration).next().is_none();
        let text = clean_line(text, 400);
        self.lines.push_back(LogLine { n: self.next, time, weight, ticket, iteration, is_first, text });
        self.next += 1;
    }

    /// The lines of an iteration that are kept, the newest first: they stand close to the end.
    fn of(&self, ticket: &TicketKey, iteration: Option<u32>) -> impl Iterator<Item = &LogLine> {
        let lines = self.lines.iter().rev().filter(move |line| line.ticket == *ticket && line.iteration.is_some());
        lines.take_while(move |line| line.iteration == iteration)
    }

    fn forget_oldest(&mut self) {
        let Some(LogLine { ticket, iteration: Some(n), is_first: true, .. }) = self.lines.pop_front() else { return };
        let next = self.lines.iter_mut().find(|line| line.ticket == ticket && line.iteration.is_some());
        match next.filter(|line| line.iteration == Some(n)) {
            Some(next) => next.is_first = true,
            None if self.last.get(&ticket) == Some(&n) => {}
            None => _ = self.iterations.remove(&(ticket, n)),
        }
    }

    /// What became of the iteration that the line belongs to.
    pub fn iteration(&self, line: &LogLine) -> Option<&IterationSummary> {
        self.iterations.get(&(line.ticket.clone(), line.iteration?))
    }

    /// Forgets the lines of a ticket: its run is told anew.
    pub fn forget(&mut self, ticket: &TicketKey) {
        self.lines.retain(|line| line.ticket != *ticket);
        self.iterations.retain(|(of, _), _| of != ticket);
        self.last.remove(ticket);
    }

    /// Puts the lines of a run that was read after others among those of its time.
    pub fn sort(&mut self) {
        self.lines.make_contiguous().sort_by_key(|line| line.time);
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
    use crate::domain::breaker::{Counter, CounterMoved};
    use crate::domain::outcome::IterationOutcome;

    #[test]
    fn it_has_a_bound() {
        let mut log = LogLines::default();
        for n in 0..KEPT + 7 {
            log.push(Timestamp::from_millis(0), Weight::Info, TicketKey::unknown("tk-1"), None, &format!("line {n}"));
        }
        assert_eq!((log.lines.len(), log.lines[0].n), (KEPT, 7));
    }

    #[test]
    fn an_iteration_whose_first_lines_are_forgotten_keeps_a_first_one() {
        let mut log = LogLines::default();
        let id = TicketKey::unknown("tk-1");
        let push = |log: &mut LogLines| {
            log.push(Timestamp::from_millis(0), Weight::Info, id.clone(), log.under_way(&id), "line");
        };
        push(&mut log);
        let started = |n| Record::IterationStarted { n, phase: None, session: None, id: None, role: <_>::default() };
        log.hear(&id, &started(1));
        (0..3).for_each(|_| push(&mut log));
        log.hear(&id, &started(2));
        (0..KEPT - 4).for_each(|_| push(&mut log));
        let firsts = |log: &LogLines| -> Vec<_> {
            log.iter().filter(|line| line.is_first).map(|line| (line.n, line.iteration)).collect()
        };
        assert_eq!(firsts(&log), [(1, Some(1)), (4, Some(2))]);
        (0..2).for_each(|_| push(&mut log));
        assert_eq!(firsts(&log), [(2, Some(1)), (4, Some(2))]);
        (0..2).for_each(|_| push(&mut log));
        assert_eq!(firsts(&log), [(4, Some(2))]);
        assert_eq!(log.iterations.len(), 1);
        let ended = Record::IterationEnded {
            n: 2,
            outcome: IterationOutcome::Claimed,
            changed: true,
            fingerprint: None,
            ms: 1,
            reading: None,
        };
        assert_eq!(log.hear(&id, &ended), Some(2), "its own end belongs to it");
        let moved =
            CounterMoved { n: 2, counter: Counter::SameError, value: 1, limit: 5, why: "error".into(), said: None };
        assert_eq!(log.hear(&id, &Record::BreakerCounted(moved)), Some(2), "and so does what it says of the breaker");
        assert_eq!(log.hear(&id, &Record::Paused), None, "what comes behind it does not");
    }
}
