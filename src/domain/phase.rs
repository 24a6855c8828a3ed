//! The number that a phase has in its run, whatever becomes of its text and its place.

use serde::{Deserialize, Serialize};

/// Counted from 1 in the order in which the run first saw its phases; never given again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhaseId(pub u32);
