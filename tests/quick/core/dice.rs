//! The chance of a seed: the same seed gives the same schedule.

/// A small generator of numbers (Knuth's linear congruence; its high bits are good enough for choices).
pub struct Dice(pub u64);

impl Dice {
    /// 0 to `sides` - 1.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// True once in so many times.
    pub fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    /// The same as a length of time or a number with a sign.
    pub fn signed(&mut self, sides: u64) -> i64 {
        i64::try_from(self.roll(sides)).unwrap()
    }

    /// One of them.
    pub fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.roll(all.len() as u64)).unwrap()].clone()
    }
}
