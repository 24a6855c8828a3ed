//! The provider's windows, and what is known when one of them is closed.
//!
//! Shapes after Claude Code 2.1.197 (`rate_limit_event`), where every part but the status may be missing. Reading the
//! record is `domain::stream::rate_limit`'s.

use crate::base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One window as the provider last told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// `five_hour`, `seven_day`, `seven_day_opus`, …; safe to show. A record has a `kind` of its own.
    #[serde(rename = "window")]
    pub kind: String,
    pub status: WindowStatus,
    /// The part that is used, from 0 to 1; often not told.
    #[serde(default)]
    pub used: Option<f64>,
    #[serde(default)]
    pub resets_at: Option<Timestamp>,
}

/// How a window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowStatus {
    Allowed,
    Warning,
    Rejected,
}

impl Window {
    /// For people: `five-hour limit`.
    pub fn name(&self) -> String {
        window_name(&self.kind)
    }

    /// The window is still the one that was told of.
    pub fn is_open_at(&self, now: Timestamp) -> bool {
        self.resets_at.is_none_or(|resets| resets > now)
    }
}

/// When a window will be used up, if the use goes on as it went from `first` to `last` (shares from 0 to 1).
/// `None`: it opens anew before, too little has been seen to tell, or nothing is used.
pub fn closes(first: (f64, Timestamp), last: (f64, Timestamp), resets_at: Option<Timestamp>) -> Option<Timestamp> {
    let (used, took) = (last.0 - first.0, last.1.since(first.1));
    if used < LEAST_USED || took < LEAST_TIME {
        return None;
    }
    let rest = took.as_secs_f64() / used * (1.0 - last.0).max(0.0);
    let closes = last.1.plus(Duration::try_from_secs_f64(rest).ok()?);
    resets_at.is_none_or(|resets| closes < resets).then_some(closes)
}

/// What must have been seen of a window's use before its end is told: one point in a hundred more says little.
const LEAST_USED: f64 = 0.02;
const LEAST_TIME: Duration = Duration::from_secs(5 * 60);

pub fn window_name(kind: &str) -> String {
    match kind {
        "five_hour" => "five-hour limit".to_owned(),
        "seven_day" => "seven-day limit".to_owned(),
        ACCOUNT => "rate limit".to_owned(),
        other => format!("{} limit", other.replace('_', " ").replace("seven day", "seven-day")),
    }
}

/// The scope of what holds for every call of the account.
pub const ACCOUNT: &str = "account";

/// Does what is closed by `scope` concern calls of this model? A model that is not known may be any.
pub fn concerns(scope: &str, model: Option<&str>) -> bool {
    let of = |family: &str| !scope.ends_with(family) || model.is_none_or(|model| model.contains(family));
    of("opus") && of("sonnet")
}

/// What the provider refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A limit of use: a window, or requests a minute.
    Limit,
    Overloaded,
    Credit,
}

/// Whether we know when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    /// The provider (or our own clock) says so.
    Known,
    /// Nobody says: tried again after longer and longer waits.
    Unknown,
    /// Another ticket is trying; its outcome counts for all.
    Probe,
}

/// The provider refused a call: until when nothing is tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    pub n: u32,
    pub cause: Cause,
    /// Whom it concerns: a window's kind, or [`ACCOUNT`].
    pub scope: String,
    /// Nothing is tried before.
    pub until: Timestamp,
    /// Is that the true end?
    pub reset: Reset,
    /// How often in a row it was refused, this one included.
    pub tries: u32,
}

impl Hit {
    /// What happened, for people.
    pub fn about(&self) -> String {
        match self.cause {
            Cause::Limit => format!("the provider's {} is reached", window_name(&self.scope)),
            Cause::Overloaded => "the provider is overloaded".to_owned(),
            Cause::Credit => "no credit is left on this Claude account; add credit or change the plan".to_owned(),
        }
    }
}

/// What a failed turn says about the provider; `None`: it is no limit. Kinds are the CLI's own.
pub fn cause(error: &str, status: Option<u16>) -> Option<Cause> {
    match (error, status) {
        ("rate_limit", _) | (_, Some(429)) => Some(Cause::Limit),
        ("billing_error", _) => Some(Cause::Credit),
        ("overloaded", _) | (_, Some(529)) => Some(Cause::Overloaded),
        _ => None,
    }
}

/// Longest wait that is believed: the provider's longest window is a month.
const LONGEST: Duration = Duration::from_secs(32 * 86_400);
const BACK_OFF: Duration = Duration::from_secs(15 * 60);
/// Longest wait behind a known reset.
const BEHIND_RESET: u64 = 20_000;

