//! Versions of Claude Code, and which of them are used.

use std::fmt;

/// A version of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

/// The oldest version that is used: those up to 2.1.78 were reported not to ask for permission over stdio.
pub const FLOOR: Version = Version(2, 1, 79);

/// The versions that the tests drive, the older first.
pub const TESTED: [Version; 2] = [Version(2, 1, 197), Version(2, 1, 330)];

/// What is to be thought of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// Older than [`FLOOR`]: not to be used.
    TooOld,
    /// Between [`FLOOR`] and the first of [`TESTED`]: the start of the protocol decides.
    Untested,
    Tested,
    Between,
    Newer,
}

impl Version {
    /// Reads what `claude --version` prints: `2.1.197 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let word = word.strip_prefix('v').unwrap_or(word);
            let mut numbers = word.split(['-', '+']).next()?.splitn(3, '.').map(str::parse);
            match (numbers.next()?, numbers.next()?, numbers.next()?) {
                (Ok(major), Ok(minor), Ok(patch)) => Some(Self(major, minor, patch)),
                _ => None,
            }
        })
    }

    pub fn fitness(self) -> Fitness {
        let [first, last] = TESTED;
        if self < FLOOR {
            Fitness::TooOld
        } else if self < first {
            Fitness::Untested
        } else if TESTED.contains(&self) {
            Fitness::Tested
        } else if self < last {
            Fitness::Between
        } else {
            Fitness::Newer
        }
    }
}

impl Version {
    /// Why this version is not used, with the fix; `None` when it is.
    pub fn refusal(self) -> Option<String> {
        let old = self.fitness() == Fitness::TooOld;
        old.then(|| {
            format!(
                "Claude Code {self} is too old: {FLOOR} or newer is needed, because older ones do not ask before a \
                 tool runs. Update it with `claude update` or `npm install -g @anthropic-ai/claude-code@latest`"
            )
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}
