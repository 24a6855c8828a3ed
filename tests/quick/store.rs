//! The store as its users see it: appends from many threads and programs, kill -9, a full disk, locks.
//!
//! Tests that need another program run this very binary again, with a role in the environment
//! (`STORE_TEST_ROLE`); the `#[test]` functions named `child_…` are those roles and do nothing otherwise.

mod child;
mod faults;
mod finding;
mod front_ends;
mod journal;
mod limits;
mod locks;
mod samples;
mod scrollback;
