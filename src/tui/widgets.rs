//! Small parts that several panes draw with.

pub mod diff;
pub mod wrap;
