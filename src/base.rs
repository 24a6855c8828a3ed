//! Words that every room may use: ids, time, text that is safe to show, lines of bytes.
//!
//! Depends on nothing of ours. No I/O and no clock: time comes in as an argument.

pub mod amount;
pub mod hex;
pub mod id;
pub mod json;
pub mod lines;
pub mod secret;
pub mod shorten;
pub mod text;
pub mod time;
