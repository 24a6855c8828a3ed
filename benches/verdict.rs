//! How long a verdict takes: every command of the corpus, and the largest texts that are read at all.
//!
//! `cargo bench --bench verdict` prints p50, p99 and the longest; the aim is a p99 below 5 ms. Each verdict is on a
//! thread of its own, as in a run, and its start is counted.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use programmator::policy::cases::Case;
use programmator::policy::engine::{Policy, Profile};
use programmator::policy::place::{MadeUp, Place};
use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;

fn row(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let longest = times[times.len() - 1];
    println!("{name:32} {:6} verdicts   p50 {:9.1?}   p99 {:9.1?}   max {longest:9.1?}", times.len(), at(50), at(99));
}

fn timed(mut judge: impl FnMut()) -> Duration {
    let began = Instant::now();
    judge();
    began.elapsed()
}

fn main() {
    let cases: Vec<Case> =
        include_str!("../tests/fixtures/policy/cases.jsonl").lines().filter_map(|line| Case::read(line).ok()).collect();
    for profile in Profile::ALL {
        let policy = Policy::of(profile);
        let all = (0..ROUNDS).flat_map(|_| &cases);
        row(
            &format!("corpus, {}", profile.name()),
            all.map(|case| timed(|| drop(black_box(case.decide(&policy))))).collect(),
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
        row(name, (0..ROUNDS).map(|_| timed(|| drop(black_box(policy.decide("Bash", &input, &place))))).collect());
    }
}
