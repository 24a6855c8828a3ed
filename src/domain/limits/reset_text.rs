//! Sentences in which Claude Code says that a limit is reached, and until when.
//!
//! Only for what the CLI says itself (`<synthetic>` messages, results that are errors): a model may write the same
//! words. The forms are those of 2.1.197 and of earlier versions (`…|<epoch>`, `5-hour limit reached`).

use crate::base::text::tail;
use crate::base::time::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use std::time::Duration;

/// A sentence about a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitText {
    /// When it ends, as it was said.
    pub told: Option<Told>,
    /// Whose models it is of; `None`: of all.
    #[serde(default)]
    pub family: Option<Family>,
}

/// Models that have a limit of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    Opus,
    Sonnet,
}

impl Family {
    pub fn window(self) -> &'static str {
        match self {
            Self::Opus => "seven_day_opus",
            Self::Sonnet => "seven_day_sonnet",
        }
    }
}

/// When a limit ends, as a person would say it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// Seconds since 1970.
    Epoch(i64),
    /// A time of day, perhaps with its date.
    Wall {
        date: Option<(i8, i8)>,
        hour: i8,
        minute: i8,
        /// IANA name of the zone; `None`: the local one.
        zone: Option<String>,
    },
}

/// Words of which every sentence about a limit has one. Most texts have none: the patterns, which are large, are not made
/// for them.
const SIGNS: [&str; 3] = ["limit", "usage", "reached your"];

/// Text that is looked at, in bytes: such sentences are short.
const LOOKED_AT: usize = 4_000;

const LIMIT: &str = r"(?ix)
    hit\ your\ [^\n]{0,60}? limit
  | limit\ reached
  | 5.?hour\ [^\n]{0,40}? limit
  | usage\ [^\n]{0,40}? limit\ [^\n]{0,40}? reached
  | limit\ [^\n]{0,40}? reached\ [^\n]{0,60}? try\ [^\n]{0,40}? back
  | you.ve\ reached\ your\b
  | out\ of\ usage\ credits
  | org\ is\ out\ of\ usage
  | out\ of\ extra\ usage";

const WALL: &str = r"(?ix)
    \b resets? (?:\ at)? \s+
    (?: (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \s+ (\d{1,2}) ,? \s+ (?:at\s+)? )?
    (\d{1,2}) (?: : (\d{2}) )? \s* (am|pm)?
    (?: \s* \( ([A-Za-z][A-Za-z0-9_+\-/]*) \) )?";

const EPOCH: &str = r"\|\s*(\d{9,13})\b";

/// What else is named beside a limit is advice: `… · /model sonnet`.
const FAMILY: &str = r"(?ix)
    \b (opus|sonnet) \ (?: \w+ \ )? limit
  | \b limit \ for \ (?: claude \ )? (opus|sonnet) \b";

static PATTERNS: LazyLock<Option<[Regex; 4]>> = LazyLock::new(|| {
    let patterns = [LIMIT, WALL, EPOCH, FAMILY].map(Regex::new);
    let [Ok(limit), Ok(wall), Ok(epoch), Ok(family)] = patterns else { return None };
    Some([limit, wall, epoch, family])
});

/// Reads what the CLI said; `None`: it is not about a limit.
pub fn read(text: &str) -> Option<LimitText> {
    let text = tail(text, LOOKED_AT);
    let small = text.to_ascii_lowercase();
    if !SIGNS.iter().any(|sign| small.contains(sign)) {
        return None;
    }
    let [limit, wall, epoch, family] = PATTERNS.as_ref()?;
    let from = limit.find(text)?.start();
    let behind = &text[from..];
    let told = match epoch.captures(behind) {
        Some(found) => found.get(1).and_then(|digits| digits.as_str().parse().ok()).map(Told::Epoch),
        None => wall.captures(behind).and_then(|found| {
            let part = |n: usize| found.get(n).map(|part| part.as_str());
            let number = |n: usize| part(n).and_then(|digits| digits.parse::<i8>().ok());
            let date = part(1).map(month).zip(number(2));
            let hour = of_day(number(3)?, part(5), part(4))?;
            let minute = number(4).unwrap_or(0);
            (minute < 60).then(|| Told::Wall { date, hour, minute, zone: part(6).map(str::to_owned) })
        }),
    };
    let family = family
        .captures(text)
        .and_then(|found| found.get(1).or_else(|| found.get(2)))
        .map(|name| if name.as_str().eq_ignore_ascii_case("opus") { Family::Opus } else { Family::Sonnet });
    Some(LimitText { told, family })
}

fn month(name: &str) -> i8 {
    const NAMES: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let at = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known)).unwrap_or(0);
    at as i8 + 1
}

/// The hour from 0 to 23. A bare number without minutes and half of the day says nothing.
fn of_day(hour: i8, half: Option<&str>, minutes: Option<&str>) -> Option<i8> {
    match half.map(str::to_ascii_lowercase).as_deref() {
        Some("am") => (1..=12).contains(&hour).then_some(hour % 12),
        Some(_) => (1..=12).contains(&hour).then_some(hour % 12 + 12),
        None => ((0..24).contains(&hour) && minutes.is_some()).then_some(hour),
    }
}

