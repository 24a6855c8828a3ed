//! `prompt show` prints what is sent: compared with what the scripted agent then receives.

use crate::project::Project;
use crate::watched::{signal, start_until, text};
use programmator::adapters::store::Store;
use rustix::process::Signal;
use serde_json::Value;

/// Keeps what it was sent. In the phase `Wait` it waits for the file `go`.
const KEEPS: &str = "
turns:
  - when: {phase: \"Wait\"}
    steps:
      - write: {path: \"{slug}.prompt\", content: \"{prompt}\"}
      - bash: \"until [ -e ../go ]; do sleep 0.02; done\"
      - status: {summary: s}
  - when: {phase: \"\"}
    steps:
      - write: {path: \"{slug}.prompt\", content: \"{prompt}\"}
      - status: {summary: s}
";

fn shown(project: &Project, args: &[&str]) -> Value {
    let all: Vec<&str> = ["prompt", "show", "tk-1", "--json"].iter().chain(args).copied().collect();
    let before = (project.ticket_text("tk-1"), records(project), project.git(&["status", "--porcelain"]));
    let output = project.run(&all);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let after = (project.ticket_text("tk-1"), records(project), project.git(&["status", "--porcelain"]));
    assert_eq!(before, after, "nothing is changed");
    serde_json::from_slice(&output.stdout).expect("an object")
}

/// How many records each run has.
fn records(project: &Project) -> Vec<usize> {
    let store = Store::open(&project.path("state")).expect("the store");
    let runs = store.runs().expect("the runs");
    runs.iter().map(|run| store.load(run.run).expect("the journal").records.len()).collect()
}

#[test]
fn it_prints_what_claude_is_sent_by_a_fresh_run_a_continued_session_and_a_resumed_run() {
    let project = Project::with(&["One", "Two", "Wait", "Four"], KEEPS);
    let fresh = shown(&project, &["--headless", "-n", "1"]);
    assert_eq!((&fresh["iteration"], &fresh["phase"], &fresh["session"]), (&1.into(), &"One".into(), &Value::Null));
    project.run(&["run", "-n", "1", "tk-1"]);
    assert_eq!(fresh["prompt"], project.read("work/one.prompt"));
    let characters = fresh["prompt"].as_str().expect("text").chars().count();
    assert_eq!(fresh["tokens"], characters.div_ceil(4));

    let continued = shown(&project, &["--headless", "-n", "1"]);
    assert!(continued["session"].is_string(), "{continued}");
    project.run(&["run", "-n", "1", "tk-1"]);
    assert_eq!(continued["prompt"], project.read("work/two.prompt"));

    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "tool_finished");
    let held = project.run(&["prompt", "show", "tk-1"]);
    assert_eq!(held.status.code(), Some(75), "{}", text(&held));
    signal(&child, Signal::INT);
    child.wait().expect("it ends");
    std::fs::remove_file(project.path("work/wait.prompt")).expect("it was sent");
    let resumed = shown(&project, &["--headless"]);
    assert_eq!((&resumed["phase"], &resumed["iteration"]), (&"Wait".into(), &2.into()), "{resumed}");
    project.write("go", "");
    project.run(&["resume", "--json"]);
    assert_eq!(resumed["prompt"], project.read("work/wait.prompt"));

    let done = project.run(&["prompt", "show", "tk-1"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done).contains("nothing would be sent"), "{}", text(&done));
}

#[test]
fn for_people_the_size_stands_below_the_prompt() {
    let project = Project::with_config(&["One"], KEEPS, "policy: {profile: guarded}\n");
    let output = project.run(&["prompt", "show", "tk-1"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let tokens = &shown(&project, &[])["tokens"];
    let last = printed.lines().last().expect("lines");
    assert_eq!(
        last,
        format!("-- tk-1, iteration 1: about {tokens} tokens; starts a fresh session"),
        "{}",
        text(&output)
    );
    assert!(printed.starts_with("Work on ticket `tk-1`") && printed.contains("Waits for the user"), "{printed}");
    let nobody = shown(&project, &["--headless"]);
    assert!(nobody["prompt"].as_str().expect("it").contains("Refused, because nobody is there"), "{nobody}");
}

#[test]
fn files_that_the_configuration_names_go_along_and_what_cannot_is_told() {
    let config = "prompt: {context: [AGENT.md, gone.md, docs, out.md]}\n";
    let project = Project::with_config(&["One", "Two", "Three"], KEEPS, config);
    project.write("work/AGENT.md", "Run `make check`.\n```\n\u{1b}[31mred\n@src/x\n");
    project.write("work/docs/a.md", "A");
    project.write("secret", "SECRET");
    std::os::unix::fs::symlink(project.path("secret"), project.path("work/out.md")).expect("a link");
    let dry = text(&project.run(&["run", "--dry-run", "tk-1"]));
    for why in ["gone.md: skipped: no such file", "docs: skipped: a folder", "out of the project"] {
        assert!(dry.contains(why), "{why} in {dry}");
    }
    assert!(dry.contains("Run `make check`.") && !dry.contains("SECRET") && !dry.contains('\u{1b}'), "{dry}");
    let fresh = shown(&project, &["--headless", "-n", "1"]);
    let first = project.run(&["run", "-n", "1", "tk-1"]);
    assert!(text(&first).contains("prompt.context: gone.md: skipped"), "{}", text(&first));
    let sent = project.read("work/one.prompt");
    assert_eq!(fresh["prompt"], sent);
    for part in ["`AGENT.md`:\n\n````text\nRun `make check`.\n```\n", "\\@src/x", "`docs` (skipped: a folder"] {
        assert!(sent.contains(part), "{part} in {sent}");
    }
    project.run(&["run", "-n", "1", "tk-1"]);
    let two = project.read("work/two.prompt");
    assert!(two.starts_with("Continue") && !two.contains("make check"), "the session knows it: {two}");
    project.write("work/AGENT.md", "Run `make test`.\n");
    project.run(&["run", "-n", "1", "tk-1"]);
    let three = project.read("work/three.prompt");
    assert!(three.contains("Run `make test`."), "it has changed: {three}");
}

#[test]
fn a_project_names_such_files_once_it_is_trusted_and_none_outside() {
    let project = Project::with(&["One"], KEEPS);
    project.write("work/AGENT.md", "Run make.\n");
    project.write("work/.programmator/config.yaml", "prompt: {context: [AGENT.md]}\n");
    let prompt = |project: &Project| shown(project, &[])["prompt"].as_str().expect("text").to_owned();
    assert!(!prompt(&project).contains("Run make."), "it is not trusted");
    project.run(&["trust"]);
    assert!(prompt(&project).contains("Run make."), "{}", prompt(&project));
    std::fs::remove_dir_all(project.path("work/.programmator")).expect("it is there");
    for bad in ["../secret", "/etc/hostname", ".git/config"] {
        project.scenario_with(KEEPS, &format!("prompt: {{context: [\"{bad}\"]}}\n"));
        let refused = project.run(&["prompt", "show", "tk-1"]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(text(&refused).contains("prompt.context has") && text(&refused).contains(bad), "{}", text(&refused));
    }
}
