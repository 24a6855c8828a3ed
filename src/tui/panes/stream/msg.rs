//! What the pane is told, and what it says about itself to the rest of the screen.

use crate::domain::search::{Only, Way};

/// What is jumped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Iteration,
    /// The first iteration of a phase.
    Phase,
    Record(Only),
}

/// What the pane is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamMsg {
    /// Scroll by rows; negative is up.
    Lines(i32),
    /// Scroll by windows; negative is up.
    Page(i32),
    /// To the first row.
    Top,
    /// To the end, and follow it.
    End,
    /// Look for these words, from the window on.
    Search(String),
    /// Look at these records only, for the words that are looked for, else for any.
    Only(Only),
    /// To the next of its kind, further down or up.
    Jump(Goal, Way),
    /// To the beginning of this iteration.
    Iteration(u32),
    /// To this record of an iteration, and look for the words that were found there.
    Land {
        n: u32,
        record: usize,
        query: String,
        only: Option<Only>,
    },
    /// The next hit, further down.
    NextHit,
    /// The hit before, further up.
    PrevHit,
    ClearSearch,
    /// Select lines from here on, or leave it.
    Select,
    /// No line is selected any more.
    Leave,
    /// Select the card in this row of the window.
    Point(u16),
    /// Select lines from one row of the window to another.
    Drag(u16, u16),
    /// To another card; negative is up.
    Card(i32),
    /// Show the selected card in full, or in brief.
    Toggle,
    /// Show everything, or the first lines only.
    ToggleFold,
}

impl StreamMsg {
    /// It moves the window.
    pub(super) fn scrolls(&self) -> bool {
        matches!(self, Self::Lines(_) | Self::Page(_) | Self::Top | Self::End)
    }
}

/// Whether the pane follows the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowStatus {
    /// The last row is in the window and stays there.
    Following,
    /// The window stays where it is.
    Behind {
        /// Lines that came since it left the end (records that were not laid out yet count as one).
        new_lines: u64,
    },
    /// The window stays where it is, which is still the end.
    Held,
}

/// How a search goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    /// Not over: draw another frame to go on.
    Busy(String),
    /// A hit is in the window.
    Found(String),
    /// Nowhere.
    Missing(String),
}
