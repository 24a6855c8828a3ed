//! The real program in a real terminal, on the scripted agent: what a person sees, what keys do, how it leaves.
//!
//! Claude's double works behind gates: a Bash command waits for a file, so a test decides when a turn goes on.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

#[path = "pty/approvals.rs"]
mod approvals;
#[path = "pty/bytes.rs"]
mod bytes;
#[path = "pty/edits.rs"]
mod edits;
#[path = "pty/keys.rs"]
mod keys;
#[path = "pty/leaving.rs"]
mod leaving;
#[path = "pty/passphrase.rs"]
mod passphrase;
#[path = "pty/printed.rs"]
mod printed;
#[path = "support/project.rs"]
mod project;
#[path = "pty/runs.rs"]
mod runs;
#[path = "pty/stage.rs"]
mod stage;
#[path = "support/terminal.rs"]
mod terminal;
