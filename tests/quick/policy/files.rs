//! Rules of a person's own: what each matcher is about, and that an allow rule needs proof.

use programmator::domain::verdict::Verdict::{self, Allow, Ask, Block, Passphrase};
use programmator::policy::engine::{Policy, Source};
use programmator::policy::place::{MadeUp, Place};
use serde_json::{Value, json};
use std::path::Path;

fn verdict(rules: &str, tool: &str, input: &Value) -> Verdict {
    let text = format!("version: 1\ndefault: block\nrules:\n{rules}");
    let policy = Policy::alone(&Source { path: "p.yaml".into(), text });
    assert_eq!(policy.broken(), None, "{rules}");
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], ["src/a.rs"]);
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    policy.decide(tool, input, &place).verdict
}

#[test]
fn matchers_of_commands() {
    let cargo = "  - {name: a, action: allow, command: cargo, args: {prefix: [[test], [check]]}}\n";
    let src = "  - {name: a, action: allow, effects: [write], paths: {write: ['${workspace}/src/**']}}\n";
    let removals = "  - {name: a, action: allow, command: rm, paths: {write: ['${built}']}}\n  \
        - {name: b, action: allow, command: rm, paths: {write: ['${workspace}/src/**']}}\n";
    let rows = [
        (cargo, "cargo test --all", Allow),
        (cargo, "cargo run", Block),
        (cargo, "cargo $x", Block),
        (cargo, "cargo test \"$x\"", Block),
        (cargo, "./cargo test", Block),
        ("  - {name: a, action: ask, command: cargo, args: {prefix: [[test]]}}\n", "cargo $x", Ask),
        ("  - {name: a, action: ask, commands: [rm], flags: {any: [force]}}\n", "rm -f x", Ask),
        ("  - {name: a, action: ask, commands: [rm], flags: {none: [force]}}\n", "rm -f x", Block),
        ("  - {name: a, action: allow, effects: [read]}\n", "ls", Allow),
        (src, "touch src/x", Allow),
        (src, "touch x", Block),
        (src, "touch src/x y", Block),
        // Each target of which something would be lost stands for itself.
        (removals, "rm -r target src/a.rs", Allow),
        ("  - {name: a, action: require-passphrase, unknown: true}\n", "frobnicate", Passphrase),
        ("  - {name: a, action: ask, tools: [Bash], regex: 'deploy'}\n", "make deploy", Ask),
        ("  - {name: a, action: allow, effects: [read], regex: 'ls'}\n", "ls -la", Block),
        ("  - {name: a, action: ask, effects: [read]}\n  - {name: b, action: allow, effects: [read]}\n", "ls", Ask),
        ("  - {name: a, action: allow, effects: [read], cwd: ['/home/dev/other/**']}\n", "ls", Block),
        // No rule lifts the floor.
        ("  - {name: a, action: allow, command: cat}\n", "cat ~/.ssh/id_rsa", Block),
        ("  - {name: a, action: allow, command: claude}\n", "claude -p x", Block),
    ];
    for (rules, command, expected) in rows {
        assert_eq!(verdict(rules, "Bash", &json!({ "command": command })), expected, "{command} by {rules}");
    }
}

#[test]
fn matchers_of_tools() {
    let fetch = "  - {name: a, action: allow, tools: [WebFetch], domains: [docs.rs, '*.rust-lang.org']}\n";
    let mcp = "  - {name: a, action: allow, mcp: [github/get_*]}\n";
    let skill = "  - {name: a, action: allow, tools: [Skill]}\n";
    for (rules, tool, input, expected) in [
        (fetch, "WebFetch", json!({ "url": "https://docs.rs/x", "prompt": "" }), Allow),
        (fetch, "WebFetch", json!({ "url": "https://doc.rust-lang.org/", "prompt": "" }), Allow),
        (fetch, "WebFetch", json!({ "url": "https://docs.rs.evil.test/", "prompt": "" }), Block),
        (fetch, "WebFetch", json!({ "url": "http://docs.rs/", "prompt": "" }), Block),
        (mcp, "mcp__github__get_issue", json!({}), Allow),
        (mcp, "mcp__github__create_issue", json!({}), Block),
        (mcp, "mcp__githubx__get_issue", json!({}), Block),
        (skill, "Skill", json!({ "skill": "x" }), Allow),
        (skill, "SlashCommand", json!({}), Block),
    ] {
        assert_eq!(verdict(rules, tool, &input), expected, "{tool} {input}");
    }
}
