//! The real program as a process, on the scripted agent, and the real git: one module an area,
//! `cargo test --test program <area>`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "what was tried is told")]

mod approvals;
#[path = "../support/attended.rs"]
mod attended;
mod away;
#[path = "../support/bot_api.rs"]
mod bot_api;
mod chat;
mod crash;
mod evidence;
mod export;
mod faults;
mod hank;
mod headless;
mod opening;
mod parse;
mod phone;
mod policy;
#[path = "../support/project.rs"]
mod project;
mod prompt;
mod reports;
mod review;
mod screen;
mod scripted_agent;
mod sessions;
mod settings;
mod status;
mod supervision;
#[path = "../support/terminal.rs"]
mod terminal;
#[path = "../support/watched.rs"]
mod watched;
