//! How long a verdict takes: every command of the corpus, and the largest texts that are read at all.
//!
//! `cargo bench --bench verdict` prints p50, p99 and the longest; the aim is a p99 below 5 ms. Each verdict is on a
//! thread of its own, as in a run, and its start is counted: `limit_thread` is such a thread that does nothing, and the
//! last column says how many of these medians a row's median is.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use programmator::domain::profile::Profile;
use programmator::policy::cases::Case;
use programmator::policy::engine::Policy;
use programmator::policy::place::{MadeUp, Place};
use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;

/// Prints a row, and gives its median.
fn row(name: &str, mut times: Vec<Duration>, limit: Option<Duration>) -> Duration {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let (median, longest) = (at(50), times[times.len() - 1]);
    let ratio = limit.map_or(String::new(), |limit| format!("   {:6.1} x", median.as_secs_f64() / limit.as_secs_f64()));
    println!("{name:32} {:6}   p50 {median:9.1?}   p99 {:9.1?}   max {longest:9.1?}{ratio}", times.len(), at(99));
    median
}

/// A thread like that of a verdict, for nothing.
fn thread() {
    let spawned = std::thread::Builder::new().stack_size(64 << 20).spawn(|| ());
    spawned.ok().and_then(|thread| thread.join().ok());
}

fn timed(mut judge: impl FnMut()) -> Duration {
    let began = Instant::now();
    judge();
    began.elapsed()
}

fn main() {
    let cases: Vec<Case> =
        include_str!("../tests/fixtures/policy/cases.jsonl").lines().filter_map(|line| Case::read(line).ok()).collect();
    let limit = Some(row("limit_thread", (0..ROUNDS * cases.len()).map(|_| timed(thread)).collect(), None));
    for &profile in Profile::ALL {
        let policy = Policy::of(profile);
        let all = (0..ROUNDS).flat_map(|_| &cases);
        row(
            &format!("corpus, {}", profile.word()),
            all.map(|case| timed(|| drop(black_box(case.decide(&policy))))).collect(),
            limit,
        );
    }
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], ["a.txt", "src/a.rs"]);
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    let policy = Policy::of(Profile::Guarded);
    for (name, command) in [
        ("ls", "ls -la".to_owned()),
        ("200 commands", "true && ".repeat(200) + "ls"),
        ("32 KiB of commands", "ls a;".repeat(6500)),
        ("32 KiB of words", format!("cat {}", "a.txt ".repeat(5400))),
        ("8 substitutions deep", format!("{}ls{}", "\"$(echo ".repeat(7), ")\"".repeat(7))),
    ] {
        let input = json!({ "command": command });
        row(
            name,
            (0..ROUNDS).map(|_| timed(|| drop(black_box(policy.decide("Bash", &input, &place))))).collect(),
            limit,
        );
    }
}
