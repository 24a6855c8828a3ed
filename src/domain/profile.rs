//! The policies that are built in, by name. What each says is `policy`'s.

use crate::domain::worded::worded;

worded! {
    /// A policy that is built in.
    #[derive(Default)]
    pub enum Profile {
        /// Clanker's four rules; what they are not about is blocked.
        Strict = "strict",
        /// Reads, proven writes and the project's own commands; what reaches further asks.
        #[default]
        Guarded = "guarded",
        /// Everything but the floor.
        Trusted = "trusted",
        /// Reads, and nothing that any other rule allows beyond them.
        ReadOnly = "read_only",
    }
}

impl Profile {
    /// The one of both that lets less through.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let rank = |profile| match profile {
            Self::Trusted => 0,
            Self::Guarded => 1,
            Self::Strict => 2,
            Self::ReadOnly => 3,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_may_only_be_stricter_than_its_run() {
        let order = [Profile::Trusted, Profile::Guarded, Profile::Strict, Profile::ReadOnly];
        for (at, one) in order.into_iter().enumerate() {
            for (other_at, other) in order.into_iter().enumerate() {
                assert_eq!(one.stricter(other), order[at.max(other_at)]);
            }
        }
    }
}
