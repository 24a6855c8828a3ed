//! A chat on the real CLI, in a pipe: one session, the person's SOUL.md before everything else, and the gate.

use crate::messages_stub::Reply;
use crate::program::Bench;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

fn said(bench: &Bench, args: &[&str], lines: &str) -> (String, String) {
    let mut command = bench.command(&[&["chat", "--plain"], args].concat());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_chat_is_one_session_with_its_soul_first_and_the_next_is_told_of_it() {
    let bench = Bench::new(&[]);
    bench.project.write("config/SOUL.md", "BE-A-PIRATE\n");
    bench.project.write("work/CLAUDE.md", "PROJECT-MEMORY\n");
    let push = json!({"command": "git push origin main", "description": "push"});
    bench.judged_by("guarded");
    bench.script([
        Reply::tool("Bash", json!({"command": "touch made.txt", "description": "make"})),
        Reply::text("Made it."),
        Reply::tool("Bash", push),
        Reply::text("I may not."),
    ]);
    let (out, err) = said(&bench, &[], "make a file\npush it\n");
    assert_eq!(out, "Made it.\nI may not.\n", "{err}");
    assert!(
        bench.file("made.txt").exists() && err.contains("nobody could be asked: Bash git push origin main"),
        "{err}"
    );
    let requests = bench.stub.requests();
    let system = requests[0]["system"].to_string();
    let (soul, memory) = (system.find("BE-A-PIRATE"), system.find("PROJECT-MEMORY"));
    assert!(soul.is_some() && soul < memory, "{system}");
    let told = requests[3]["messages"].to_string();
    assert!(told.contains("make a file") && told.contains("Made it."), "one conversation: {told}");

    bench.script([Reply::text("Still here.")]);
    assert_eq!(said(&bench, &["--resume"], "are you there?\n").0, "Still here.\n");
    let told = bench.stub.requests()[4]["messages"].to_string();
    assert!(told.contains("make a file"), "the session is taken up: {told}");

    bench.script([Reply::text("Fresh.")]);
    let (out, err) = said(&bench, &[], "and now?\n");
    assert_eq!(out, "Fresh.\n");
    assert!(
        err.contains("The last chat in this directory was about:\n- make a file\n- push it\n- are you there?"),
        "{err}"
    );
    let told: Value = bench.stub.requests()[5]["messages"].clone();
    let told = told.to_string();
    assert!(told.contains("## Last Session Summary") && told.contains("- push it"), "{told}");
    assert!(!told.contains("Made it."), "another session: {told}");
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}
