//! The number that a phase has in its run, whatever becomes of its text and its place.

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
