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
