//! How the person has arranged the panes beside the Stream: how large they are and which are hidden. Kept between starts.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What differs from the usual arrangement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// Columns more than usual at the left, or less.
    pub left: i16,
    /// The same at the right.
    pub right: i16,
    /// Lines more than usual for the Log, or less.
    pub log: i16,
    /// Panes without a place of their own, by their names.
    pub hidden: BTreeSet<String>,
    /// The mouse is reported to us, and not the terminal's own.
    pub mouse: bool,
    /// The pane with the focus has the whole screen. Not kept.
    #[serde(skip)]
    pub is_zoomed: bool,
}

impl Arrangement {
    pub fn shows(&self, pane: &str) -> bool {
        !self.hidden.contains(pane)
    }

    /// Hides a pane, or shows it again.
    pub fn toggle(&mut self, pane: &str) {
        if !self.hidden.remove(pane) {
            self.hidden.insert(pane.to_owned());
        }
    }
}
