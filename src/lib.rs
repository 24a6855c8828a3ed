//! programmator supervises Claude Code while it works through tickets.

pub mod adapters;
pub mod base;
pub mod cli;
pub mod config;
pub mod demo;
pub mod domain;
pub mod orchestrator;
pub mod policy;
pub mod runtime;
pub mod tui;
