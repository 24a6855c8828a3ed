//! The ledger of all programs, in memory: it does what the store does in its transaction, and looks over the shoulder
//! of `domain::limits::admission` with an arithmetic of its own.

use programmator::base::id::RunId;
use programmator::base::time::Timestamp;
use programmator::domain::limits::admission::{Admission, Ask, Asker, Facts, Hold, Purpose, Verdict, admit};
use programmator::domain::limits::provider::{Hit, Reset, Window};
use programmator::domain::limits::{HourWindow, Spent, hour};
use programmator::domain::record::{Record, TurnEnded};
use std::collections::HashSet;

const HOUR: i64 = 3_600_000;

/// What all programs know of limits.
#[derive(Default)]
pub struct Ledger {
    /// Calls of every ticket, oldest first; `None` are those of others.
    calls: Vec<(Timestamp, Option<Call>)>,
    /// Tokens that count for an hour.
    tokens: Vec<(Timestamp, u64)>,
    /// What was spent, by all runs of the ticket.
    spent: Spent,
    /// What the run has spent since its budget was granted.
    run: Spent,
    hold: Option<(Hit, Timestamp)>,
    windows: Vec<Window>,
    granted: HashSet<Call>,
}

/// Whose call it is, and which.
type Call = (RunId, u32, Purpose);

impl Ledger {
    /// A call of another ticket, whose limits may be wider.
    pub fn other_call(&mut self, now: Timestamp) {
        self.insert(now, None);
    }

    /// The run begins, or the person grants its budget anew.
    pub fn grant_budget(&mut self) {
        self.run = Spent::default();
    }

    /// A call that another world's ledger has granted.
    pub fn believe(&mut self, run: RunId, n: u32, purpose: Purpose, time: Timestamp) {
        self.insert(time, Some((run, n, purpose)));
        self.granted.insert((run, n, purpose));
    }

    /// The call was granted and is not taken back.
    pub fn has_granted(&self, run: RunId, n: u32, purpose: Purpose) -> bool {
        self.granted.contains(&(run, n, purpose))
    }

    /// What the store notes in the transaction of a record. `usd`: what it cost.
    pub fn note(&mut self, run: RunId, record: &Record, usd: f64, now: Timestamp) {
        match record {
            // Asked for twice, it may have given its place back and been made all the same.
            Record::CallCounted(counted) => {
                let call = (run, counted.n, counted.purpose);
                if !self.calls.iter().any(|(_, other)| *other == Some(call)) {
                    self.insert(now, Some(call));
                }
            }
            Record::LimitSeen(window) => {
                self.windows.retain(|other| other.kind != window.kind);
                self.windows.push(window.clone());
            }
            Record::LimitHit(hit) => {
                assert!(hit.until > now, "no wait at all: {hit:?}");
                let mut hit = hit.clone();
                if let Some((before, _)) = self.hold.take().filter(|(before, _)| before.scope == hit.scope) {
                    hit.until = hit.until.max(before.until);
                    hit.tries = hit.tries.max(before.tries);
                }
                self.hold = Some((hit, now));
            }
            Record::ClaimMade { .. } => self.hold = None,
            Record::TurnEnded(TurnEnded { usage, .. }) => {
                for spent in [&mut self.spent, &mut self.run] {
                    spent.usd += usd;
                    spent.tokens += usage.total();
                }
                let at = self.tokens.partition_point(|(time, _)| *time <= now);
                self.tokens.insert(at, (now, usage.counted()));
            }
            _ => {}
        }
    }

    /// May the call be made? The same call is counted once, however often it is asked for.
    pub fn admit(&mut self, ask: &Ask, run: RunId, now: Timestamp) -> Admission {
        let call = (run, ask.n, ask.purpose);
        self.correct_clock(now);
        self.calls.retain(|(_, other)| *other != Some(call));
        let begins = match ask.limits.window {
            HourWindow::Clock => now.millis() - now.millis().rem_euclid(HOUR),
            HourWindow::Sliding => now.millis() - HOUR + 1,
        };
        let counts = |time: Timestamp| time.millis() >= begins;
        let hold = self.hold.as_ref().map(|(hit, _)| Hold {
            scope: hit.scope.clone(),
            about: hit.about(),
            until: hit.until,
            reset: hit.reset,
            tries: hit.tries,
            probe: None,
        });
        let facts = Facts {
            calls: self.calls.iter().filter(|(time, _)| counts(*time)).map(|(time, _)| (*time, 1)).collect(),
            tokens: self.tokens.iter().filter(|(time, _)| counts(*time)).copied().collect(),
            ticket: self.spent,
            day: self.spent,
            reserved: programmator::domain::limits::admission::Reserved::default(),
            holds: hold.into_iter().collect(),
            windows: self.windows.clone(),
        };
        let zone = jiff::tz::TimeZone::UTC;
        assert_eq!(hour::start(now, ask.limits.window, &zone).millis(), begins, "the hour begins elsewhere");
        let admission = admit(&facts, ask, run, now, &zone);
        if let Verdict::Go { .. } = admission.verdict {
            self.look_over(&facts, ask, now);
            self.insert(now, Some(call));
            self.granted.insert(call);
        }
        admission
    }

    /// A granted call is above no limit.
    fn look_over(&self, facts: &Facts, ask: &Ask, now: Timestamp) {
        let limits = &ask.limits;
        assert!(facts.calls.len() < limits.calls as usize, "call {} of {}", facts.calls.len() + 1, limits.calls);
        let tokens: u64 = facts.tokens.iter().map(|(_, tokens)| tokens).sum();
        assert!(limits.tokens.is_none_or(|most| tokens < most), "{tokens} tokens of {:?}", limits.tokens);
        let budgets = [(&limits.run, self.run), (&limits.ticket, self.spent), (&limits.day, self.spent)];
        for (budget, spent) in budgets {
            assert!(budget.usd().is_none_or(|most| spent.usd < most), "${} of {:?}", spent.usd, budget.usd());
            assert!(budget.tokens.is_none_or(|most| spent.tokens < most), "{} of {:?}", spent.tokens, budget.tokens);
        }
        if let Some((hit, _)) = &self.hold {
            let due = hit.until <= now || ask.asker == Asker::Person;
            assert!(due, "the provider is tried at {now}, before {}", hit.until);
        }
    }

    /// What lies more than an hour ahead after the clock was set back is brought nearer, as in the store.
    fn correct_clock(&mut self, now: Timestamp) {
        let ahead = Timestamp::from_millis(now.millis() + HOUR);
        let first = self.calls.partition_point(|(time, _)| *time <= ahead);
        self.calls[first..].iter_mut().for_each(|(time, _)| *time = ahead);
        let first = self.tokens.partition_point(|(time, _)| *time <= ahead);
        self.tokens[first..].iter_mut().for_each(|(time, _)| *time = ahead);
        if let Some((hit, seen)) = self.hold.as_mut().filter(|(_, seen)| *seen > ahead) {
            hit.until = now.plus(hit.until.since(*seen));
            *seen = now;
        }
    }

    /// The provider's hold with no known end, for the tally.
    pub fn is_held_without_reset(&self) -> bool {
        self.hold.as_ref().is_some_and(|(hit, _)| hit.reset == Reset::Unknown)
    }

    fn insert(&mut self, now: Timestamp, call: Option<Call>) {
        let at = self.calls.partition_point(|(time, _)| *time <= now);
        self.calls.insert(at, (now, call));
    }
}
