//! `programmator review` on the scripted agent: what reviewers find is merged and looked at again, and nothing of it writes.

use crate::project::Project;
use crate::watched::{json, said, signal, text};
use programmator::adapters::store::Store;
use programmator::domain::record::Record;
use programmator::domain::summary::RunSummary;
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Two reviewers find the same, one of them more; the second look drops one of two.
const FINDS: &str = r#"
turns:
  - when: {critic: true, prompt: "Check what reviewers found"}
    steps:
      - say: "I looked.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  issues:\n    - issue: 1\n      verdict: confirmed\n      reason: \"seen in line 2\"\n    - issue: 2\n      verdict: dropped\n      reason: \"it was so before\"\n  summary: \"one holds\"\n```\n"
  - when: {critic: true, prompt: "Mistakes that can be seen in the changed lines"}
    steps:
      - verdict: {verdict: NEEDS_FIXES, issues: ["work.txt:2: the total is divided by zero", "work.txt:40: the name is misspelt"]}
  - when: {critic: true, prompt: "Mistakes that show only when"}
    steps:
      - write: {path: work.txt, content: "the reviewer was here\n"}
      - bash: "echo x > reviewer.txt"
      - verdict: {verdict: NEEDS_FIXES, issues: ["./work.txt:3: division of the total by zero"]}
"#;

const BUGS: [&str; 3] = ["review", "--focus", "bug-shallow,bug-deep"];

/// A branch that changes and adds a file.
fn branched(scenario: &str) -> Project {
    let project = Project::new();
    project.scenario(scenario);
    project.git(&["checkout", "-q", "-b", "feature"]);
    project.write("work/work.txt", "one\ntwo\nthree\n");
    project.write("work/README.md", "# Another project\n");
    project
}

