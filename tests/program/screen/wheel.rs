//! The person takes the wheel: Claude is theirs for a while, its calls are judged, and the run takes up what changed.

use super::stage::{ROOMY, gated, leave, start_with, wait_at_the_gate};
use crate::project::{PROGRAM, Project};
use crate::terminal::Terminal;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RULES: &str = "version: 1\nrules:\n  - {name: mine, action: ask, command: frobnicate}\n";

/// A run of a Claude of this version that is paused after its first phase, with `temporary` as its folder of temporary files.
fn paused(temporary: &str, cli: &str) -> (Project, Terminal) {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta"]);
    project.scenario(&format!("cli: {cli}\n{}", gated(&project)));
    project.write("config/policy.yaml", RULES);
    project.write(&format!("{temporary}/.here"), "");
    let temporary = project.path(temporary).display().to_string();
    let mut terminal = start_with(&project, &["tk-1"], ROOMY, &[("TMPDIR", &temporary)]);
    wait_at_the_gate(&terminal, "Alpha");
    let screen = terminal.keys_until("O", "Take the wheel");
    assert!(screen.contains("Pause after this iteration?"), "{screen}");
    terminal.keys_until("y", "pausing after this iteration");
    project.open_gate("alpha");
    terminal.wait_for("paused · p resumes");
    (project, terminal)
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

/// What the hook decides about `ls` when this process asks.
fn hook(socket: &Path, program: u32) -> String {
    let mut child = Command::new(PROGRAM)
        .args(["hook", "--socket", &socket.display().to_string(), "--program", &program.to_string()])
        .env("PROGRAMMATOR_RUN_ID", "another-run")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let call = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}"#;
    child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    printed["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn claude_is_opened_on_the_tickets_session_its_calls_are_judged_and_the_work_is_taken_up() {
    let (project, mut terminal) = paused("tmp", "2.1.330");
    terminal.keys_until("O", "Claude Code, scripted: session");
    assert!(!terminal.in_alternate_screen());
    terminal.keys_until("touch mine.txt\n", "ran touch mine.txt: exit status: 0");
    terminal.keys_until("touch .git/mine\n", "denied: programmator: floor");
    terminal.keys_until("frobnicate\n", "Do you want to run this command?");
    terminal.keys_until("n\n", "not run");

    // Others, also those that a run has started, hear nothing from the gate.
    let found = |name: &str| -> Option<PathBuf> {
        let entries = std::fs::read_dir(project.path("tmp")).unwrap().flatten();
        entries.map(|entry| entry.path()).find(|path| path.file_name().unwrap().to_string_lossy().starts_with(name))
    };
    let folder = found("programmator-hook-").expect("the folder of the socket");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("gate"))), (0o700, 0o600));
    assert_eq!(hook(&folder.join("gate"), terminal.pid()), "ask");

    terminal.keys("exit\n");
    terminal.wait_for("You worked in the session; 1 file changed");
    assert!(terminal.in_alternate_screen() && found("programmator-hook-").is_none());
    let records = project.journal();
    let verdicts: Vec<_> = of_kind(&records, "wheel_judged").iter().map(|record| record["verdict"].clone()).collect();
    assert_eq!(verdicts, ["allow", "block", "ask"]);
    let [returned] = of_kind(&records, "wheel_returned")[..] else { panic!("{records:?}") };
    assert_eq!((&returned["files"][0], &returned["checked"]), (&"mine.txt".into(), &true.into()));
    let session = &of_kind(&records, "agent_ready")[0]["session"];
    assert_eq!(&of_kind(&records, "wheel_taken")[0]["session"], session);

    terminal.keys("p");
    wait_at_the_gate(&terminal, "Beta");
    project.open_gate("beta");
    terminal.wait_for("complete: 2/2 phases");
    leave(terminal, &project);
}

