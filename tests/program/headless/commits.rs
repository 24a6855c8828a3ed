//! A run that commits its own work, in the person's repository and by their git.

use crate::project::Project;
use crate::watched::{DILIGENT, json, of_kind, ran};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const TWO: &str = r#"
turns:
  - when: {phase: "First"}
    steps: [ {write: {path: a.txt, content: "a\n"}}, {status: {}} ]
  - when: {phase: "Second"}
    steps: [ {write: {path: b.txt, content: "b\n"}}, {status: {}} ]
"#;

/// A project on a branch of its own, with changes of the person's that are not committed.
fn project(git: &str) -> Project {
    project_of(TWO, git)
}

fn project_of(scenario: &str, git: &str) -> Project {
    let config = format!("workflow: {{name: simple}}\npolicy: {{profile: trusted}}\n{git}");
    let project = Project::with_config(&["First", "Second"], scenario, &config);
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.git(&["switch", "-q", "-c", "work"]);
    project.write("work/README.md", "# Mine\n");
    project.write("work/mine.txt", "mine\n");
    project
}

fn subjects(project: &Project) -> Vec<String> {
    project.git(&["log", "--reverse", "--format=%s"]).lines().map(str::to_owned).collect()
}

fn troubles(records: &[Value]) -> Vec<&str> {
    of_kind(records, "commit_settled").iter().filter_map(|settled| settled["trouble"].as_str()).collect()
}

#[test]
fn each_phase_is_committed_and_nothing_of_the_persons_is() {
    let project = project("git: {commit: phase, message: \"{{ id }}: {{ phase }} ({{ ticket }})\"}\n");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(troubles(&records), Vec::<&str>::new());
    let own = ["tk-1: First (Work on tk-1)", "tk-1: Second (Work on tk-1)"];
    assert_eq!(subjects(&project), ["Begin", own[0], own[1]]);
    let files = project.git(&["log", "-2", "--reverse", "--name-only", "--format="]);
    assert_eq!(files.split_whitespace().collect::<Vec<_>>(), ["a.txt", "b.txt"]);
    assert_eq!((project.read("work/README.md"), project.read("work/mine.txt")), ("# Mine\n".into(), "mine\n".into()));
}

#[test]
fn the_ticket_is_committed_once_when_it_is_done() {
    let project = project("git: {commit: ticket}\n");
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(subjects(&project), ["Begin", "Work on tk-1"]);
}

#[test]
fn nothing_is_committed_unless_the_person_wants_it() {
    let project = project("");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert!(of_kind(&records, "commit_due").is_empty());
    assert_eq!(subjects(&project), ["Begin"]);
}

#[test]
fn a_protected_branch_is_not_committed_to_and_the_run_goes_on() {
    let project = project("git: {commit: phase, protected: [work]}\n");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(subjects(&project), ["Begin"]);
    assert_eq!(troubles(&records), ["work is protected (git.protected): switch to another branch"; 2]);
}

#[test]
fn what_was_refused_goes_in_with_the_next_and_under_the_tickets_name() {
    let project = project("git: {commit: phase}\n");
    // The first try finds it, and it takes itself away.
    hook(&project, "rm .git/hooks/pre-commit; exit 1");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(troubles(&records).len(), 1, "{records:?}");
    assert_eq!(subjects(&project), ["Begin", "Work on tk-1"]);
    let files = project.git(&["show", "--name-only", "--format="]);
    assert_eq!(files.split_whitespace().collect::<Vec<_>>(), ["a.txt", "b.txt"]);
}

#[test]
fn a_run_with_nothing_to_do_leaves_the_commit_and_the_cost_of_the_ticket_as_they_are() {
    let project = project("git: {commit: phase}\n");
    let last = |project: &Project| json(project, &["status", "--json"])[0].clone();
    ran(&project, &["run", "--json", "tk-1"], 0);
    let before = last(&project);
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert!(before["cost_usd"].as_f64() > Some(0.0), "{before}");
    assert_eq!(last(&project), before);
}

#[test]
fn a_ticket_that_waits_in_the_same_directory_is_in_nobodys_way() {
    let project = project_of(DILIGENT, "git: {commit: phase}\n");
    project.ticket("tk-2", &["Third"]);
    let records = ran(&project, &["run", "--json", "tk-1", "tk-2"], 0);
    assert_eq!(troubles(&records), Vec::<&str>::new());
    let mut all = subjects(&project);
    all.sort();
    assert_eq!(all, ["Begin", "First", "Second", "Third"]);
}

#[test]
fn what_was_changed_in_another_ticket_stays_out() {
    let project = project("git: {commit: phase}\n");
    project.ticket("tk-2", &["Other"]);
    project.git(&["add", ".tickets/tk-2.md"]);
    project.git(&["-c", "user.name=P", "-c", "user.email=p@example.invalid", "commit", "-q", "-m", "Another ticket"]);
    project.validate_by("echo more >> .tickets/tk-2.md");
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(project.git(&["log", "--format=%s", "--", ".tickets/tk-2.md"]).trim(), "Another ticket");
    assert_eq!(project.git(&["status", "--porcelain", "--", ".tickets/tk-2.md"]), " M .tickets/tk-2.md\n");
}

#[test]
fn a_file_that_stays_out_is_told() {
    let scenario = TWO.replace("b.txt, content", "mine.txt, content");
    let project = project_of(&scenario, "git: {commit: phase}\n");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(subjects(&project), ["Begin", "First"]);
    assert_eq!(troubles(&records), ["mine.txt excluded (had uncommitted changes before the run)"]);
}

#[test]
fn a_hook_that_was_changed_meanwhile_is_not_run() {
    let project = project("git: {commit: phase}\n");
    project.validate_by("printf '#!/bin/sh\\ntouch stolen\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(subjects(&project), ["Begin"]);
    assert!(troubles(&records)[0].starts_with(".git/hooks/pre-commit was changed since"), "{:?}", troubles(&records));
    assert!(!project.path("work/stolen").exists());
}

#[test]
fn a_hook_that_refuses_is_told_and_the_run_goes_on() {
    let project = project("git: {commit: ticket}\n");
    hook(&project, "echo not like this >&2; exit 1");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(subjects(&project), ["Begin"]);
    assert!(troubles(&records)[0].contains("not like this"), "{:?}", troubles(&records));
}

fn hook(project: &Project, script: &str) {
    project.write("work/.git/hooks/pre-commit", &format!("#!/bin/sh\n{script}\n"));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("work/.git/hooks/pre-commit"), mode).unwrap();
}
