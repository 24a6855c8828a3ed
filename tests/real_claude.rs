//! The real Claude Code CLI against a loopback stub of the Messages API: the adapter's every promise
//! about protocol, failures, stopping and sweeping, on the program that it was made for.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // tests, helpers included

#[path = "support/agent_run.rs"]
mod agent_run;
#[path = "real_claude/failures.rs"]
mod failures;
#[path = "support/messages_stub.rs"]
mod messages_stub;
#[path = "support/real_cli.rs"]
mod real_cli;
#[path = "real_claude/stopping.rs"]
mod stopping;
#[path = "real_claude/talking.rs"]
mod talking;