fn reviewed(project: &Project, more: &[&str], code: i32) -> Value {
    let output = project.run(&[&BUGS[..], &["--json"], more].concat());
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

/// The journal of a run.
fn journal(project: &Project, run: &Value) -> Vec<Value> {
    let output = project.run(&["logs", "--json", run.as_str().expect("a run")]);
    let lines = String::from_utf8(output.stdout).expect("text");
    lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

#[test]
fn what_is_found_is_merged_looked_at_again_and_written_down() {
    let project = branched(FINDS);
    let report = reviewed(&project, &["--out", "review.md"], 3);
    let [issue] = &report["issues"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(
        (&issue["file"], &issue["line"], &issue["validation"]),
        (&"work.txt".into(), &2.into(), &"confirmed".into())
    );
    assert_eq!(
        (&issue["foci"], &issue["reason"]),
        (&serde_json::json!(["bug-shallow", "bug-deep"]), &"seen in line 2".into())
    );
    let dropped = &report["dropped"][0];
    assert_eq!((&dropped["text"], &dropped["reason"]), (&"the name is misspelt".into(), &"it was so before".into()));
    let files: Vec<&str> = report["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    assert!(files.contains(&"work.txt") && files.contains(&"README.md"), "also what is not committed: {files:?}");
    // Reviewers may not write, and what they tried is in their journals.
    assert_eq!(project.read("work/work.txt"), "one\ntwo\nthree\n");
    assert!(!project.path("work/reviewer.txt").exists());
    let deep = journal(&project, &report["reviewers"][1]["run"]);
    let verdicts: Vec<&str> = deep
        .iter()
        .filter(|record| record["kind"] == "tool_judged")
        .map(|record| record["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["block", "block"], "{deep:?}");
    let has = |kind: &str| deep.iter().any(|record| record["kind"] == kind);
    assert!(has("call_counted") && has("critique_made") && has("receipt"), "{deep:?}");
    assert_eq!(deep.last().unwrap()["reason"], "complete");
    // Each of the three calls counts.
    let status = json(&project, &["status", "--json"]);
    assert_eq!(status.as_array().unwrap().len(), 3, "{status}");
    let page = project.read("work/review.md");
    assert!(page.contains("## major: `work.txt:2`") && page.contains("it was so before"), "{page}");
    assert_eq!(project.processes(), [] as [String; 0]);
    let why = said(&project, &["review", "--out", "review.md"], 2);
    assert!(why.contains("exists"), "{why}");
}

#[test]
fn without_findings_nobody_looks_again() {
    let project = branched("turns:\n  - when: {critic: true}\n    steps: [ {verdict: {summary: fine}} ]\n");
    let report = reviewed(&project, &[], 0);
    assert_eq!((&report["issues"], &report["validator"]), (&serde_json::json!([]), &Value::Null));
    assert_eq!(report["reviewers"][0]["summary"], "fine");
    let words = String::from_utf8(project.run(&BUGS).stdout).expect("text");
    assert!(words.starts_with("No issues in 2 changed files since main ("), "{words}");
}

#[test]
fn without_a_difference_or_a_base_no_claude_is_asked() {
    let project = Project::new();
    project.scenario("turns: []\n");
    project.git(&["checkout", "-q", "-b", "feature"]);
    assert_eq!(reviewed(&project, &[], 0)["reviewers"], serde_json::json!([]));
    let why = said(&project, &["review", "--base", "mian"], 2);
    assert!(why.contains("no branch or commit `mian`"), "{why}");
    said(&project, &["review", "--focus", "bugs"], 2);
    assert_eq!(json(&project, &["status", "--json"]), Value::Array(vec![]), "nothing was begun");
}

#[test]
fn a_reviewer_that_dies_is_told_and_the_others_count() {
    let scenario = r#"
turns:
  - when: {critic: true, prompt: "Mistakes that show only when"}
    steps: [ {die: KILL} ]
  - when: {critic: true}
    steps: [ {verdict: {}} ]
"#;
    let project = branched(scenario);
    let report = reviewed(&project, &[], 1);
    assert_eq!(report["reviewers"][0]["error"], Value::Null);
    assert!(report["reviewers"][1]["error"].as_str().unwrap().contains("signal 9"), "{report}");
    let deep = journal(&project, &report["reviewers"][1]["run"]);
    assert_eq!(deep.last().unwrap()["reason"], "error");
    // What the others find weighs more.
    let finds = r#"{verdict: {verdict: NEEDS_FIXES, issues: ["work.txt:2: it is wrong"]}}"#;
    project.scenario(&scenario.replace("{verdict: {}}", finds));
    let report = reviewed(&project, &[], 3);
    assert_eq!(report["issues"][0]["validation"], "unvalidated", "the second look gave no readable answer: {report}");
    assert!(report["validator"]["error"].as_str().unwrap().contains("even when asked again"), "{report}");
}

#[test]
fn an_answer_that_cannot_be_read_is_asked_for_once_more() {
    let scenario = r#"
turns:
  - when: {critic: true, prompt: "Mistakes that show only when"}
    steps: [ {say: "I think it is fine."} ]
  - when: {critic: true, follow_up: true}
    steps: [ {say: "As I said."} ]
  - when: {critic: true}
    steps: [ {verdict: {}} ]
"#;
    let project = branched(scenario);
    let report = reviewed(&project, &[], 1);
    assert_eq!(report["reviewers"][1]["error"], "no readable answer, even when asked again (missing)");
    let deep = journal(&project, &report["reviewers"][1]["run"]);
    let many = |kind: &str| deep.iter().filter(|record| record["kind"] == kind).count();
    assert_eq!((many("claim_missing"), many("follow_up_sent"), many("call_counted")), (2, 1, 2), "{deep:?}");
    project.scenario(&scenario.replace(r#"{say: "As I said."}"#, "{verdict: {summary: now}}"));
    assert_eq!(reviewed(&project, &[], 0)["reviewers"][1]["summary"], "now");
}

#[test]
fn calls_and_budgets_count_for_the_review() {
    let project = branched("turns:\n  - when: {critic: true}\n    steps: [ {verdict: {}} ]\n");
    let config = project.read("config/config.yaml");
    project.write(
        "config/config.yaml",
        &format!("{}review: {{parallel: 1}}\n", config.replace("{window: sliding}", "{window: sliding, calls: 1}")),
    );
    let report = reviewed(&project, &[], 1);
    let failed: Vec<&str> =
        report["reviewers"].as_array().unwrap().iter().filter_map(|reviewer| reviewer["error"].as_str()).collect();
    let [why] = failed[..] else { panic!("{report}") };
    assert!(why.starts_with("hourly limit of 1 call reached; resets in"), "{why}");
    project.write("config/config.yaml", &format!("{config}review: {{focus: [bugs]}}\n"));
    let why = said(&project, &["review"], 2);
    assert!(why.contains("review.focus has `bugs`"), "{why}");
}

#[test]
fn an_interrupt_ends_every_claude_and_a_second_review_waits_for_none() {
    let project = branched("turns:\n  - when: {critic: true}\n    steps: [ {bash: \"ls\"}, {hang: {}} ]\n");
    let mut command = project.command(&BUGS);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let store = Store::open(&project.path("state")).expect("the store opens");
    let has_called = |run: &RunSummary| {
        store
            .load(run.run)
            .expect("a journal")
            .records
            .iter()
            .any(|stored| matches!(stored.record, Record::ToolJudged { .. }))
    };
    let patience = Instant::now() + Duration::from_secs(60);
    while store.runs().expect("the runs").iter().filter(|run| has_called(run)).count() < 2 {
        assert!(Instant::now() < patience, "the reviewers did not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let why = said(&project, &BUGS, 75);
    assert!(why.contains("another review is running here"), "{why}");
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert_eq!(project.processes(), [] as [String; 0]);
    let runs = json(&project, &["status", "--json"]);
    assert!(runs.as_array().unwrap().iter().all(|run| run["reason"] == "user_stopped"), "{runs}");
    // Nothing of it is resumed.
    said(&project, &["resume"], 2);
}
