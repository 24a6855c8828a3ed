//! Limits in words: what the provider tells, why a run waits and how long still, what an iteration cost.

use super::line::Weight;
use crate::base::amount::grouped;
use crate::base::time::{Timestamp, human};
use crate::domain::limits::provider::{Reset, WindowStatus};
use crate::domain::limits::{Parking, Receipt, Window};
use crate::domain::record::Record;
use jiff::tz::TimeZone;
use std::time::Duration;

pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    Some(match record {
        // A limit that is reached is told by the wait that follows, or by the run's end.
        Record::LimitSeen(window) if window.status == WindowStatus::Warning => (Weight::Warn, window_words(window)),
        Record::Unparked => (Weight::Info, "resumed".into()),
        Record::LimitsChanged(limits) => {
            (Weight::Info, format!("limits updated: at most {} calls per hour", limits.calls))
        }
        Record::Receipt(receipt) => (Weight::Info, receipt_words(receipt)?),
        _ => return None,
    })
}

/// Nothing for an iteration in which nothing was used.
fn receipt_words(receipt: &Receipt) -> Option<String> {
    let (usage, time) = (&receipt.usage, human(Duration::from_millis(receipt.ms)));
    if usage.total() == 0 && receipt.cost_usd == 0.0 {
        return None;
    }
    let tries = if receipt.tries == 0 { String::new() } else { format!(" · requests retried: {}", receipt.tries) };
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    let (n, cost, input, output) = (receipt.n, receipt.cost_usd, usage.input, usage.output);
    let [input, output, cached] = [input, output, cached].map(grouped);
    Some(format!("iteration {n} cost: ${cost:.2} · {time} · tokens: {input} in, {output} out, {cached} cached{tries}"))
}

fn window_words(window: &Window) -> String {
    let used = window.used.map_or_else(String::new, |used| format!(", {:.0} % used", used * 100.0));
    format!("the provider's {} is nearly reached{used}", window.name())
}

/// Why a run waits, and until when; without a zone in UTC.
pub(super) fn parked_words(parking: &Parking, zone: Option<&TimeZone>) -> String {
    // A wait may be of days.
    let until = match zone {
        Some(zone) => format!("{} {}", parking.until.day(zone), parking.until.minute(zone)),
        None => format!("{} UTC", parking.until.second()),
    };
    let next = match parking.reset {
        Reset::Known => format!("resuming at {until}"),
        Reset::Unknown => format!("reset unknown, retrying at {until}"),
        Reset::Probe => "waiting for another ticket's retry".to_owned(),
    };
    format!("parked: {}; {next}", parking.about)
}

/// How long a parked run still waits, and for what: `reset unknown, retrying in 4m 12s`.
pub fn wait_words(parking: &Parking, now: Timestamp) -> String {
    let left = countdown(parking, now);
    match parking.reset {
        Reset::Known => format!("resuming in {left}"),
        Reset::Unknown => format!("reset unknown, retrying in {left}"),
        Reset::Probe => "waiting for another ticket's retry".to_owned(),
    }
}

/// The rest of the wait; the last second counts as a whole one.
pub fn countdown(parking: &Parking, now: Timestamp) -> String {
    human(parking.until.since(now) + Duration::from_millis(999))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::limits::admission::Why;

    fn parking(reset: Reset) -> Parking {
        let until = Timestamp::from_millis(1_795_273_200_000);
        Parking {
            why: Why::Provider,
            about: "the provider's five-hour limit is reached".into(),
            until,
            reset,
            known: None,
        }
    }

    #[test]
    fn a_wait_is_counted_down() {
        let at = |seconds: i64| Timestamp::from_millis(1_795_273_200_000 - seconds * 1_000);
        let cases = [
            (Reset::Known, 2_530, "resuming in 42m 10s"),
            (Reset::Unknown, 4, "reset unknown, retrying in 4 s"),
            (Reset::Unknown, -9, "reset unknown, retrying in 0 s"),
            (Reset::Probe, 60, "waiting for another ticket's retry"),
        ];
        for (reset, seconds, expected) in cases {
            assert_eq!(wait_words(&parking(reset), at(seconds)), expected);
        }
        assert!(parked_words(&parking(Reset::Known), None).ends_with("at 2026-11-21 15:00:00 UTC"));
        assert_eq!(
            parked_words(&parking(Reset::Known), Some(&TimeZone::UTC)),
            "parked: the provider's five-hour limit is reached; resuming at Nov 21 15:00"
        );
        assert!(parked_words(&parking(Reset::Unknown), None).contains("reset unknown"));
    }
}
