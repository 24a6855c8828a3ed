//! The scripted agent as a host sees it: `behaviour` (protocol and work), `unpleasant` (what a host must survive),
//! `script` (the demo's own scenario), and `contract`, `newer` and `asked`, which hold it beside the recordings of the
//! real CLI.

// The helpers of a test may fail as the test itself may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "scripted_agent/asked.rs"]
mod asked;
#[path = "scripted_agent/behaviour.rs"]
mod behaviour;
#[path = "scripted_agent/contract.rs"]
mod contract;
#[path = "scripted_agent/host.rs"]
mod host;
#[path = "scripted_agent/newer.rs"]
mod newer;
#[path = "scripted_agent/script.rs"]
mod script;
#[path = "scripted_agent/unpleasant.rs"]
mod unpleasant;
