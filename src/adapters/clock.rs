//! The system's clock and fresh ids: the only place where time and randomness come in.
//!
//! What times and ids mean is `base`'s; the core gets both as arguments.

use crate::base::id::RunId;
use crate::base::time::{Clock, Moment, Timestamp, Uptime};
use crate::domain::passphrase::BootTime;
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
    }

    fn moment(&self) -> Moment {
        let (boot, age) = (boot_id(), boot_time().total);
        let millis = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        Moment { now: self.now(), uptime: (!boot.is_empty()).then_some(Uptime { boot, millis }) }
    }
}

/// The zone of the machine, or the one that `TZ` names. Only its file is read: to look for all zones that there are takes
/// as long as a first frame.
pub fn zone() -> TimeZone {
    let name = std::env::var_os("TZ");
    let path = match name.as_deref().map(|name| name.to_str().filter(|name| names_file(name))) {
        None => Some(PathBuf::from("/etc/localtime")),
        Some(name) => name.map(|name| Path::new("/usr/share/zoneinfo").join(name)),
    };
    let read = |path: PathBuf| TimeZone::tzif("Local", &std::fs::read(path).ok()?).ok();
    path.and_then(read).unwrap_or_else(TimeZone::system)
}

/// It is the name of a zone, not a rule of its own or a path.
fn names_file(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && !name.contains("..")
}

/// The id of a new run: UUID version 7, so ids of one process sort by the time they were made.
pub fn fresh_run_id() -> RunId {
    RunId(Uuid::now_v7())
}

/// A random id for anything else (notes, messages to Claude): a version 4 UUID, hyphenated.
pub fn fresh_id() -> String {
    Uuid::new_v4().to_string()
}

/// The clocks that nobody can set.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn boot_time() -> BootTime {
    use rustix::time::ClockId;
    // In this order: the whole is never less than its part.
    let awake = read(ClockId::Monotonic);
    BootTime { total: read(ClockId::Boottime), awake }
}

/// The clock that nobody can set; without a second one a sleep cannot be told.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn boot_time() -> BootTime {
    use rustix::time::ClockId;
    BootTime { total: read(ClockId::Monotonic), awake: read(ClockId::Monotonic) }
}

fn read(clock: rustix::time::ClockId) -> std::time::Duration {
    let time = rustix::time::clock_gettime(clock);
    std::time::Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Which start of the machine this is; empty where that is not told.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_of_the_machine_is_as_far_from_utc_as_the_system_says() {
        let now = jiff::Timestamp::now();
        assert_eq!(zone().to_offset(now), TimeZone::system().to_offset(now));
        for (name, is_one) in [("Europe/Berlin", true), ("UTC", true), ("", false), ("/etc/x", false), (":UTC", false)]
        {
            assert_eq!(names_file(name), is_one, "{name}");
        }
        assert!(!names_file("a/../../etc/x"));
    }

    #[test]
    fn fresh_ids_are_apart_and_run_ids_sort_by_time() {
        let runs: Vec<RunId> = (0..100).map(|_| fresh_run_id()).collect();
        assert!(runs.is_sorted_by(|a, b| a < b));
        assert_ne!(fresh_id(), fresh_id());
        assert_eq!(fresh_id().len(), 36);
    }

    #[test]
    fn the_boot_clock_goes_on_and_sleep_is_part_of_it() {
        let (one, two) = (boot_time(), boot_time());
        assert!(two.total >= one.total && one.total >= one.awake && !one.awake.is_zero());
    }

    #[test]
    fn the_clock_is_after_this_was_written() {
        assert!(SystemClock.now() > Timestamp::from_millis(1_700_000_000_000));
    }
}
