//! The hour and the day in which things are counted, and when what was counted leaves them again.
//!
//! What lies in the future (a clock was set back) still counts: a window never opens early for it. The store sees to
//! it that nothing lies more than an hour ahead, so nothing stays closed for more than two.

use super::HourWindow;
use crate::base::time::Timestamp;
use jiff::tz::TimeZone;
use std::time::Duration;

pub const HOUR: Duration = Duration::from_secs(3_600);

/// Since when things count that happen at `now`.
pub fn start(now: Timestamp, window: HourWindow, zone: &TimeZone) -> Timestamp {
    match window {
        HourWindow::Sliding => Timestamp::from_millis(now.millis().saturating_sub(HOUR.as_millis() as i64 - 1)),
        HourWindow::Clock => full_hour(now, zone),
    }
}

/// The full hour of the local clock that `time` is in. Zones may be off by a part of an hour.
fn full_hour(time: Timestamp, zone: &TimeZone) -> Timestamp {
    let offset = offset_millis(time, zone);
    let hour = HOUR.as_millis() as i64;
    let local = time.millis().saturating_add(offset);
    Timestamp::from_millis(local.div_euclid(hour).saturating_mul(hour).saturating_sub(offset))
}

fn offset_millis(time: Timestamp, zone: &TimeZone) -> i64 {
    let instant = jiff::Timestamp::from_millisecond(time.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    i64::from(zone.to_offset(instant).seconds()) * 1_000
}

/// When the hour ends in which `time` counts.
pub fn leaves(time: Timestamp, window: HourWindow, zone: &TimeZone) -> Timestamp {
    match window {
        HourWindow::Sliding => time.plus(HOUR),
        HourWindow::Clock => full_hour(time, zone).plus(HOUR),
    }
}

/// The beginning of the local day.
pub fn day_start(now: Timestamp, zone: &TimeZone) -> Timestamp {
    let instant = jiff::Timestamp::from_millisecond(now.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let start = instant.to_zoned(zone.clone()).start_of_day();
    start.map_or(now, |start| Timestamp::from_millis(start.timestamp().as_millisecond()))
}

/// When one more fits under `limit`: `None`, at once. `rows` are what counts now, oldest first: time and weight.
pub fn frees(rows: &[(Timestamp, u64)], limit: u64, window: HourWindow, zone: &TimeZone) -> Option<Timestamp> {
    let mut sum: u64 = rows.iter().fold(0, |sum, (_, weight)| sum.saturating_add(*weight));
    let mut free = None;
    for (time, weight) in rows {
        if sum < limit {
            break;
        }
        sum = sum.saturating_sub(*weight);
        free = Some(leaves(*time, window, zone));
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const T: i64 = 1_795_269_600_000; // 2026-11-21T14:00:00Z

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(T + minutes * 60_000)
    }

    #[test]
    fn hours_of_the_clock_end_with_the_local_hour() {
        let kolkata = TimeZone::fixed(jiff::tz::offset(5).saturating_add(jiff::SignedDuration::from_mins(30)));
        let cases = [
            (TimeZone::UTC, 42, 0, 60),
            (TimeZone::UTC, 0, 0, 60),
            (TimeZone::UTC, 59, 0, 60),
            (kolkata.clone(), 42, 30, 90),
            (kolkata, 29, -30, 30),
        ];
        for (zone, minute, begins, ends) in cases {
            assert_eq!(start(at(minute), HourWindow::Clock, &zone), at(begins), "{zone:?} {minute}");
            assert_eq!(leaves(at(minute), HourWindow::Clock, &zone), at(ends), "{zone:?} {minute}");
        }
    }

    #[test]
    fn one_more_fits_when_enough_has_left() {
        let rows = [(at(10), 1), (at(20), 1), (at(30), 1)];
        let cases = [
            (4, HourWindow::Clock, None),
            (3, HourWindow::Clock, Some(at(60))),
            (3, HourWindow::Sliding, Some(at(70))),
            (2, HourWindow::Sliding, Some(at(80))),
            (1, HourWindow::Sliding, Some(at(90))),
        ];
        for (limit, window, expected) in cases {
            assert_eq!(frees(&rows, limit, window, &TimeZone::UTC), expected, "{limit} {window:?}");
        }
        assert_eq!(frees(&[], 1, HourWindow::Clock, &TimeZone::UTC), None);
        assert_eq!(frees(&[(at(1), 900), (at(2), 200)], 1_000, HourWindow::Sliding, &TimeZone::UTC), Some(at(61)));
    }

    #[test]
    fn a_day_is_the_local_one() {
        let tokyo = TimeZone::fixed(jiff::tz::offset(9));
        assert_eq!(day_start(at(0), &TimeZone::UTC), at(-14 * 60));
        assert_eq!(day_start(at(90), &tokyo), at(60));
    }

    proptest! {
        #[test]
        fn what_is_freed_is_free_and_not_a_moment_earlier(
            mut minutes in prop::collection::vec(0i64..60, 1..30), limit in 1u64..20, sliding: bool,
        ) {
            let window = if sliding { HourWindow::Sliding } else { HourWindow::Clock };
            let zone = TimeZone::UTC;
            minutes.sort_unstable();
            let rows: Vec<_> = minutes.iter().map(|minute| (at(*minute), 1)).collect();
            let counting = |now: Timestamp| rows.iter().filter(|(time, _)| *time >= start(now, window, &zone)).count() as u64;
            match frees(&rows, limit, window, &zone) {
                None => prop_assert!((rows.len() as u64) < limit),
                Some(free) => {
                    prop_assert!(counting(free) < limit);
                    prop_assert!(counting(Timestamp::from_millis(free.millis() - 1)) >= limit);
                }
            }
        }
    }
}
