//! What finished runs leave in the state folder, and which of it is old enough, or too much, to be kept.

use crate::base::amount::size;
use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How much of it is kept. Each limit counts by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepLeftovers {
    /// Days since the run has ended; `None`: however long that is.
    pub days: Option<u32>,
    /// Bytes of the whole state folder; `None`: however many.
    pub bytes: Option<u64>,
}

/// Something that nobody needs any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover<T> {
    pub what: T,
    /// Since when it is not needed.
    pub time: Timestamp,
    /// What it takes of the disk.
    pub bytes: u64,
}

impl KeepLeftovers {
    /// Something that is not needed since `time` has been kept long enough.
    pub fn is_late(self, time: Timestamp, now: Timestamp) -> bool {
        self.days.is_some_and(|days| now.since(time) > DAY * days)
    }
}

/// Those that go, oldest first. `taken`: the bytes of the whole state folder. What became a leftover less than a day ago
/// stays: somebody may still be reading it.
pub fn outdated<T>(mut all: Vec<Leftover<T>>, taken: u64, keep: KeepLeftovers, now: Timestamp) -> Vec<Leftover<T>> {
    all.sort_by_key(|one| one.time);
    let mut left = taken;
    all.retain(|one| {
        let is_too_much = keep.bytes.is_some_and(|most| left > most) && now.since(one.time) > DAY;
        let goes = keep.is_late(one.time, now) || is_too_much;
        if goes {
            left = left.saturating_sub(one.bytes);
        }
        goes
    });
    all
}

const DAY: Duration = Duration::from_secs(86_400);

/// What Claude and the commands have printed in a run was removed. Behind the run's end, and stored before it happens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputCleared {
    pub bytes: u64,
    pub by: Answerer,
}

impl OutputCleared {
    /// For the log.
    pub fn words(&self) -> String {
        format!("the output of this run was removed to save space · {}", size(self.bytes))
    }

    /// For whoever looks for it in the run.
    pub fn on(&self, time: Timestamp) -> String {
        let time = time.second();
        let date = time.split(' ').next().unwrap_or_default();
        format!("Claude's output was removed on {date} to save space ({}); the log is complete", size(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000 * 86_400_000);

    fn gone(all: &[(i64, u64)], taken: u64, days: Option<u32>, bytes: Option<u64>) -> Vec<i64> {
        let leftover = |&(ago, bytes): &(i64, u64)| {
            let time = Timestamp::from_millis(NOW.millis() - ago * 86_400_000 / 2);
            Leftover { what: ago, time, bytes }
        };
        let all = all.iter().map(leftover).collect();
        outdated(all, taken, KeepLeftovers { days, bytes }, NOW).into_iter().map(|one| one.what).collect()
    }

    /// Ages in half days.
    #[test]
    fn what_is_old_goes_and_of_too_much_the_oldest_first() {
        let all = [(1, 50), (9, 10), (200, 10), (40, 30)];
        assert_eq!(gone(&all, 100, None, None), [] as [i64; 0]);
        assert_eq!(gone(&all, 100, Some(90), None), [200]);
        assert_eq!(gone(&all, 100, Some(100), None), [] as [i64; 0], "to the day is not longer");
        assert_eq!(gone(&all, 100, None, Some(95)), [200]);
        assert_eq!(gone(&all, 100, None, Some(89)), [200, 40]);
        assert_eq!(gone(&all, 100, Some(90), Some(90)), [200], "what has gone by its age counts");
        assert_eq!(gone(&all, 100, None, Some(0)), [200, 40, 9], "what ended today stays");
        assert_eq!(gone(&[(-4, 50)], 100, Some(1), Some(0)), [] as [i64; 0], "the clock was set back");
    }
}
