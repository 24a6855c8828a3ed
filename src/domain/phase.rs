//! What is known of a phase in its run beside its text: its number, its mark, what a claim says about it.

use crate::domain::outcome::DoneHow;
use serde::{Deserialize, Serialize};

/// Counted from 1 in the order in which the run first saw its phases; never given again. 0 is none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhaseId(pub u32);

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claimed {
    /// Nothing is claimed to be done.
    Nothing,
    /// The whole ticket, which has no phases.
    Whole,
    Phase(PhaseId),
    /// A phase that none of the open ones is: never a guess.
    Unknown,
}

/// Where a phase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Not begun.
    #[default]
    Pending,
    /// An iteration works on it.
    Running,
    /// Claude says it is done; being checked.
    Claimed,
    /// What can be checked held; a critic is yet to look at it.
    Checked(DoneHow),
    /// A critic wants it changed.
    Rejected,
    Done(DoneHow),
    /// A claim did not hold.
    Disputed,
    /// The person leaves it out.
    Skipped,
    /// Claude is stuck in it.
    Blocked,
}

impl Mark {
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Done(_) | Self::Skipped)
    }
}
