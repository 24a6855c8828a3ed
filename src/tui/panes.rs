//! The table of panes. A pane is a file here, with its keys, state and view, a row below, and a place in `tui::layout`.
//! The strips above and below the panes are here too.

pub mod changes;
pub mod footer;
pub mod gauges;
pub mod home;
pub mod log;
pub mod notice;
pub mod now;
pub mod stream;
pub mod tabs;
pub mod tickets;

use crate::tui::pane::Entry;

/// Every pane, in the order that `Tab` goes.
pub const PANES: &[Entry] = &[tickets::PANE, stream::PANE, changes::PANE, gauges::PANE, log::PANE, home::PANE];

/// The pane beside this one that the focus comes to, forwards or backwards, around. Home has none beside it.
pub fn after(name: &'static str, forwards: bool) -> &'static str {
    let beside: Vec<&'static str> =
        PANES.iter().map(|pane| pane.name).filter(|name| *name != crate::tui::home::NAME).collect();
    let Some(at) = beside.iter().position(|pane| *pane == name) else { return name };
    beside[(at + if forwards { 1 } else { beside.len() - 1 }) % beside.len()]
}
