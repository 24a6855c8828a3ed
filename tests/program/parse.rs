//! `programmator parse` by the real binary: what it prints, reads and refuses.

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const BLOCK: &str = "Done.\nPROGRAMMATOR_STATUS:\n  phase_completed: \"Phase 1: parse\"\n  status: CONTINUE\n  \
                     files_changed: [src/a.rs, src/b.rs]\n  summary: \"wrote \x1b[31mit\"\n";

/// Runs `programmator parse` in `folder` with `input` on stdin.
fn parse(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_programmator"))
        .arg("parse")
        .args(arguments)
        .current_dir(folder)
        .env("PROGRAMMATOR_STATE_DIR", folder.join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading closes the pipe: that is judged by its output.
    child.stdin.take().unwrap().write_all(input).ok();
    child.wait_with_output().unwrap()
}

fn object(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_status_block_from_a_file_and_from_stdin() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("answer.txt"), BLOCK).unwrap();
    let expected = json!({
        "found": true, "valid": true, "status": "CONTINUE", "phase_completed": "Phase 1: parse",
        "files_changed": ["src/a.rs", "src/b.rs"], "summary": "wrote it", "error": null,
        "warnings": ["ansi_stripped"], "reason": null,
    });
    assert_eq!(object(&parse(folder.path(), &["status", "answer.txt", "--json"], b"")), expected);
    assert_eq!(object(&parse(folder.path(), &["status", "-", "--json"], BLOCK.as_bytes())), expected);
    assert_eq!(object(&parse(folder.path(), &["status", "--json"], BLOCK.as_bytes())), expected);
    assert!(!folder.path().join("state").exists(), "what only reads leaves nothing behind");
}

#[test]
fn a_broken_and_a_missing_block_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let broken = parse(folder.path(), &["status", "-", "--json"], b"PROGRAMMATOR_STATUS:\n  status: MAYBE\n");
    let expected = json!({
        "found": true, "valid": false, "status": null, "phase_completed": null, "files_changed": [],
        "summary": "", "error": null, "warnings": [], "reason": "unknown_status",
    });
    assert_eq!(object(&broken), expected);
    let missing = object(&parse(folder.path(), &["status", "--json"], b"nothing here \xff"));
    assert_eq!((&missing["found"], &missing["reason"]), (&json!(false), &json!("missing")));
    let keys: Vec<&String> = missing.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["found", "valid", "status", "phase_completed", "files_changed", "summary", "error", "warnings", "reason"]
    );
}

#[test]
fn error_lines_from_a_file_and_from_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let input = "fine\n\x1b[31merror[E0308]\x1b[0m: mismatched\nError: none\n";
    std::fs::write(folder.path().join("out.log"), input).unwrap();
    let expected = json!({
        "is_error": true,
        "lines": [{"line": 2, "kind": "compiler", "text": "error[E0308]: mismatched"}],
    });
    assert_eq!(object(&parse(folder.path(), &["errors", "out.log", "--json"], b"")), expected);
    assert_eq!(object(&parse(folder.path(), &["errors", "-", "--json"], input.as_bytes())), expected);
    let none = object(&parse(folder.path(), &["errors", "--json"], b"0 errors\n"));
    assert_eq!(none, json!({"is_error": false, "lines": []}));
}

#[test]
fn people_get_lines_without_anything_a_terminal_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let status = text(&parse(folder.path(), &["status"], BLOCK.as_bytes()).stdout);
    assert_eq!(
        status,
        "status            CONTINUE\nphase completed   Phase 1: parse\nfiles changed     src/a.rs, src/b.rs\n\
         summary           wrote it\nwarning           ansi_stripped\n"
    );
    let broken = text(&parse(folder.path(), &["status"], b"PROGRAMMATOR_STATUS:\n  status: MAYBE\n").stdout);
    assert_eq!(broken, "Invalid status block: unknown status.\n");
    assert_eq!(text(&parse(folder.path(), &["status"], b"").stdout), "No status block found.\n");
    let errors = text(&parse(folder.path(), &["errors"], b"ok\nfatal: no \x1b[1mrepository\n").stdout);
    assert_eq!(errors, "     2  git          fatal: no repository\n");
    assert_eq!(text(&parse(folder.path(), &["errors"], b"").stdout), "No error lines found.\n");
}

#[test]
fn what_cannot_be_read_is_named_with_the_cure() {
    let folder = tempfile::tempdir().unwrap();
    for (name, what) in [("errors", "gone.log"), ("status", "gone.log"), ("errors", ".")] {
        let output = parse(folder.path(), &[name, what, "--json"], b"");
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains(what) && said.contains("`-` for stdin"), "{said}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(parse(folder.path(), &["frob"], b"").status.code(), Some(2));
}

#[test]
fn of_a_text_beyond_the_limit_the_end_is_read_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut input = b"error: at the head\n".to_vec();
    input.resize(16 * 1024 * 1024, b'x');
    let whole = parse(folder.path(), &["errors", "--json"], &input);
    assert_eq!((object(&whole)["is_error"].clone(), text(&whole.stderr)), (json!(true), String::new()));
    input.extend(
        b"\n\nPROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: DONE\n  files_changed: []\n  summary: s\n",
    );
    let cut = parse(folder.path(), &["status", "--json"], &input);
    assert_eq!(object(&cut)["status"], json!("DONE"));
    assert!(text(&cut.stderr).contains("16 MiB"), "{}", text(&cut.stderr));
    let head = parse(folder.path(), &["errors", "--json"], &input);
    assert_eq!(object(&head)["is_error"], json!(false), "the head is beyond the limit");
}

#[cfg(unix)]
#[test]
fn a_fifo_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::write(fifo, "panic: runtime error: x\n").unwrap()
    });
    let found = object(&parse(folder.path(), &["errors", "fifo", "--json"], b""));
    writer.join().unwrap();
    assert_eq!(found["lines"][0]["kind"], json!("panic"));
}

#[test]
fn hanks_blocks_shapes_of_output_and_hanks_rule() {
    let folder = tempfile::tempdir().unwrap();
    let block = "---RALPH_STATUS---\nSTATUS: COMPLETE\nWORK_TYPE: TESTING\nEXIT_SIGNAL: false\nRECOMMENDATION: go on\n---END_RALPH_STATUS---\n";
    let expected = json!({
        "found": true, "valid": true, "status": "DONE", "phase_completed": null, "files_changed": [],
        "summary": "go on", "error": null, "warnings": [], "reason": null,
    });
    assert_eq!(object(&parse(folder.path(), &["status", "--json"], block.as_bytes())), expected);
    let shaped = json!([{"type": "system"}, {"type": "result", "result": block}]).to_string();
    assert_eq!(object(&parse(folder.path(), &["status", "--json"], shaped.as_bytes())), expected);
    let people = text(&parse(folder.path(), &["status"], block.as_bytes()).stdout);
    assert!(people.contains("exit signal       false\nwork type         TESTING\n"), "{people}");

    let prose = "the exception proves the rule\nerror[E0308]: x\n";
    let lines = |rule: &str| {
        object(&parse(folder.path(), &["errors", "--json", "--rule", rule], prose.as_bytes()))["lines"][0]["line"]
            .clone()
    };
    assert_eq!((lines("hank_literal"), lines("programmator")), (json!(1), json!(2)));
}
