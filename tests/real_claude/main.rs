//! The real Claude Code CLI against a loopback stub of the Messages API: the adapter's every promise
//! about protocol, failures, stopping and sweeping, and the whole program, on what it was made for.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests, helpers included
#![allow(
    clippy::duplicate_mod,
    reason = "the stub of the Messages API brings its own HTTP, and the phone's double the same"
)]

#[path = "../support/agent_run.rs"]
mod agent_run;
mod approvals;
mod approvals_program;
mod approvals_screen;
#[path = "../support/attended.rs"]
mod attended;
#[allow(dead_code)]
#[path = "../support/bot_api.rs"]
mod bot_api;
mod driven;
mod failures;
mod injected;
mod launching;
mod limits;
#[path = "../support/messages_stub.rs"]
mod messages_stub;
mod own_sessions;
mod own_sessions_phone;
#[path = "../support/pairing.rs"]
mod pairing;
mod program;
mod program_apart;
mod program_chat;
mod program_conflicts;
mod program_critique;
mod program_failures;
mod program_planning;
mod program_screen;
mod program_stopping;
mod program_watch;
mod program_work;
#[allow(dead_code)]
#[path = "../support/project.rs"]
mod project;
#[path = "../support/real_cli.rs"]
mod real_cli;
mod repositories;
mod stopping;
#[allow(dead_code)]
#[path = "../support/stub_http.rs"]
mod stub_http;
mod talking;
#[allow(dead_code)]
#[path = "../support/terminal.rs"]
mod terminal;
