//! Runs without a screen, watched from outside: their records as they come, their end, signals to them.

use crate::project::Project;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

/// Works on any phase: writes a file named after it and claims it.
pub const DILIGENT: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - say: \"Working on {phase}.\"
      - write: {path: \"{slug}.txt\", content: \"{phase}\\n\"}
      - status: {summary: \"did {phase}\"}
";

/// A scenario that does its work once the file `go` is there.
pub const WAITING: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: \"{slug}.txt\", content: \"{phase}\\n\"}
      - bash: \"until [ -e ../go ]; do sleep 0.02; done\"
      - status: {summary: \"did {phase}\"}
";

/// All that a program printed, for a failure's message.
pub fn text(output: &Output) -> String {
    format!(
        "exit {:?}\n{}\n{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The records on stdout of a run with `--json`.
pub fn records(output: &Output) -> Vec<Value> {
    let lines = String::from_utf8_lossy(&output.stdout);
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}\n{}", text(output)));
    lines.lines().map(read).collect()
}

/// Those of one kind.
pub fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

/// The records of the program with these arguments, which ends with this code.
pub fn ran(project: &Project, args: &[&str], code: i32) -> Vec<Value> {
    let output = project.run(args);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    records(&output)
}

/// The exit code and the records of a run, which leaves nothing behind.
pub fn run(project: &Project, args: &[&str]) -> (Option<i32>, Vec<Value>) {
    let all: Vec<&str> = ["run", "--json"].iter().chain(args).copied().collect();
    let output = project.run(&all);
    let records = records(&output);
    assert!(!records.is_empty(), "{}", text(&output));
    assert_eq!(project.processes(), Vec::<String>::new(), "nothing is left behind");
    (output.status.code(), records)
}

/// Why a run ended, and after how many iterations.
pub fn end(records: &[Value]) -> (&str, u64) {
    let end = records.last().unwrap();
    (end["reason"].as_str().unwrap(), end["iterations"].as_u64().unwrap())
}

/// What the program with these arguments prints, on both ways; it ends with this code.
pub fn said(project: &Project, args: &[&str], code: i32) -> String {
    let output = project.run(args);
    assert_eq!(output.status.code(), Some(code), "{args:?} {}", text(&output));
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// The JSON that the program with these arguments prints.
pub fn json(project: &Project, args: &[&str]) -> Value {
    let output = project.run(args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

/// What a program that was started has printed, which ends with this code.
pub fn ended(child: Child, code: i32) -> Output {
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    output
}

/// The person stops the program.
pub fn stop(child: Child) {
    signal(&child, rustix::process::Signal::TERM);
    ended(child, 143);
}

/// A project whose run waits for the file `go` in its first phase.
pub fn at_work(phases: &[&str]) -> (Project, Child) {
    let project = Project::with(phases, WAITING);
    let (child, _) = start_until(&project, &["run", "--json", "tk-1"], "tool_finished");
    (project, child)
}

/// Starts a run and gives it back once a record of `kind` has been printed.
pub fn start_until(project: &Project, args: &[&str], kind: &str) -> (Child, Vec<Value>) {
    seen_until(&mut project.command(args), kind)
}

/// The same of any command.
pub fn seen_until(command: &mut Command, kind: &str) -> (Child, Vec<Value>) {
    seen_where(command, kind, |record| record["kind"] == kind)
}

/// Starts it and reads its records up to the first that is so.
#[expect(clippy::zombie_processes, reason = "the caller waits")]
pub fn seen_where(command: &mut Command, what: &str, is_so: impl Fn(&Value) -> bool) -> (Child, Vec<Value>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut seen = Vec::new();
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).expect("lines") > 0, "the run ended before {what}: {seen:?}");
        let record: Value = serde_json::from_str(&line).expect("a record");
        let found = is_so(&record);
        seen.push(record);
        if found {
            child.stdout = Some(lines.into_inner());
            return (child, seen);
        }
    }
}

/// Sends the run a signal.
pub fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("a process");
    rustix::process::kill_process(pid, signal).expect("it is there");
}
