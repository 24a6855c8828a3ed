//! What the policy does in Claude sessions that the person starts themselves.

use crate::domain::worded::worded;

worded! {
    /// What the policy does in Claude sessions that the person starts themselves.
    #[derive(Default)]
    pub enum OwnGate {
        /// Nothing: Claude's own rules are theirs.
        #[default]
        Off = "off",
        /// It is noted what it would ask about and block.
        Observe = "observe",
        /// Claude asks about what it asks about, and what it blocks is refused.
        Enforce = "enforce",
    }
}
