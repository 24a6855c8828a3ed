//! Questions to the person: each is answered exactly once, by the answer that was meant for it, or is void.
//! The core by itself, and whole runs on the scripted agent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "support/attended.rs"]
mod attended;
#[path = "approvals/core.rs"]
mod core;
#[allow(dead_code)]
#[path = "support/project.rs"]
mod project;
#[path = "approvals/runs.rs"]
mod runs;
