//! The gate's engine: the corpus of cases, the contexts that evasions hide in, the profiles, and scripts that no
//! person would write.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "how many scripts were run is told")]

#[path = "policy/attacks.rs"]
mod attacks;
#[path = "policy/canary.rs"]
mod canary;
#[path = "policy/contexts.rs"]
mod contexts;
#[path = "policy/corpus.rs"]
mod corpus;
#[path = "policy/everyday.rs"]
mod everyday;
#[path = "policy/files.rs"]
mod files;
#[path = "policy/foreign.rs"]
mod foreign;
#[path = "policy/grammar.rs"]
mod grammar;
#[path = "policy/guarded.rs"]
mod guarded;
#[path = "policy/kinds.rs"]
mod kinds;
#[path = "policy/ordinary.rs"]
mod ordinary;
#[path = "policy/own_rows.rs"]
mod own_rows;
#[path = "policy/readings.rs"]
mod readings;
#[path = "policy/scratch.rs"]
mod scratch;
#[path = "policy/scripts.rs"]
mod scripts;
#[path = "policy/support.rs"]
mod support;
#[path = "policy/tools.rs"]
mod tools;
