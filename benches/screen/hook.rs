//! What Claude waits for at each of its own sessions' hooks when nobody is asked elsewhere.

use crate::project;
use crate::report::{Limit, Report};
use crate::stage::{Stage, at, median, timed};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A question such as Claude gives its hook.
const QUESTION: &[u8] = br#"{"session_id":"1a2b3c4d-0000-4000-8000-000000000000","cwd":"/w/shop","transcript_path":"/nowhere/t.jsonl","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}"#;

/// From the start of a program that is given the question to its exit, in milliseconds.
fn whole(stage: &Stage, program: &str, args: &[&str]) -> f64 {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(stage.project.env()).env("CLAUDE_CODE_ENTRYPOINT", "cli");
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
    let (mut floors, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..51 {
        floors.push(whole(&stage, "/bin/true", &[]));
        ours.push(whole(&stage, project::PROGRAM, &["hook", "session"]));
    }
    let beside = format!("/bin/true {:.2} ms, 95 of 100 {:.2} ms", median(&floors), at(&ours, 0.95));
    report.row("hook of an own session, nobody away", median(&ours), "ms", Limit::Most(10.0), &beside);
}
