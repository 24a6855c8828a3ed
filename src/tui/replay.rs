//! A run of the past, played: how far it is shown, and how fast. Records have their times. What Claude printed has none: it
//! comes evenly from the start of its process to the end.

use crate::domain::record::{Record, Stored};
use crate::domain::scrollback::{Entry, Live, Scrollback, Survey};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest time between two records when it is played, at ×1.
const LONGEST: Duration = Duration::from_secs(2);
const SPEEDS: [u32; 3] = [1, 4, 16];
/// What is said of a key that needs a run at work.
pub const IN_REPLAY: &str = "not available in a replay";

/// When Claude printed in an iteration: from and to these records, by their places.
struct Span {
    n: u32,
    from: usize,
    to: usize,
}

/// The state of a replay.
pub struct Replay {
    pub records: Vec<Arc<Stored>>,
    spans: Vec<Span>,
    /// All that Claude printed.
    scrollback: Option<Arc<dyn Scrollback>>,
    printed: Arc<Printed>,
    /// Records that are shown.
    pub at: usize,
    /// How long the last of them has been, at ×1.
    into: Duration,
    pub is_playing: bool,
    speed: usize,
}

impl Replay {
    /// All of it is shown.
    pub fn new(records: Vec<Arc<Stored>>) -> Self {
        let mut spans: Vec<Span> = Vec::new();
        for (at, stored) in records.iter().enumerate() {
            match stored.record {
                Record::AgentSpawned { n, .. } if spans.last().is_none_or(|span| span.n != n) => {
                    spans.push(Span { n, from: at, to: records.len().saturating_sub(1) });
                }
                Record::AgentExited { n, .. } | Record::IterationEnded { n, .. } => {
                    let open = spans.last_mut().filter(|span| span.n == n);
                    if let Some(span) = open {
                        span.to = span.to.min(at);
                    }
                }
                _ => {}
            }
        }
        let at = records.len();
        let (scrollback, printed) = (None, Arc::default());
        Self { records, spans, scrollback, printed, at, into: Duration::ZERO, is_playing: false, speed: 0 }
    }

    /// What Claude printed can be read here.
    pub fn attach(&mut self, scrollback: Arc<dyn Scrollback>) {
        self.scrollback = Some(scrollback);
    }

    /// What of it is shown from now on; grows with [`Self::print`].
    pub fn shown(&mut self) -> Option<Arc<dyn Scrollback>> {
        let all = self.scrollback.clone()?;
        self.printed = Arc::new(Printed { all: Some(all), shown: Mutex::default() });
        self.print();
        Some(self.printed.clone())
    }

    pub fn speed(&self) -> u32 {
        SPEEDS[self.speed]
    }

    pub fn faster(&mut self) {
        self.speed = (self.speed + 1) % SPEEDS.len();
    }

    pub fn is_over(&self) -> bool {
        self.at == self.records.len()
    }

    fn gap(&self) -> Duration {
        let time = |at: usize| self.records.get(at).map(|stored| stored.time);
        match (self.at.checked_sub(1).and_then(time), time(self.at)) {
            (Some(last), Some(next)) => next.since(last),
            _ => Duration::ZERO,
        }
    }

    /// Goes on by a time that has passed. Gives the records that are shown now, by their places.
    pub fn advance(&mut self, passed: Duration) -> Range<usize> {
        let from = self.at;
        self.into += passed * self.speed();
        while !self.is_over() && self.into >= self.gap().min(LONGEST) {
            self.into -= self.gap().min(LONGEST);
            self.at += 1;
        }
        self.is_playing &= !self.is_over();
        if self.is_over() {
            self.into = Duration::ZERO;
        }
        self.print();
        from..self.at
    }

    /// Shows so many records, and stops.
    pub fn go(&mut self, at: usize) {
        (self.at, self.into, self.is_playing) = (at.min(self.records.len()), Duration::ZERO, false);
    }

