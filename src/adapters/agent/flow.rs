//! How fast Claude prints, and what is waited for so that a flood of single lines does not wake every thread for each.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::PipeReader;
use std::time::{Duration, Instant};

/// What comes after a pause is shown at once, and what follows so often at most: each burst costs writes and wake-ups.
pub(super) const BEAT: Duration = Duration::from_millis(16);

/// Of lines that come one by one, more than so many in a [`BEAT`] are waited for a little, and read together: each read
/// wakes several threads.
const FLOOD: usize = 32;
const REST: Duration = Duration::from_millis(2);
/// A read of so many bytes has gathered enough.
const GATHERED: usize = 64 << 10;

/// How fast lines come.
pub(super) struct Flow {
    since: Instant,
    lines: usize,
    flood: bool,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), lines: 0, flood: false }
    }

    /// After a read of so many lines and bytes: waits for more in a flood.
    pub(super) fn gather(&mut self, lines: usize, bytes: usize) {
        if self.rests(lines, bytes, Instant::now()) {
            std::thread::sleep(REST);
        }
    }

    /// Whether to wait for more after a read of so many lines and bytes.
    fn rests(&mut self, lines: usize, bytes: usize, now: Instant) -> bool {
        self.lines += lines;
        let passed = now.saturating_duration_since(self.since);
        if passed >= BEAT {
            self.flood = self.lines as u128 * BEAT.as_micros() > FLOOD as u128 * passed.as_micros();
            (self.since, self.lines) = (now, 0);
        }
        self.flood && bytes < GATHERED
    }
}

/// There is something to read, or will be in this time.
pub(super) fn more_within(stdout: &PipeReader, wait: Duration) -> bool {
    let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
    poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&wait)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_flood_of_single_lines_is_gathered() {
        let rests = |every: Duration, bytes: usize| {
            let begin = Instant::now();
            let mut flow = Flow { since: begin, lines: 0, flood: false };
            (1..1_000).filter(|n| flow.rests(1, bytes, begin + every * *n)).count()
        };
        assert!(rests(Duration::from_micros(200), 2_500) > 900, "5,000 a second");
        assert_eq!(rests(Duration::from_millis(1), 2_500), 0, "1,000 a second");
        assert_eq!(rests(Duration::from_micros(200), GATHERED), 0, "what is gathered already");
        assert_eq!(rests(Duration::from_secs(1), 2_500), 0);
    }
}
