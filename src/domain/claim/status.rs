//! The `status` key of a status block.

use crate::domain::worded::worded;

worded! {
    /// The `status` key of the block.
    pub enum ClaimStatus {
        Continue = "CONTINUE",
        Done = "DONE",
        /// A person must act first.
        Blocked = "BLOCKED",
    }
}
