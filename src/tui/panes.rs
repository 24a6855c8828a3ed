//! The panes, one file each.

pub mod stream;
