//! `programmator policy` by the real binary: verdicts, exit codes, and what leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "what a test sets up must be there")]

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

/// Runs `programmator policy` with a home, a workspace and a state folder inside of `folder`.
fn policy(folder: &Path, arguments: &[&str]) -> Output {
    std::fs::create_dir_all(folder.join("home")).unwrap();
    std::fs::create_dir_all(folder.join("work")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_programmator"))
        .arg("policy")
        .args(arguments)
        .current_dir(folder.join("work"))
        .env("HOME", folder.join("home"))
        .env("PROGRAMMATOR_CONFIG_DIR", folder.join("config"))
        .env("PROGRAMMATOR_STATE_DIR", folder.join("state"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_verdict_is_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code) in [
        (&["check", "ls -la"][..], 0),
        (&["check", "git push"], 10),
        (&["check", "--profile", "strict", "touch a"], 11),
        (&["check", "cat ~/.ssh/id_rsa"], 2),
        (&["check", "--profile", "trusted", "git push --force"], 0),
        (&["check", "--tool", "Read", "--input", "{\"file_path\":\"a\"}"], 0),
        (&["check", "--tool", "Read", "--input", "no json"], 64),
        (&["check", "--profile", "none", "ls"], 64),
        (&["check", "--policy", "missing.yaml", "ls"], 2),
        (&["check", "--odd", "ls", "more"], 64),
        (&["check"], 64),
        (&["check", "--cwd", "/no/such/folder", "ls"], 0),
        (&["show", "--profile", "strict"], 0),
    ] {
        let output = policy(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {}", text(&output.stderr));
    }
    assert!(!folder.path().join("state").exists(), "what only judges leaves nothing behind");
}

#[test]
fn json_names_each_unit() {
    let folder = tempfile::tempdir().unwrap();
    let output = policy(folder.path(), &["check", "--json", "--profile", "strict", "ls | tee out.txt"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({ "verdict": "passphrase", "units": [
        { "text": "ls", "verdict": "allow", "rule": "allow-reads", "reason": "only looks" },
        { "text": "tee out.txt", "verdict": "passphrase", "rule": "secret-for-write", "reason": "writes in the workspace" },
    ]});
    assert_eq!(value, expected);
}

#[test]
fn words_say_which_unit_decides_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let output = policy(folder.path(), &["check", "--profile", "strict", "ls | wc -l; r\\m -rf \"$d\""]);
    let told = text(&output.stdout);
    assert!(told.contains("BLOCK   (unit 3 of 3)"), "{told}");
    assert!(told.contains("block-rm-rf (line "), "{told}");
}

#[test]
fn cases_are_judged_and_misses_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.jsonl");
    let case = |expect: &str| {
        format!(
            "{{\"id\":\"a-1\",\"tool\":\"Bash\",\"input\":{{\"command\":\"ls\"}},\"expect\":\"{expect}\",\"never\":[\"allow\"]}}\n"
        )
    };
    std::fs::write(&file, case("allow").replace("\"never\":[\"allow\"]", "\"never\":[]")).unwrap();
    assert_eq!(policy(folder.path(), &["test", file.to_str().unwrap(), "--profile", "strict"]).status.code(), Some(0));
    std::fs::write(&file, case("block")).unwrap();
    let output = policy(folder.path(), &["test", file.to_str().unwrap(), "--profile", "strict"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("NEVER  a-1"), "{}", text(&output.stdout));
}

#[test]
fn a_broken_policy_blocks_everything_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("work/.programmator");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("policy.yaml"), "version: 1\nruels: []\n").unwrap();
    let output = policy(folder.path(), &["check", "ls"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("policy.yaml:2:1"), "{}", text(&output.stdout));
}
