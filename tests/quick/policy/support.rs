//! What the tests of the gate share: judging a command in a made-up place, and the cases of the corpus.

use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use programmator::policy::cases::Case;
use programmator::policy::engine::Policy;
use programmator::policy::place::{MadeUp, Place};
use programmator::policy::verdict::Decision;
use serde_json::json;
use std::path::Path;
use std::sync::LazyLock;

static POLICIES: LazyLock<Vec<(Profile, Policy)>> =
    LazyLock::new(|| Profile::ALL.iter().copied().map(|profile| (profile, Policy::of(profile))).collect());

pub fn policy(profile: Profile) -> &'static Policy {
    let found = POLICIES.iter().find(|(other, _)| *other == profile);
    found.map(|(_, policy)| policy).expect("every profile has a policy")
}

pub fn cases() -> Vec<Case> {
    let text = include_str!("../../fixtures/policy/cases.jsonl");
    text.lines().map(|line| Case::read(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Judges a command in a workspace with these files, where git ignores what is built, if there is a `.gitignore`.
pub fn decide(profile: Profile, files: &[&str], command: &str) -> Decision {
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], files.iter().copied());
    let view = if files.contains(&".gitignore") { view.with_texts([(".gitignore", "/target\ndist/\n")]) } else { view };
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    policy(profile).decide("Bash", &json!({ "command": command }), &place)
}

/// The verdict on a command in an empty workspace.
pub fn verdict(profile: Profile, command: &str) -> Verdict {
    decide(profile, &[], command).verdict
}
