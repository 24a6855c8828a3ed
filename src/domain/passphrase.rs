//! The words around the passphrase: what became of a try, and what a right one opens.
//!
//! The passphrase itself is never here: it goes from the masked field to `adapters::passphrase` and nowhere else.

use crate::base::id::RunId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub const LONGEST_GRANT: Duration = Duration::from_secs(15 * 60);
/// A machine that slept longer than this may have changed hands.
const SLEPT: Duration = Duration::from_secs(5 * 60);
/// Failures in a row from which on the person is told that somebody guesses.
pub const NOTICE_AT: u32 = 10;

/// How the passphrase stands, or what became of a try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Checked {
    /// There is one; it can be tried.
    Ready,
    /// None was ever set: whatever needs it is blocked.
    Unset,
    Right,
    Wrong {
        /// Failures in a row, this one included.
        failures: u32,
        /// Time until the next try.
        wait: Duration,
    },
    /// Too many failures: this try was not looked at.
    Locked {
        /// Failures in a row.
        failures: u32,
        /// Time until the next try.
        wait: Duration,
    },
    /// It cannot be checked; words for the person, with the fix.
    Failed(String),
}

/// The machine's clocks that nobody sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootTime {
    /// Time since the machine started, sleep included.
    pub total: Duration,
    /// The same without sleep.
    pub awake: Duration,
}

/// What a right passphrase opened: one rule of one policy, in one run, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Grant {
    rule: String,
    policy: String,
    run: RunId,
    given: BootTime,
    life: Duration,
}

/// The grants of this program. Never stored: they die with it.
#[derive(Clone, Debug, Default)]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// Opens `rule` of the policy with the hash `policy` in `run` for `life`, at most [`LONGEST_GRANT`].
    pub fn give(&mut self, rule: &str, policy: &str, run: RunId, life: Duration, now: BootTime) {
        self.0.retain(|grant| grant.is_alive(now));
        self.0.push(Grant {
            rule: rule.to_owned(),
            policy: policy.to_owned(),
            run,
            given: now,
            life: life.min(LONGEST_GRANT),
        });
    }

    /// Whether the rule is open. A policy that was edited, another run, a long sleep: it is not.
    pub fn holds(&self, rule: &str, policy: &str, run: RunId, now: BootTime) -> bool {
        let open = |grant: &Grant| grant.rule == rule && grant.policy == policy && grant.run == run;
        self.0.iter().any(|grant| open(grant) && grant.is_alive(now))
    }

    /// Something was opened in this run, perhaps not any more.
    pub fn any_for(&self, run: RunId) -> bool {
        self.0.iter().any(|grant| grant.run == run)
    }

    /// Takes all of them back: the terminal is gone, the policy changed.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl Grant {
    fn is_alive(&self, now: BootTime) -> bool {
        // A clock that goes back is another machine's.
        let (Some(age), Some(awake)) =
            (now.total.checked_sub(self.given.total), now.awake.checked_sub(self.given.awake))
        else {
            return false;
        };
        age < self.life && age.saturating_sub(awake) <= SLEPT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(total: u64, asleep: u64) -> BootTime {
        let minutes = |n: u64| Duration::from_secs(n * 60);
        BootTime { total: minutes(total), awake: minutes(total - asleep) }
    }

    #[test]
    fn a_grant_is_for_one_rule_of_one_policy_in_one_run() {
        let (run, other) = (RunId(uuid::Uuid::from_u128(1)), RunId(uuid::Uuid::from_u128(2)));
        let mut grants = Grants::default();
        grants.give("writes", "3f9c", run, Duration::from_secs(60 * 60), at(100, 10));
        let cases = [
            ("right away", "writes", "3f9c", run, at(100, 10), true),
            ("just before its end", "writes", "3f9c", run, at(114, 10), true),
            ("asked for longer than may be", "writes", "3f9c", run, at(115, 10), false),
            ("another rule", "deletes", "3f9c", run, at(101, 10), false),
            ("an edited policy", "writes", "3f9d", run, at(101, 10), false),
            ("another run", "writes", "3f9c", other, at(101, 10), false),
            ("a short sleep", "writes", "3f9c", run, at(106, 15), true),
            ("a long sleep", "writes", "3f9c", run, at(107, 16), false),
            ("another boot", "writes", "3f9c", run, at(1, 0), false),
        ];
        for (name, rule, policy, run, now, holds) in cases {
            assert_eq!(grants.holds(rule, policy, run, now), holds, "{name}");
        }
        grants.clear();
        assert!(!grants.holds("writes", "3f9c", run, at(100, 10)));
    }

    #[test]
    fn a_short_grant_ends_early() {
        let run = RunId(uuid::Uuid::from_u128(1));
        let mut grants = Grants::default();
        grants.give("writes", "p", run, Duration::from_secs(60), at(10, 0));
        assert!(grants.holds("writes", "p", run, at(10, 0)) && !grants.holds("writes", "p", run, at(11, 0)));
    }
}
