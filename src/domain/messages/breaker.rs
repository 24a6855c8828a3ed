//! The circuit breaker's records in words.

use super::line::Weight::{self, Error, Info, Warn};
use crate::domain::breaker::{Circuit, Counter, CounterMoved, StateMoved};
use crate::domain::record::{ByPerson, Record};

pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    let info = |text: String| Some((Info, text));
    match record {
        Record::BreakerCarried { breaker } => {
            let why = if breaker.reason.is_empty() { String::new() } else { format!(": {}", breaker.reason) };
            info(format!("circuit breaker {}, from the previous run{why}", breaker.state.told()))
        }
        Record::BreakerCounted(CounterMoved { counter, value, limit, why, said, .. }) => {
            let why = said.as_ref().unwrap_or(why);
            let value = match counter {
                Counter::OutputDecline => format!(" {value} %"),
                Counter::PermissionDenials => format!(" {value}/{limit}"),
                Counter::NoProgress | Counter::SameError if *value == 0 => " reset".to_owned(),
                // The run's own limit of these may be another.
                Counter::NoProgress | Counter::SameError => format!(", {value} in a row"),
            };
            info(format!("circuit breaker: {}{value} · {why}", counter.word()))
        }
        Record::BreakerMoved(StateMoved { from, to, reason, .. }) => {
            let level = match to {
                Circuit::Closed => Info,
                Circuit::HalfOpen => Warn,
                Circuit::Open => Error,
            };
            Some((level, format!("circuit breaker {} → {}: {reason}", from.told(), to.told())))
        }
        Record::BreakerReset(ByPerson { by }) => info(format!("circuit breaker closed by {by}, counters reset")),
        _ => None,
    }
}