/// Until when nothing is tried, and whether that is the true end. `tries` in a row were refused; `dice` is any number,
/// other for each run, so that not everybody comes at once.
pub fn wait_until(told: Option<Timestamp>, tries: u32, now: Timestamp, dice: u64) -> (Timestamp, Reset) {
    let believed = told.filter(|told| told.since(now) <= LONGEST);
    // A reset that is over and still refused is none: the waits must grow.
    if let Some(reset) = believed.filter(|reset| *reset > now || tries <= 1) {
        let from = reset.max(now);
        return (from.plus(Duration::from_millis(1_000 + dice % BEHIND_RESET)), Reset::Known);
    }
    (now.plus(back_off(tries, dice)), Reset::Unknown)
}

/// One second, doubled with each try, to a quarter of an hour; of that the second half by the dice.
pub fn back_off(tries: u32, dice: u64) -> Duration {
    let doubled = Duration::from_secs(1_u64 << tries.saturating_sub(1).min(20)).min(BACK_OFF);
    let half = doubled.as_millis() as u64 / 2;
    Duration::from_millis((half + dice % (half + 1)).max(1_000))
}

/// A number that differs from run to run and from try to try, but not from time to time: what waits are jittered by.
pub fn dice(run: u128, salt: u64) -> u64 {
    let mut z = (run as u64) ^ ((run >> 64) as u64) ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_269_733_120);

    #[test]
    fn what_a_failure_says_about_the_provider() {
        let cases = [
            ("rate_limit", Some(429), Some(Cause::Limit)),
            ("rate_limit", None, Some(Cause::Limit)),
            ("unknown", Some(429), Some(Cause::Limit)),
            ("billing_error", Some(400), Some(Cause::Credit)),
            ("server_error", Some(529), Some(Cause::Overloaded)),
            ("overloaded", None, Some(Cause::Overloaded)),
            ("server_error", Some(500), None),
            ("authentication_failed", Some(401), None),
            ("unknown", None, None),
        ];
        for (error, status, expected) in cases {
            assert_eq!(cause(error, status), expected, "{error} {status:?}");
        }
    }

    #[test]
    fn windows_of_a_model_concern_that_model() {
        let cases = [
            ("five_hour", Some("claude-opus-4-8"), true),
            ("seven_day_opus", Some("claude-opus-4-8[1m]"), true),
            ("seven_day_opus", Some("claude-sonnet-4-6"), false),
            ("seven_day_sonnet", Some("claude-opus-4-8"), false),
            ("seven_day_opus", None, true),
            (ACCOUNT, None, true),
        ];
        for (scope, model, expected) in cases {
            assert_eq!(concerns(scope, model), expected, "{scope} {model:?}");
        }
    }

    #[test]
    fn waits_double_from_a_second_to_a_quarter_of_an_hour() {
        let longest = |tries| (0..4_000).map(|dice| back_off(tries, dice * 7_919)).max().unwrap().as_secs();
        assert_eq!([1, 2, 3, 4, 5].map(longest), [1, 2, 4, 8, 15]);
        assert!(longest(11) >= 890 && longest(60) >= 890);
    }

    #[test]
    fn a_known_reset_is_waited_for_and_a_bit_longer() {
        let reset = NOW.plus(Duration::from_secs(3_600));
        let (until, known) = wait_until(Some(reset), 1, NOW, 5_000);
        assert_eq!((until, known), (reset.plus(Duration::from_secs(6)), Reset::Known));
        // Just over: tried once more soon, then with growing waits.
        let over = Timestamp::from_millis(NOW.millis() - 2_000);
        assert_eq!(wait_until(Some(over), 1, NOW, 0), (NOW.plus(Duration::from_secs(1)), Reset::Known));
        assert_eq!(wait_until(Some(over), 5, NOW, 0).1, Reset::Unknown);
        // A reset in years is not believed.
        assert_eq!(wait_until(Some(NOW.plus(Duration::from_secs(400 * 86_400))), 1, NOW, 0).1, Reset::Unknown);
    }

    proptest! {
        #[test]
        fn no_wait_is_shorter_than_a_second_or_longer_than_a_month(
            told in prop::option::of(any::<i64>()), tries: u32, seed: u64,
        ) {
            let (until, reset) = wait_until(told.map(Timestamp::from_millis), tries, NOW, seed);
            let wait = until.since(NOW);
            prop_assert!(wait >= Duration::from_secs(1), "{wait:?}");
            let most = if reset == Reset::Known { LONGEST + Duration::from_secs(21) } else { BACK_OFF };
            prop_assert!(wait <= most, "{wait:?} {reset:?}");
        }

        #[test]
        fn dice_differ_by_run_and_by_try(run: u128, salt in 0u64..100) {
            prop_assert_ne!(dice(run, salt), dice(run, salt + 1));
            prop_assert_eq!(dice(run, salt), dice(run, salt));
        }
    }
}
