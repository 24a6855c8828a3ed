//! The gate's verdict: one word for rules, records, cards and the command line.

use crate::domain::worded::worded;

worded! {
    /// What becomes of a tool call, or of a part of it; the order is that of strength.
    #[derive(PartialOrd, Ord)]
    pub enum Verdict {
        Allow = "allow",
        /// It waits for a person.
        Ask = "ask",
        /// It waits for a person who knows the passphrase.
        #[serde(alias = "require-passphrase")]
        Passphrase = "passphrase",
        /// It does not run; Claude is told why.
        Block = "block",
    }
}

impl Verdict {
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
