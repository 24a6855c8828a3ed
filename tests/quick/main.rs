//! What is quick and needs no process of programmator's: one module an area, `cargo test --test quick <area>`.
//!
//! Nothing here changes what the process shares (environment, working directory, limits, signals); what needs a
//! process of its own runs this binary again, for one test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was tried is told")]
#![allow(clippy::needless_pass_by_value, reason = "a table is made in place")]

use programmator::{base, domain, orchestrator, tui};
use tui::theme::surface::{Depth, Surface};

/// A terminal that can show everything, with the background of the pictures.
const SURFACE: Surface = Surface { depth: Depth::True, background: Some([0x14, 0x17, 0x1c]), answers: false };

mod approvals;
mod architecture;
mod claims;
mod core;
mod docs;
mod hank;
mod kept;
mod policy;
mod prompts;
mod proposal;
#[allow(dead_code, reason = "the unit tests use the rest")]
#[path = "../../src/tui/sample.rs"]
mod sample;
mod screen;
#[cfg(unix)]
mod screen_loop;
mod store;
mod stream;
mod stream_pane;
mod themes;
mod tickets;
mod turn_outcome;
