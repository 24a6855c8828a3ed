//! Any text is judged: there is a verdict, and the parser does not panic.
//!
//! `cargo +nightly fuzz run verdict`, with cargo-fuzz installed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use programmator::domain::profile::Profile;
use programmator::policy::engine::Policy;
use programmator::policy::place::{MadeUp, Place};
use serde_json::json;
use std::path::Path;
use std::sync::LazyLock;

static STRICT: LazyLock<Policy> = LazyLock::new(|| Policy::of(Profile::Strict));

fuzz_target!(|command: &str| {
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], ["a.txt", "src/a.rs"]);
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    let decision = STRICT.decide("Bash", &json!({ "command": command }), &place);
    assert!(decision.units.iter().all(|unit| unit.reason != "it could not be parsed"));
});
