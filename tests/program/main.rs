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
mod dry_run;
mod ends;
mod evidence;
mod export;
mod faults;
#[path = "../support/gh.rs"]
mod gh;
mod hank;
mod headless;
#[path = "../support/hook_host.rs"]
mod hook_host;
mod host;
mod hostile;
mod import;
mod init;
mod job;
mod known_sessions;
mod opening;
mod own_sessions;
mod packaging;
#[path = "../support/pairing.rs"]
mod pairing;
mod parse;
mod phone;
mod policy;
#[path = "../support/project.rs"]
mod project;
mod prompt;
mod pull_request;
mod reports;
mod review;
mod screen;
mod scripted_agent;
mod sessions;
mod settings;
mod source;
mod status;
#[path = "../support/stub_http.rs"]
#[allow(dead_code)]
mod stub_http;
mod supervision;
mod telling;
#[path = "../support/terminal.rs"]
mod terminal;
mod tickets;
mod upkeep;
#[path = "../support/watched.rs"]
mod watched;
