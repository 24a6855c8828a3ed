//! The program itself in a terminal of 200 × 50, beside the floors of this very run: what a person waits for, and what
//! it costs the machine. A figure beyond its limit is an exit code of 1.
//!
//! `cargo bench --bench screen` takes less than five minutes; `cargo bench --bench screen -- WORD` takes the groups whose
//! name has the word. Floors and the program take turns, figures are medians, and what depends on the machine is told
//! as a ratio or with its floor taken off. The last line is the same as JSON. Processor time, wake-ups and memory are
//! read from `/proc`: on Linux only.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs, dead_code)]

use report::Report;
use std::process::ExitCode;
use std::time::Instant;

mod flood;
mod gap;
mod home;
mod hook;
mod many;
mod million;
mod rates;
mod report;
mod start;
mod watchers;

#[path = "../support/corpus.rs"]
mod corpus;
#[path = "../support/feed.rs"]
mod feed;
#[path = "../support/limit.rs"]
mod limit;
#[path = "../../tests/support/project.rs"]
mod project;
#[path = "../support/runs.rs"]
mod runs;
#[path = "../support/stage.rs"]
mod stage;
#[path = "../support/watched.rs"]
mod watched;

/// Adds what it has measured.
type Measure = fn(&mut Report);

const GROUPS: [(&str, Measure); 12] = [
    ("start", start::first_frame),
    ("hook", hook::hook),
    ("home", home::home),
    ("gap", gap::gap),
    ("small", flood::small),
    ("flood", flood::flood),
    ("silent", rates::silent),
    ("rates", rates::rates),
    ("watchers", watchers::watchers),
    ("tabs", many::tabs),
    ("iterations", many::iterations),
    ("million", million::million),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|word| word == stage::AGENT) {
        return stage::agent(&args[1..]);
    }
    let wanted: Vec<&String> = args.iter().filter(|word| !word.starts_with("--")).collect();
    let (began, mut report) = (Instant::now(), Report::default());
    for (name, measure) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            measure(&mut report);
        }
    }
    report.end(began.elapsed())
}
