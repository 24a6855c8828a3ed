//! Kinds of calls: which calls have one, and that two calls of one kind differ in nothing that its name does not say.

use programmator::domain::profile::Profile;
use programmator::policy::engine::Policy;
use programmator::policy::place::{MadeUp, Place};
use serde_json::json;
use std::path::Path;

/// The kinds of what is asked about in a command.
fn kinds(command: &str) -> Vec<Option<String>> {
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [("out", "/etc")], ["a.txt", "b.txt", "deploy.txt", "src/a.rs", "x.py"]);
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    let decision = Policy::of(Profile::Guarded).decide("Bash", &json!({ "command": command }), &place);
    decision.units.into_iter().filter(|unit| unit.verdict.word() == "ask").map(|unit| unit.kind).collect()
}

fn kind(command: &str) -> Option<String> {
    let mut kinds = kinds(command);
    assert_eq!(kinds.len(), 1, "{command} is one question: {kinds:?}");
    kinds.remove(0)
}

#[test]
fn what_can_be_named_has_a_kind() {
    for (command, expected) in [
        ("python3 -c 'print(1)'", "inline code with `python3 -c`"),
        ("node -e 'console.log(1)'", "inline code with `node -e`"),
        ("frobnicate --check a.txt", "`frobnicate --check FILE…` on any files of the project"),
        ("frobnicate --check src/a.rs b.txt", "`frobnicate --check FILE…` on any files of the project"),
        ("curl -s https://x.test/a", "requests by `curl` to x.test with the option silent"),
    ] {
        assert_eq!(kind(command).as_deref(), Some(expected), "{command}");
    }
}

#[test]
fn what_differs_in_more_than_files_is_of_another_kind() {
    for (one, other) in [
        ("frobnicate --check a.txt", "frobnicate --fix a.txt"),
        ("frobnicate --check a.txt", "frobnicate a.txt --check"),
        ("frobnicate --check a.txt", "frobnicate --check=/etc a.txt"),
        ("frobnicate --check a.txt", "frobnicate --check a.txt now"),
        ("curl -s https://x.test/a", "curl -s https://y.test/a"),
        ("curl -s https://x.test/a", "curl -s -d @a.txt https://x.test/a"),
        ("python3 -c 'print(1)'", "python3 -m http.server a.txt"),
        ("frobnicate a.txt", "cd /tmp && frobnicate a.txt"),
        ("frobnicate a.txt", "frobnicate deploy.txt"),
    ] {
        assert_ne!(kind(one), kind(other), "{one} | {other}");
    }
}

#[test]
fn what_cannot_be_named_has_none() {
    for command in [
        "frobnicate", "frobnicate --check", "frobnicate /etc/passwd", "frobnicate out/passwd", "frobnicate ../x",
        "frobnicate src", "cd /etc && frobnicate --check a.txt", "(cd ..; frobnicate --check a.txt)",
        "pushd src; frobnicate a.txt", "frobnicate $x", "frobnicate -- $(ls)", "curl -s https://x.test/a -d @a.txt",
        "curl -s \"https://$x/a\"", "sudo frobnicate a.txt", "python migrate.py x.py", "ssh host a.txt", "git push",
    ] {
        for kind in kinds(command) {
            assert_eq!(kind, None, "{command}");
        }
    }
}
