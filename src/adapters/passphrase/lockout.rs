//! How often the passphrase may be tried: four failures are free, each one after doubles the wait.
//!
//! Global and on disk, by the clock that nobody can set. A restart of the machine begins the wait anew: never is
//! it shorter than it was said to be.

use crate::adapters::clock::boot_id;
use crate::adapters::private_file::{self, PrivateFileError};
use crate::domain::passphrase::BootTime;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Failures that cost no wait.
const FREE: u32 = 4;
/// Longest wait in seconds.
const LONGEST: u64 = 15 * 60;

/// The counter of a state folder.
#[derive(Clone, Debug)]
pub(super) struct Lockout {
    file: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stored {
    failures: u32,
    /// The start of the machine that `since_ms` is counted from.
    boot: String,
    since_ms: u64,
}

/// A try that is counted as a failure already.
pub(super) struct Attempt<'a> {
    lockout: &'a Lockout,
    failures: u32,
    _lock: File,
}

impl Attempt<'_> {
    /// It was one: failures in a row and the wait before the next try.
    pub(super) fn failed(self) -> (u32, Duration) {
        (self.failures, wait_after(self.failures))
    }

    pub(super) fn succeeded(self) -> Result<(), PrivateFileError> {
        self.lockout.reset()
    }
}

impl Lockout {
    pub(super) fn new(state_folder: &Path) -> Self {
        Self { file: state_folder.join("lockout.json") }
    }

    /// Failures in a row, and how long none may be tried.
    pub(super) fn standing(&self, now: BootTime) -> Result<(u32, Duration), PrivateFileError> {
        let stored = self.load()?;
        Ok((stored.failures, stored.left(&boot_id(), now)))
    }

    /// Counts a failure before the try; `Err` while it is locked, with failures and wait. Two programs take turns.
    pub(super) fn attempt(&self, now: BootTime) -> Result<Result<Attempt<'_>, (u32, Duration)>, PrivateFileError> {
        let lock = self.lock()?;
        let stored = self.load()?;
        let boot = boot_id();
        let left = stored.left(&boot, now);
        let again = Stored { boot: boot.clone(), since_ms: millis(now), ..stored };
        if !left.is_zero() {
            if stored.boot != boot {
                self.store(&again)?;
            }
            return Ok(Err((stored.failures, left)));
        }
        let failures = stored.failures.saturating_add(1);
        self.store(&Stored { failures, ..again })?;
        Ok(Ok(Attempt { lockout: self, failures, _lock: lock }))
    }

    pub(super) fn reset(&self) -> Result<(), PrivateFileError> {
        self.store(&Stored::default())
    }

    fn lock(&self) -> Result<File, PrivateFileError> {
        let path = self.file.with_extension("lock");
        private_file::lock(&path)
    }

    /// What cannot be read counts as the longest wait, from now on: nothing is won by breaking it.
    fn load(&self) -> Result<Stored, PrivateFileError> {
        let Some(text) = private_file::read(&self.file)? else { return Ok(Stored::default()) };
        Ok(serde_json::from_str(&text).unwrap_or(Stored { failures: 63, boot: String::new(), since_ms: 0 }))
    }

    fn store(&self, stored: &Stored) -> Result<(), PrivateFileError> {
        private_file::write(&self.file, &serde_json::to_string(stored).unwrap_or_default())
    }
}

impl Stored {
    fn left(&self, boot: &str, now: BootTime) -> Duration {
        let wait = wait_after(self.failures);
        match millis(now).checked_sub(self.since_ms) {
            Some(passed) if self.boot == boot => wait.saturating_sub(Duration::from_millis(passed)),
            // Another start of the machine: how much of the wait has passed is not known.
            _ => wait,
        }
    }
}

fn millis(now: BootTime) -> u64 {
    u64::try_from(now.total.as_millis()).unwrap_or(u64::MAX)
}

/// The wait after so many failures in a row.
fn wait_after(failures: u32) -> Duration {
    match failures.checked_sub(FREE) {
        None | Some(0) => Duration::ZERO,
        Some(over) => Duration::from_secs(1_u64.checked_shl(over).unwrap_or(LONGEST).min(LONGEST)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_from_the_fifth_failure_up_to_a_quarter_of_an_hour() {
        let waits: Vec<u64> = [0, 1, 4, 5, 6, 7, 12, 13, 14, 40, 1_000].map(|n| wait_after(n).as_secs()).into();
        assert_eq!(waits, [0, 0, 0, 2, 4, 8, 256, 512, 900, 900, 900]);
    }

    #[test]
    fn a_restart_or_a_clock_that_went_back_never_shortens_the_wait() {
        let at = |seconds| BootTime { total: Duration::from_secs(seconds), awake: Duration::default() };
        let stored = Stored { failures: 8, boot: "one".into(), since_ms: 100_000 };
        let cases = [
            ("at once", "one", 100, 16),
            ("later", "one", 110, 6),
            ("over", "one", 116, 0),
            ("long over", "one", 9_999, 0),
            ("restarted", "two", 9_999, 16),
            ("restarted, the number forgotten", "one", 5, 16),
        ];
        for (name, boot, now, left) in cases {
            assert_eq!(stored.left(boot, at(now)).as_secs(), left, "{name}");
        }
    }

    #[test]
    fn a_try_that_dies_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let lockout = Lockout::new(folder.path());
        for _ in 0..5 {
            drop(lockout.attempt(BootTime::default()).unwrap().ok().unwrap());
        }
        assert_eq!(lockout.standing(BootTime::default()).unwrap(), (5, Duration::from_secs(2)));
        assert!(lockout.attempt(BootTime::default()).unwrap().is_err());
        lockout.reset().unwrap();
        assert_eq!(lockout.standing(BootTime::default()).unwrap(), (0, Duration::ZERO));
    }

    #[test]
    fn a_broken_counter_is_the_longest_wait() {
        let folder = tempfile::tempdir().unwrap();
        let lockout = Lockout::new(folder.path());
        private_file::write(&lockout.file, "{\"failures\":").unwrap();
        let now = BootTime { total: Duration::from_secs(10), awake: Duration::default() };
        assert_eq!(lockout.attempt(now).unwrap().err().unwrap().1.as_secs(), LONGEST);
        // It counts down from then on.
        let later = BootTime { total: Duration::from_secs(10 + LONGEST), awake: Duration::default() };
        assert!(lockout.attempt(later).unwrap().is_ok());
    }
}
