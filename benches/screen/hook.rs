//! What Claude waits for at each of its own sessions' hooks when nobody is asked elsewhere.

use crate::project;
use crate::report::{Limit, Report};
use crate::stage::{Stage, at, median, timed};
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

/// A question such as Claude gives its hook.
const QUESTION: &[u8] = br#"{"session_id":"1a2b3c4d-0000-4000-8000-000000000000","cwd":"/w/shop","transcript_path":"/nowhere/t.jsonl","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}"#;
/// A phone whose server refuses every connection.
const PAIRED: &str =
    r#"{"token":"1:x","api":"http://127.0.0.1:9","bot":"b","user":1,"chat":1,"name":"Ada","detail":"full"}"#;

/// From the start of a program that is given the question to its exit, in milliseconds. For it we are the Claude.
fn whole(stage: &Stage, program: &str, args: &[&str]) -> f64 {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(stage.project.env());
    command.env("CLAUDE_CODE_ENTRYPOINT", "cli").env("CLAUDECODE", "1");
    command.current_dir(stage.project.work()).stdin(Stdio::piped()).stdout(Stdio::null());
    let run = || {
        let mut child = command.spawn().unwrap();
        // One that does not read may be gone.
        let _ = child.stdin.take().unwrap().write_all(QUESTION);
        assert!(child.wait().unwrap().success());
    };
    timed(run).0
}

pub fn hook(report: &mut Report) {
    let stage = Stage::new(1, "turns: []\n");
    let config = stage.project.read("config/config.yaml");
    let mut measure = |name, most| {
        let (mut floors, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..51 {
            floors.push(whole(&stage, "/bin/true", &[]));
            ours.push(whole(&stage, project::PROGRAM, &["hook", "session"]));
        }
        let (floor, own) = (median(&floors), median(&ours));
        let beside = format!("{:.1} × /bin/true of {floor:.2} ms, 95 of 100 {:.2} ms", own / floor, at(&ours, 0.95));
        report.row(name, own, "ms", Limit::Most(most), &beside);
    };
    measure("hook of an own session, nobody away", 10.0);
    // It has to begin the relay, which cannot reach the phone: Claude is let go on.
    stage.project.write("config/config.yaml", &format!("{config}away: {{always_on: true}}\n"));
    stage.project.write("config/telegram.json", PAIRED);
    std::fs::set_permissions(stage.project.path("config/telegram.json"), Permissions::from_mode(0o600)).unwrap();
    measure("the same, which begins a relay that fails", 50.0);
}
