//! The screen.

pub mod panes;
pub mod theme;
pub mod widgets;