/// How long a time of day that has passed is still meant, not the one of tomorrow.
const JUST_NOW: Duration = Duration::from_secs(10 * 60);

impl Told {
    /// The zone that must be known to place it.
    pub fn zone(&self) -> Option<&str> {
        match self {
            Self::Wall { zone, .. } => zone.as_deref(),
            Self::Epoch(_) => None,
        }
    }

    /// The point in time that is meant, said at `now`; `zone` is the one that is named, else the local one. `None` for
    /// a date that does not exist.
    pub fn at(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match *self {
            // Milliseconds have been seen where seconds were meant.
            Self::Epoch(seconds) if seconds > 100_000_000_000 => Some(Timestamp::from_millis(seconds)),
            Self::Epoch(seconds) => Some(Timestamp::from_millis(seconds.saturating_mul(1_000))),
            Self::Wall { date, hour, minute, .. } => {
                let instant = jiff::Timestamp::from_millisecond(now.millis()).ok()?;
                let today = instant.to_zoned(zone.clone()).date();
                let time = Time::new(hour, minute, 0, 0).ok()?;
                let place = |day: Date| {
                    let zoned = DateTime::from_parts(day, time).to_zoned(zone.clone()).ok()?;
                    Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
                };
                match date {
                    None => {
                        let at = place(today)?;
                        if now.since(at) <= JUST_NOW { Some(at) } else { place(today.tomorrow().ok()?) }
                    }
                    Some((month, day)) => {
                        let at = place(Date::new(today.year(), month, day).ok()?)?;
                        // At the end of a year the next one is meant.
                        if now.since(at) <= Duration::from_secs(7 * 86_400) {
                            Some(at)
                        } else {
                            place(Date::new(today.year() + 1, month, day).ok()?)
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T14:02:13Z, a Saturday.
    const NOW: Timestamp = Timestamp::from_millis(1_795_269_733_000);

    fn berlin(name: Option<&str>) -> TimeZone {
        match name {
            Some("Europe/Berlin") => TimeZone::fixed(jiff::tz::offset(1)),
            _ => TimeZone::UTC,
        }
    }

    fn reset(text: &str) -> Option<String> {
        let told = read(text)?.told?;
        told.at(NOW, &berlin(told.zone())).map(|at| at.to_string())
    }

    #[test]
    fn every_form_names_its_moment() {
        let cases = [
            // Passed by two minutes: it is over, not a day away.
            ("You've hit your session limit · resets 3pm (Europe/Berlin)", "2026-11-21T14:00:00.000Z"),
            ("You've hit your session limit · resets 3:30pm (Europe/Berlin)", "2026-11-21T14:30:00.000Z"),
            ("You've hit your weekly limit · resets Nov 24, 3pm (Europe/Berlin)", "2026-11-24T14:00:00.000Z"),
            ("You've hit your Opus limit · resets Jan 2, 12am", "2027-01-02T00:00:00.000Z"),
            ("You've hit your limit · resets 12pm", "2026-11-22T12:00:00.000Z"),
            ("You've hit your usage limit · resets 15:30", "2026-11-21T15:30:00.000Z"),
            ("You've hit your limit · resets 2pm", "2026-11-21T14:00:00.000Z"),
            ("Claude AI usage limit reached|1795273200", "2026-11-21T15:00:00.000Z"),
            ("Claude AI usage limit reached|1795273200000", "2026-11-21T15:00:00.000Z"),
            ("5-hour limit reached ∙ resets 3pm", "2026-11-21T15:00:00.000Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(reset(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_limit_without_a_moment_is_a_limit() {
        for text in [
            "You've hit your monthly spend limit",
            "You've reached your limit for Opus",
            "You're out of usage credits. Add more",
            "Your org is out of usage",
            "You're out of extra usage · resets soon",
            "You've hit your limit · resets 25pm",
            "You've hit your limit · resets 3",
            "You've hit your session limit · resets 3:99pm",
        ] {
            assert_eq!(read(text).map(|limit| limit.told), Some(None), "{text}");
        }
        assert_eq!(reset("You've hit your limit · resets Feb 31, 3pm"), None);
    }

    #[test]
    fn the_models_that_a_limit_is_of_are_kept() {
        let cases = [
            ("You've hit your Opus limit · resets Nov 24, 3pm", Some(Family::Opus)),
            ("You've hit your Sonnet weekly limit", Some(Family::Sonnet)),
            ("You've reached your limit for Opus", Some(Family::Opus)),
            ("Opus limit reached · resets 3pm", Some(Family::Opus)),
            ("You've hit your weekly limit · resets 3pm · /model sonnet", None),
            ("You've hit your Opus limit · /model sonnet goes on", Some(Family::Opus)),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).unwrap().family, expected, "{text}");
        }
    }

    #[test]
    fn other_words_are_no_limit() {
        for text in [
            "API Error: 500 Internal server error", "The rate limiter resets 3 buckets", "Credit balance is too low",
            "timeout: sent TERM, limit was 900 s", "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
