//! The policies that are built in, by name. What each says is `policy`'s.

/// A policy that is built in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Clanker's four rules; what they are not about is blocked.
    Strict,
    /// Reads, proven writes and the project's own commands; what reaches further asks.
    #[default]
    Guarded,
    /// Everything but the floor.
    Trusted,
}

impl Profile {
    pub const ALL: [Self; 3] = [Self::Strict, Self::Guarded, Self::Trusted];

    pub const NAMES: [&str; 3] = ["strict", "guarded", "trusted"];

    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Guarded => "guarded",
            Self::Trusted => "trusted",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}
