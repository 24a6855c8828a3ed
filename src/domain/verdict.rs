//! The gate's verdict: one word for rules, records, cards and the command line.

use serde::{Deserialize, Serialize};

/// What becomes of a tool call, or of a part of it; the order is that of strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Allow,
    /// It waits for a person.
    Ask,
    /// It waits for a person who knows the passphrase.
    #[serde(alias = "require-passphrase")]
    Passphrase,
    /// It does not run; Claude is told why.
    Block,
}

impl Verdict {
    /// The word for it, as in `--json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Passphrase => "passphrase",
            Self::Block => "block",
        }
    }

    /// Exit code of `programmator policy check`.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask => 10,
            Self::Passphrase => 11,
            Self::Block => 2,
        }
    }
}
