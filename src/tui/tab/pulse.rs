//! When Claude was last heard.

use crate::base::time::Timestamp;
use std::time::Duration;

/// When Claude was last heard, and how often in the last eight seconds.
#[derive(Clone, Debug, Default)]
pub struct Pulse {
    last: Option<Timestamp>,
    beats: [u32; 8],
}

impl Pulse {
    /// Claude was heard.
    pub fn beat(&mut self, now: Timestamp) {
        self.beats = self.seen(now);
        self.beats[7] = self.beats[7].saturating_add(1);
        self.last = Some(now);
    }

    /// Beats in each of the last eight seconds, the present one last.
    pub fn seen(&self, now: Timestamp) -> [u32; 8] {
        let second = |time: Timestamp| time.millis().div_euclid(1_000);
        let mut out = [0; 8];
        let gone = self.last.map_or(8, |last| (second(now) - second(last)).clamp(0, 8)) as usize;
        out[..8 - gone].copy_from_slice(&self.beats[gone..]);
        out
    }

    /// Time since the last byte; `None` when there was none.
    pub fn silence(&self, now: Timestamp) -> Option<Duration> {
        self.last.map(|last| now.since(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heart_moves_on_and_stops() {
        let mut pulse = Pulse::default();
        let at = |seconds: u64| Timestamp::from_millis(0).plus(Duration::from_secs(seconds));
        assert_eq!(pulse.silence(at(9)), None);
        pulse.beat(at(10));
        pulse.beat(at(10));
        pulse.beat(at(12));
        assert_eq!(pulse.seen(at(12)), [0, 0, 0, 0, 0, 2, 0, 1]);
        assert_eq!(pulse.seen(at(14)), [0, 0, 0, 2, 0, 1, 0, 0]);
        assert_eq!(pulse.seen(at(99)), [0; 8]);
        assert_eq!(pulse.seen(at(1)), pulse.seen(at(12)), "a clock that goes back");
        assert_eq!(pulse.silence(at(14)), Some(Duration::from_secs(2)));
    }
}
