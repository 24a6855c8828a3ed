//! The `status` key of a status block.

use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// The `status` key of the block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum ClaimStatus {
        Continue = "CONTINUE",
        Done = "DONE",
        /// A person must act first.
        Blocked = "BLOCKED",
    }
}
