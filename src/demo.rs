//! The first minute: a repository to play in and an agent that needs no account.
//!
//! Owns the scripted agent ([`agent`], which is also what the tests drive) and the demo's repository
//! ([`repository`]). Does not own the run itself: the demo is the true loop on the true screen, wired by `cli`.

pub mod agent;
pub mod repository;
