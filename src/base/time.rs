//! Points in time and the clock they come from.
//!
//! Nothing here reads a clock: the core gets `now` as an argument, the edge has a [`Clock`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A point in time, UTC, to the millisecond; written as RFC 3339 (`2026-11-21T14:02:13.120Z`).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// This point plus `by`.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This point less `by`.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Time from `earlier` to this point; zero when the clock went back.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// `HH:MM:SS` in the given zone.
    pub fn clock_time(self, zone: &jiff::tz::TimeZone) -> String {
        self.jiff().to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
    }

    /// `HH:MM` in the given zone.
    pub fn minute(self, zone: &jiff::tz::TimeZone) -> String {
        self.jiff().to_zoned(zone.clone()).strftime("%H:%M").to_string()
    }

    /// The minute of the day in the given zone, from 0 to 1,439.
    pub fn minute_of_day(self, zone: &jiff::tz::TimeZone) -> u16 {
        let time = self.jiff().to_zoned(zone.clone());
        u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).unwrap_or(0)
    }

    /// The day in the given zone: `Nov 26`.
    pub fn day(self, zone: &jiff::tz::TimeZone) -> String {
        self.jiff().to_zoned(zone.clone()).strftime("%b %-d").to_string()
    }

    /// The beginning of the day in the given zone.
    #[must_use]
    pub fn midnight(self, zone: &jiff::tz::TimeZone) -> Self {
        let start = self.jiff().to_zoned(zone.clone()).start_of_day();
        start.map_or(self, |start| Self(start.timestamp().as_millisecond()))
    }

    /// `HH:MM` says which moment is meant: it is less than a day after `now`.
    pub fn is_within_a_day_of(self, now: Self) -> bool {
        self.since(now) < Duration::from_secs(86_400)
    }

    /// `YYYY-MM-DD HH:MM` in the given zone.
    pub fn day_and_minute(self, zone: &jiff::tz::TimeZone) -> String {
        self.jiff().to_zoned(zone.clone()).strftime("%F %H:%M").to_string()
    }

    /// `YYYY-MM-DD HH:MM:SS` in UTC.
    pub fn second(self) -> String {
        self.jiff().strftime("%F %T").to_string()
    }

    fn jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.jiff())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = jiff::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse::<jiff::Timestamp>().map(|time| Self(time.as_millisecond()))
    }
}

/// The age of the machine: nobody can set it, and it goes on while the machine sleeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uptime {
    /// Which start of the machine it is counted from.
    pub boot: String,
    /// Milliseconds since then.
    pub millis: i64,
}

/// A moment by the clock, and by the age of the machine where that can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    pub now: Timestamp,
    /// How old the machine is.
    pub uptime: Option<Uptime>,
}

impl From<Timestamp> for Moment {
    fn from(now: Timestamp) -> Self {
        Self { now, uptime: None }
    }
}

/// Where the edge gets the time from.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// The same by every clock there is.
    fn moment(&self) -> Moment {
        self.now().into()
    }
}

/// A length of time for people: `8 s`, `4m 12s`, `1h 03m`.
pub fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3_599 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..=172_799 => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// A length of time in few columns: `8s`, `4m12s`, `12m`, `1h03m`.
pub fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        600..=3_599 => format!("{}m", seconds / 60),
        _ => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// An age in whole minutes, in few columns: `<1m`, `12m`, `1h03m`.
pub fn age(duration: Duration) -> String {
    match duration.as_secs() / 60 {
        0 => "<1m".to_owned(),
        minutes @ 1..=59 => format!("{minutes}m"),
        _ => short(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_rfc_3339_and_read_back() {
        let time = Timestamp::from_millis(1_795_269_733_120);
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(json, "\"2026-11-21T14:02:13.120Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
    }

    #[test]
    fn a_clock_that_goes_back_gives_no_negative_length() {
        assert_eq!(Timestamp::from_millis(5).since(Timestamp::from_millis(9)), Duration::ZERO);
    }

    #[test]
    fn lengths_for_people() {
        let cases = [
            (0, "0 s", "0s"),
            (59, "59 s", "59s"),
            (252, "4m 12s", "4m12s"),
            (720, "12m 00s", "12m"),
            (3_780, "1h 03m", "1h03m"),
        ];
        for (seconds, long, narrow) in cases {
            let duration = Duration::from_secs(seconds);
            assert_eq!((human(duration).as_str(), short(duration).as_str()), (long, narrow));
        }
        let ages = [59, 60, 3_599, 3_780].map(|seconds| age(Duration::from_secs(seconds)));
        assert_eq!(ages, ["<1m", "1m", "59m", "1h03m"]);
    }
}