    /// The number of records with which the next iteration begins, or this one; from its first record, the one before.
    pub fn iteration(&self, forward: bool) -> usize {
        let begins = |at: &usize| matches!(self.records[*at].record, Record::IterationStarted { .. });
        let mut starts = (0..self.records.len()).filter(begins).map(|at| at + 1);
        if forward {
            starts.find(|start| *start > self.at).unwrap_or(self.records.len())
        } else {
            starts.rfind(|start| *start < self.at).unwrap_or(1.min(self.records.len()))
        }
    }

    /// Has as much printed as belongs to the moment.
    pub fn print(&self) {
        let Some(all) = &self.scrollback else { return };
        let shown = self.spans.iter().filter(|span| span.from < self.at).map(|span| {
            let len = all.len(span.n);
            if span.to < self.at {
                return (span.n, len);
            }
            let since = |at: usize| self.records[at].time.since(self.records[span.from].time).as_secs_f64();
            let share = self.into.as_secs_f64() / self.gap().min(LONGEST).as_secs_f64().max(0.001);
            let now = since(self.at - 1) + self.gap().as_secs_f64() * share.min(1.0);
            (span.n, (len as f64 * now / since(span.to).max(0.001)) as usize)
        });
        *self.printed.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown.collect();
    }
}

/// What Claude has printed up to a moment.
#[derive(Default)]
struct Printed {
    all: Option<Arc<dyn Scrollback>>,
    /// Iterations with their numbers of records, ascending.
    shown: Mutex<Vec<(u32, usize)>>,
}

impl Scrollback for Printed {
    fn iterations(&self) -> Vec<u32> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(n, _)| *n).collect()
    }

    fn len(&self, iteration: u32) -> usize {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.iter().find(|(n, _)| *n == iteration).map_or(0, |(_, len)| *len)
    }

    fn entries(&self, iteration: u32, range: Range<usize>, out: &mut Vec<Entry>) {
        let end = range.end.min(self.len(iteration));
        if let Some(all) = &self.all {
            all.entries(iteration, range.start.min(end)..end, out);
        }
    }

    fn read(&self, iteration: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
        self.all.as_ref().map_or_else(|| Ok(Vec::new()), |all| all.read(iteration, entry, max))
    }

    fn live(&self) -> Live {
        Live::default()
    }

    fn survey(&self, survey: Arc<dyn Survey>) {
        // Of stretches that it knows: those that are printed.
        if let Some(all) = &self.all {
            all.survey(survey);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    /// Ten records in the first iteration.
    struct Ten;

    impl Scrollback for Ten {
        fn iterations(&self) -> Vec<u32> {
            vec![1]
        }

        fn len(&self, _: u32) -> usize {
            10
        }

        fn entries(&self, _: u32, _: Range<usize>, _: &mut Vec<Entry>) {}

        fn read(&self, _: u32, _: Entry, _: usize) -> io::Result<Vec<u8>> {
            Ok(Vec::new())
        }

        fn live(&self) -> Live {
            Live::default()
        }

        fn survey(&self, _: Arc<dyn Survey>) {}
    }

    #[test]
    fn what_claude_printed_comes_in_as_the_records_do() {
        let at = |seq: u64, record| {
            let time = sample::NOW.plus(Duration::from_secs(seq));
            Arc::new(Stored { time, ..sample::stored("tk-1", seq, record) })
        };
        let ended = Record::AgentExited { n: 1, code: Some(0), signal: None, swept: 0, cost_usd: 0.0 };
        let mut replay = Replay::new(vec![
            at(1, Record::AgentSpawned { n: 1, pid: 2 }),
            at(2, Record::Paused),
            at(3, ended),
            at(4, Record::Paused),
        ]);
        replay.attach(Arc::new(Ten));
        let mut printed = |records| {
            replay.go(records);
            replay.shown().map(|shown| shown.len(1))
        };
        assert_eq!([0, 1, 2, 3, 4].map(&mut printed), [0, 0, 5, 10, 10].map(Some));
    }
}
