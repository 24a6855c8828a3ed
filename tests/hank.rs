//! What users of Hank rely on, area by area: a named row for each behaviour, in our own words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "hank/breaker.rs"]
mod breaker;
#[path = "hank/compound.rs"]
mod compound;
#[path = "hank/e2e.rs"]
mod e2e;
#[path = "hank/exit.rs"]
mod exit;
#[path = "hank/flags.rs"]
mod flags;
#[path = "hank/output.rs"]
mod output;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "support/project.rs"]
mod project;
#[path = "hank/rate_limit.rs"]
mod rate_limit;
#[path = "hank/session.rs"]
mod session;
#[path = "hank/size.rs"]
mod size;
#[path = "hank/status.rs"]
mod status;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "support/watched.rs"]
mod watched;
