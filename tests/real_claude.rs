//! The real Claude Code CLI against a loopback stub of the Messages API: the adapter's every promise
//! about protocol, failures, stopping and sweeping, and the whole program, on what it was made for.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests, helpers included

#[path = "support/agent_run.rs"]
mod agent_run;
#[path = "real_claude/approvals.rs"]
mod approvals;
#[path = "real_claude/approvals_program.rs"]
mod approvals_program;
#[path = "real_claude/approvals_screen.rs"]
mod approvals_screen;
#[path = "support/attended.rs"]
mod attended;
#[path = "real_claude/failures.rs"]
mod failures;
#[path = "real_claude/injected.rs"]
mod injected;
#[path = "real_claude/launching.rs"]
mod launching;
#[path = "real_claude/limits.rs"]
mod limits;
#[path = "support/messages_stub.rs"]
mod messages_stub;
#[path = "real_claude/program.rs"]
mod program;
#[path = "real_claude/program_apart.rs"]
mod program_apart;
#[path = "real_claude/program_failures.rs"]
mod program_failures;
#[path = "real_claude/program_screen.rs"]
mod program_screen;
#[path = "real_claude/program_stopping.rs"]
mod program_stopping;
#[path = "real_claude/program_watch.rs"]
mod program_watch;
#[path = "real_claude/program_work.rs"]
mod program_work;
#[allow(dead_code)]
#[path = "support/project.rs"]
mod project;
#[path = "support/real_cli.rs"]
mod real_cli;
#[path = "real_claude/repositories.rs"]
mod repositories;
#[path = "real_claude/stopping.rs"]
mod stopping;
#[path = "real_claude/talking.rs"]
mod talking;
#[allow(dead_code)]
#[path = "support/terminal.rs"]
mod terminal;
