//! The store as its users see it: appends from many threads and programs, kill -9, a full disk, locks.
//!
//! Tests that need another program run this very binary again, with a role in the environment
//! (`STORE_TEST_ROLE`); the `#[test]` functions named `child_…` are those roles and do nothing otherwise.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "store/child.rs"]
mod child;
#[path = "store/faults.rs"]
mod faults;
#[path = "store/journal.rs"]
mod journal;
#[path = "store/limits.rs"]
mod limits;
#[path = "store/locks.rs"]
mod locks;
#[path = "store/samples.rs"]
mod samples;
#[path = "store/scrollback.rs"]
mod scrollback;
