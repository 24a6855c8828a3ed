//! Scripts that no person would write: the gate answers each, at once, and never panics.
//!
//! `PROGRAMMATOR_SCRIPTS=200000 cargo test --test quick scripts` judges more of them.

use super::grammar::{Dice, Malice, noise, script};
use super::support::{decide, policy};
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use programmator::policy::place::{MadeUp, Place};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

fn wanted() -> usize {
    std::env::var("PROGRAMMATOR_SCRIPTS").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000)
}

/// What hangs takes longer than this on the busiest machine; the benchmark of the gate knows what is slow.
const HANGS: Duration = Duration::from_secs(60);

/// Judges a text, and says how long it took. What could not be parsed must have been refused for a reason of the
/// parser's, never because it panicked.
fn judge(text: &str) -> Duration {
    let began = Instant::now();
    let decision = decide(Profile::Guarded, &["a.txt", "src/a.rs"], text);
    let took = began.elapsed();
    assert!(!decision.units.is_empty(), "{text:?}");
    let panicked = decision.units.iter().any(|unit| unit.reason == "it could not be parsed");
    assert!(!panicked, "the parser panicked: {text:?}");
    took
}

#[test]
fn no_script_makes_it_panic_or_hang() {
    let wanted = wanted();
    let mut dice = Dice::new(4);
    let mut times: Vec<Duration> = (0..wanted)
        .map(|nth| {
            let text = if nth % 4 == 3 { noise(&mut dice) } else { script(&mut dice, Malice(3), 4) };
            judge(&text)
        })
        .collect();
    times.sort();
    let longest = times.last().copied().unwrap_or_default();
    println!("{wanted} scripts: p50 {:?}, p99 {:?}, max {longest:?}", times[wanted / 2], times[wanted * 99 / 100]);
    assert!(longest < HANGS, "{longest:?}");
}

#[test]
fn nothing_deep_or_long_makes_it_hang() {
    let nested = |open: &str, close: &str, depth: usize| format!("{}ls{}", open.repeat(depth), close.repeat(depth));
    let mut texts = Vec::new();
    for (open, close) in [
        ("(", ")"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("echo `", "`"),
        ("${x:-", "}"),
        ("$((", "))"),
        ("[[ ( ", " ) ]]"),
        ("<(", ")"),
        ("if ", "; then ls; fi"),
        ("f() { ", "; }"),
        ("! ", ""),
        ("ls && ", ""),
        ("ls | ", ""),
        ("{a,", "}"),
        ("\\", ""),
        ("\"${x:-", "}\""),
        ("case x in x) ", ";; esac"),
        ("<<A ", ""),
        ("time ", ""),
        ("coproc ", ""),
        ("command ", ""),
        ("x=", ""),
    ] {
        for depth in [4, 7, 8, 9, 15, 30, 99, 3000] {
            texts.push(nested(open, close, depth));
        }
    }
    texts.push("a;".repeat(16_000));
    texts.push(format!("cat {}", "a.txt ".repeat(5000)));
    texts.push(format!("echo {}", "{a,b}".repeat(60)));
    texts.push(format!("ls {}", "*".repeat(10_000)));
    texts.push("'".repeat(30_001));
    texts.push(format!("for i in 0 1 2 3 4 5 6 7 8 9 a b c; do cat {}$X; done", "$i".repeat(7)));
    texts.push((0..4000).fold(String::new(), |text, nth| text + &format!("a{nth}=1;")));
    texts.push((0..4000).fold(String::new(), |text, nth| text + &format!("a{nth}=1 ")));
    texts.push(">a;mv a b;".repeat(2000));
    texts.push(">a ".repeat(8000));
    texts.push("cd d;".repeat(3500));
    texts.push(format!("bash -c '{}'", "cd d;".repeat(3500)));
    texts.push("mv a b;cat b;".repeat(2000));
    for text in texts {
        let took = judge(&text);
        assert!(took < HANGS, "{took:?}: {}", &text[..text.len().min(60)]);
    }
    let long = format!("{}rm -rf src", ":\n".repeat(500));
    assert_eq!(decide(Profile::Guarded, &[], &long).verdict, Verdict::Block, "what stands behind many commands");
}

#[test]
fn bytes_that_are_no_text_are_an_answer_too() {
    let mut dice = Dice::new(5);
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], []);
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..dice.below(80)).map(|_| (dice.next() & 0xff) as u8).collect();
        let text = String::from_utf8_lossy(&bytes);
        let decision = policy(Profile::Strict).decide("Bash", &json!({ "command": text }), &place);
        assert_ne!(decision.units.len(), 0);
    }
    assert_eq!(decide(Profile::Strict, &[], "ls").verdict, Verdict::Allow);
}