#[test]
fn what_the_gate_cannot_judge_is_said_before_it_is_opened() {
    // No socket's path may be as long.
    let (project, mut terminal) = paused(&format!("tmp/{}", "long/".repeat(24)), "2.1.330");
    terminal.keys_until("O", "UNGATED");
    terminal.keys("n\n");
    terminal.wait_until("the screen", |screen| screen.contains("paused · p resumes") && !screen.contains("UNGATED:"));
    assert!(of_kind(&project.journal(), "wheel_taken").is_empty(), "nothing was opened");
    terminal.keys_until("O", "UNGATED");
    terminal.keys_until("y\n", "Claude Code, scripted: session");
    terminal.keys_until("touch mine.txt\n", "Do you want to run this command?");
    terminal.keys_until("y\n", "ran touch mine.txt");
    terminal.keys("exit\n");
    terminal.wait_for("its tool calls were not judged by your rules");
    let records = project.journal();
    assert!(of_kind(&records, "wheel_taken")[0]["ungated"].as_str().unwrap().contains("no socket"));
    assert!(of_kind(&records, "wheel_judged").is_empty());
}

#[test]
fn a_claude_that_lets_a_call_through_when_its_hook_fails_asks_about_every_call() {
    let (_project, mut terminal) = paused("tmp", "2.1.197");
    terminal.keys_until("O", "Claude Code, scripted: session");
    terminal.keys_until("touch mine.txt\n", "Do you want to run this command?");
    terminal.keys_until("y\n", "ran touch mine.txt");
    terminal.keys_until("touch .git/mine\n", "denied: programmator: floor");
    terminal.keys("exit\n");
    terminal.wait_for("You worked in the session; 1 file changed");
}

#[test]
fn the_hook_takes_an_answer_from_nobody_but_the_program_that_opened_claude() {
    let project = Project::new();
    assert_eq!(hook(&project.path("nothing"), std::process::id()), "ask", "nobody is there");
    let path = project.path("forged");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let forger = std::thread::spawn(move || {
        let allow = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
            let _ = stream.write_all(allow.as_bytes());
        }
    });
    // The one who was to answer is another process.
    assert_eq!(hook(&path, 1), "ask");
    // That it is the process alone which makes the difference.
    assert_eq!(hook(&path, std::process::id()), "allow");
    forger.join().unwrap();
}

#[test]
fn a_run_that_has_ended_opens_its_last_session_as_well() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    project.scenario(&format!("cli: 2.1.330\n{}", gated(&project)));
    project.write("tmp/.here", "");
    let temporary = project.path("tmp").display().to_string();
    let mut terminal = start_with(&project, &["tk-1"], ROOMY, &[("TMPDIR", &temporary)]);
    wait_at_the_gate(&terminal, "Alpha");
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");

    terminal.keys_until("O", "Claude Code, scripted: session");
    terminal.keys_until("touch mine.txt\n", "ran touch mine.txt: exit status: 0");
    terminal.keys_until("touch .git/mine\n", "denied: programmator: floor");
    terminal.keys("exit\n");
    terminal.wait_for("You worked in the session; 1 file changed");
    let records = project.journal();
    let kinds: Vec<_> = records.iter().map(|record| record["kind"].as_str().unwrap_or_default()).collect();
    let tail = kinds.iter().rev().take_while(|kind| **kind != "run_ended").count();
    assert_eq!(kinds[kinds.len() - tail..], ["wheel_taken", "wheel_judged", "wheel_judged", "wheel_returned"]);
    let session = &of_kind(&records, "agent_ready")[0]["session"];
    assert_eq!(&of_kind(&records, "wheel_taken")[0]["session"], session, "the ticket's own, though it was given up");
    assert_eq!(of_kind(&records, "wheel_returned")[0]["files"][0], "mine.txt");
    let left: Vec<_> = std::fs::read_dir(project.path("tmp")).unwrap().flatten().map(|at| at.file_name()).collect();
    assert_eq!(left, [".here"], "socket and scratch folder are gone");
    leave(terminal, &project);
}
