//! The table of panes. A pane is a file here, with its keys, state and view, a row below, and a place in `tui::layout`.
//! The strips above and below the panes are here too.

pub mod footer;
pub mod gauges;
pub mod log;
pub mod notice;
pub mod stream;
pub mod tabs;
pub mod tickets;

use crate::tui::pane::Entry;

/// Every pane, in the order that `Tab` goes.
pub const PANES: &[Entry] = &[tickets::PANE, stream::PANE, gauges::PANE, log::PANE];

/// The pane that the focus comes to `steps` behind this one, around.
pub fn after(name: &str, steps: usize) -> &'static str {
    let at = PANES.iter().position(|pane| pane.name == name).unwrap_or(0);
    PANES[(at + steps) % PANES.len()].name
}
