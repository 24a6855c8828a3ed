//! The table of panes. A pane is a file here, with its keys, state and view, a row below, and a place in `tui::layout`.
//! The strips above and below the panes are here too.

pub mod changes;
pub mod ending;
pub mod footer;
pub mod gauges;
pub mod home;
pub mod log;
pub mod notice;
pub mod now;
pub mod stream;
pub mod tabs;
pub mod tickets;

use crate::tui::model::{Mode, Model};
use crate::tui::pane::Entry;

/// Every pane, in the order that `Tab` goes.
pub const PANES: &[Entry] = &[tickets::PANE, stream::PANE, changes::PANE, gauges::PANE, log::PANE, home::PANE];

/// The pane that the focus comes to next, forwards or backwards, around. Home has none beside it, and a replay and a Claude session
/// of the person's own have no Changes.
pub fn after(model: &Model, forwards: bool) -> &'static str {
    let is_beside = |name: &&str| match *name {
        crate::tui::home::NAME => false,
        crate::tui::changes::NAME => model.mode == Mode::Live && !model.fronts_own_session(),
        _ => true,
    };
    let beside: Vec<&'static str> = PANES.iter().map(|pane| pane.name).filter(is_beside).collect();
    let Some(at) = beside.iter().position(|pane| *pane == model.focus) else { return model.focus };
    beside[(at + if forwards { 1 } else { beside.len() - 1 }) % beside.len()]
}
