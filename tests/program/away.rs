//! Runs without a screen whose questions wait, and answers from other programs.

use crate::project::Project;
use crate::watched::{json, of_kind, said};
use serde_json::Value;
use std::process::Output;
use std::time::{Duration, Instant};

/// Longest wait for what the program does.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the demo's Claude does in the one phase of `tk-1`, a line of YAML a step.
pub fn project(steps: &[&str]) -> Project {
    let steps: String = steps.iter().flat_map(|step| ["      - ", step, "\n"]).collect();
    let turn = format!("turns:\n  - when: {{phase: \"\"}}\n    steps:\n{steps}      - status: {{summary: did}}\n");
    let project = Project::with_config(&["Alpha"], &turn, "policy:\n  profile: guarded\n");
    project.git(&["init", "-q", "--bare", &project.path("remote.git").display().to_string()]);
    project.git(&["remote", "add", "origin", &project.path("remote.git").display().to_string()]);
    project
}

/// It asks under `guarded`: it talks to another machine.
pub const PUSH: &str = "bash: \"git push -q origin HEAD:work\"";

/// A project with a run in the background, which goes with it.
pub struct Away(Project);

impl std::ops::Deref for Away {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        let _ = self.0.run(&["stop", "--now", "tk-1"]);
    }
}

pub fn begun(steps: &[&str]) -> Away {
    begun_in(project(steps))
}

fn begun_in(project: Project) -> Away {
    let told = said(&project, &["run", "--detach", "tk-1"], 0);
    assert!(told.contains("tk-1 is running in the background (pid "), "{told}");
    away(project)
}

/// Whatever works on `tk-1` goes with it.
pub fn away(project: Project) -> Away {
    Away(project)
}

/// The next question that waits.
pub fn asked(project: &Project) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "it asks nothing");
        let waiting = json(project, &["queue", "--json"]);
        if let Some(first) = waiting.as_array().expect("a list").first() {
            return first.clone();
        }
        let runs = json(project, &["status", "--json"]);
        assert_ne!(runs[0]["state"], "ended", "it has ended before it asked: {runs}");
    }
}

pub fn name(question: &Value) -> String {
    question["name"].as_str().expect("a name").to_owned()
}

/// What waits and has a name that begins so.
pub fn named(project: &Project, begin: &str) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let waiting = json(project, &["queue", "--json"]);
        let found = waiting.as_array().expect("a list").iter().find(|one| name(one).starts_with(begin));
        if let Some(found) = found {
            return found.clone();
        }
        assert!(Instant::now() < deadline, "nothing called {begin}… waits: {waiting}");
    }
}

/// The ticket's validation commands are this one from now on.
pub fn change_validation(project: &Project, from: &str, to: &str) {
    let text = project.ticket_text("tk-1").replace(&format!("`{from}`"), &format!("`{to}`"));
    project.write("work/.tickets/tk-1.md", &text);
}

/// The run's records, once it has ended.
pub fn ended(project: &Project) -> Vec<Value> {
    said(project, &["logs", "--follow", "tk-1"], 0);
    project.journal()
}

/// Work that counts, whatever becomes of the rest.
pub const WRITE: &str = "write: {path: alpha.txt, content: \"1\"}";

pub fn is_pushed(project: &Project) -> bool {
    let remote = project.path("remote.git").display().to_string();
    !project.git(&["--git-dir", &remote, "for-each-ref"]).is_empty()
}

#[test]
fn a_run_in_the_background_waits_for_the_answer_of_another_program() {
    let project = begun(&[WRITE, PUSH]);
    let question = asked(&project);
    let id = name(&question);
    assert_eq!((&question["ticket"], &question["tool"]), (&"tk-1".into(), &"Bash".into()), "{question}");
    let list = said(&project, &["queue"], 0);
    assert!(list.contains(&id) && list.contains("Bash git push -q origin HEAD:work"), "{list}");
    let whole = said(&project, &["queue", &id], 0);
    assert!(
        whole.contains("| command: git push -q origin HEAD:work") && whole.ends_with("deny [what to do instead]\n"),
        "{whole}"
    );
    assert!(said(&project, &["answer", &id, "perhaps"], 2).contains("`allow`"));
    assert!(said(&project, &["answer", "nothing", "allow"], 2).contains(&id), "those that wait are named");
    let inside =
        project.command(&["answer", &id, "allow"]).env("PROGRAMMATOR_RUN_ID", "r").output().expect("it starts");
    assert_eq!(inside.status.code(), Some(77), "Claude does not answer its own questions");

    assert_eq!(said(&project, &["answer", &id, "allow"], 0), "allowed by you (command line)\n");
    assert!(said(&project, &["answer", &id, "deny"], 1).contains("too late: allowed by you (command line)"));
    assert!(said(&project, &["answer", "nothing", "deny"], 2).contains("none are waiting"));
    assert_eq!(of_kind(&ended(&project), "run_ended")[0]["reason"], "complete");
    assert!(is_pushed(&project));
    assert_eq!(said(&project, &["queue"], 0), "No question is waiting for you.\n");
}

#[test]
fn a_question_outlives_its_process_and_is_answered_then() {
    let project = project(&[WRITE, PUSH]);
    project
        .write("config/config.yaml", &format!("{}approval: {{defer_after: 1}}\n", project.read("config/config.yaml")));
    let project = begun_in(project);
    let id = name(&asked(&project));
    project.wait_for_records("approvals_kept", 1);
    assert!(said(&project, &["queue"], 0).contains(&id));
    assert_eq!(said(&project, &["answer", &id, "allow"], 0), "allowed by you (command line)\n");
    assert_eq!(of_kind(&ended(&project), "run_ended")[0]["reason"], "complete");
    assert!(is_pushed(&project));
}

#[test]
fn only_its_own_name_allows_a_call() {
    let project = begun(&[WRITE, PUSH]);
    let id = name(&asked(&project));
    assert!(said(&project, &["queue", "tk-1"], 0).contains(&format!("programmator answer {id} allow")));
    let run = project.journal()[0]["run"].as_str().expect("an id").to_owned();
    for other in ["", &run[run.len() - 1..], &run] {
        assert!(said(&project, &["answer", other, "allow"], 2).contains("waiting: "));
    }
    assert!(said(&project, &["answer", "tk-1", "allow"], 2).contains("is not the name of a question"));
    assert_eq!(said(&project, &["answer", "tk-1", "deny"], 0), "denied by you (command line)\n");
    ended(&project);
    assert!(!is_pushed(&project));
}

#[test]
fn a_run_that_goes_on_in_the_background_has_its_questions_wait() {
    let project = away(project(&[WRITE, PUSH]));
    let mut run = project
        .command(&["run", "--json", "--away", "tk-1"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    asked(&project);
    let held = |project: &Project| {
        let told = |record: &Value| record.pointer("/settings/approval_defer_after").cloned();
        project.journal().iter().rev().find_map(told).and_then(|after| after.as_u64())
    };
    assert_eq!(held(&project), Some(3_600));
    run.kill().expect("it is there");
    run.wait().expect("it ends");
    project
        .write("config/config.yaml", &format!("{}approval: {{defer_after: 7}}\n", project.read("config/config.yaml")));
    said(&project, &["resume", "--detach"], 0);
    asked(&project);
    assert_eq!(held(&project), Some(7), "as the person is now");
}

#[test]
fn a_denial_takes_its_words_to_claude() {
    let project = begun(&[WRITE, PUSH]);
    let id = name(&asked(&project));
    assert_eq!(said(&project, &["answer", &id, "deny", "yes"], 0), "denied by you (command line)\n");
    let records = ended(&project);
    let answered = of_kind(&records, "approval_answered");
    assert_eq!(answered[0]["answer"]["words"], "yes", "a no, whatever is said with it: {answered:?}");
    assert!(!is_pushed(&project));
}

/// What four people at once are told.
fn answers_at_once(project: &Project, id: &str, answers: [&str; 4]) -> [Output; 4] {
    let begun = answers.map(|answer| {
        let mut command = project.command(&["answer", id, answer]);
        std::thread::spawn(move || command.output().expect("it starts"))
    });
    begun.map(|one| one.join().expect("it ends"))
}

#[test]
fn of_many_answers_at_once_one_counts_and_the_others_are_told() {
    let project = begun(&[WRITE, PUSH]);
    let id = name(&asked(&project));
    let told = answers_at_once(&project, &id, ["allow", "deny", "allow", "deny"]);
    let codes: Vec<_> = told.iter().map(|told| told.status.code()).collect();
    let records = ended(&project);
    let answered = of_kind(&records, "approval_answered");
    assert_eq!(answered.len(), 1, "{answered:?}");
    let allowed = answered[0]["answer"]["answer"] == "allow";
    for (at, code) in codes.iter().enumerate().filter(|(_, code)| **code == Some(0)) {
        assert_eq!(at % 2 == 0, allowed, "who is told that it counts: {code:?} of {codes:?}");
    }
    assert!(codes.contains(&Some(0)), "{codes:?}");
    assert_eq!(is_pushed(&project), allowed, "what is recorded is what was done");
}

#[test]
fn of_many_decisions_at_once_one_counts_and_the_others_are_told() {
    let project = project(&[WRITE, PUSH]);
    project.validate_by("true");
    let project = begun_in(project);
    let push = name(&asked(&project));
    change_validation(&project, "true", "test -e alpha.txt");
    let id = name(&named(&project, "commands-"));
    let told = answers_at_once(&project, &id, ["accept", "keep", "accept", "keep"]);
    said(&project, &["answer", &push, "allow"], 0);
    let records = ended(&project);
    let decided = of_kind(&records, "validation_change_answered");
    assert_eq!(decided.len(), 1, "{decided:?}");
    let accepted = decided[0]["accepted"] == true;
    // Whoever comes when it is decided finds nothing that waits.
    let counted = told.iter().enumerate().filter(|(_, told)| told.status.success());
    assert!(counted.clone().count() > 0, "{told:?}");
    assert!(counted.clone().all(|(at, _)| (at % 2 == 0) == accepted), "it was decided otherwise: {told:?}");
}

#[test]
fn claudes_own_question_is_answered_by_the_number_of_an_option() {
    let ask = "ask: {question: \"Which port?\", options: [\"80\", \"8080\"]}";
    let project = begun(&[WRITE, ask]);
    let id = name(&asked(&project));
    assert!(said(&project, &["queue", &id], 0).contains("2  8080"));
    assert!(said(&project, &["answer", &id, "2", "--for-run"], 2).contains("tool calls"));
    for beside in ["3", "0"] {
        assert!(said(&project, &["answer", &id, beside], 2).contains("choose 1 to 2"));
    }
    assert!(said(&project, &["answer", &id, "allow"], 2).contains("the number of an option"));
    assert!(said(&project, &["answer", &id, "1,2"], 2).contains("choose 1 to 2"), "it has one answer");
    assert_eq!(said(&project, &["answer", &id, "2"], 0), "answered by you (command line)\n");
    let records = ended(&project);
    let input = of_kind(&records, "approval_answered")[0]["answer"]["input"].as_str().expect("an input").to_owned();
    let input: Value = serde_json::from_str(&input).expect("JSON");
    assert_eq!(input["answers"], serde_json::json!({"Which port?": "8080"}));
}

#[test]
fn what_is_said_to_a_run_that_has_ended_does_not_reach_the_next_one() {
    let project = begun(&[WRITE, PUSH]);
    let first = asked(&project)["run"].as_str().expect("an id").to_owned();
    said(&project, &["answer", &name(&asked(&project)), "allow", "--for-run"], 0);
    assert_eq!(of_kind(&ended(&project), "run_ended")[0]["reason"], "complete");
    project.ticket("tk-1", &["Alpha", "Beta"]);
    said(&project, &["run", "--detach", "--", "tk-1"], 0);
    assert_ne!(asked(&project)["run"], *first);
    assert!(said(&project, &["stop", "--now", &first], 1).contains("the run of tk-1 has ended"));
    assert_eq!(json(&project, &["queue", "--json"]).as_array().map(Vec::len), Some(1), "it still asks");
}

#[test]
fn a_run_in_the_background_is_stopped_by_name() {
    let project = begun(&[WRITE, PUSH]);
    asked(&project);
    assert!(said(&project, &["stop", "--now", "tk-1"], 0).contains("tk-1 stops now"));
    assert_eq!(of_kind(&ended(&project), "run_ended")[0]["reason"], "user_stopped");
    assert!(said(&project, &["stop", "tk-1"], 1).contains("the run of tk-1 has ended"));
    assert_eq!(said(&project, &["queue"], 0), "No question is waiting for you.\n");
    // The run's end is recorded before its program has cleared away.
    let deadline = Instant::now() + PATIENCE;
    while !project.processes().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", project.processes());
    }
    assert!(said(&project, &["resume", "--detach"], 0).contains("tk-1 is running in the background"));
    asked(&project);
}

#[test]
fn what_cannot_begin_says_why_with_its_own_exit_code() {
    let project = begun(&[WRITE, PUSH]);
    asked(&project);
    let held = said(&project, &["run", "--detach", "tk-1"], 75);
    assert!(held.contains("tk-1"), "{held}");
    assert!(said(&project, &["run", "--detach", "tk-9"], 2).contains("tk-9"));
    assert!(said(&project, &["resume", "--detach", "chat-5bacead4"], 2).contains("a chat cannot continue without you"));
    let far = project.path(&"far/".repeat(30));
    let far =
        project.command(&["run", "--detach", "tk-1"]).env("PROGRAMMATOR_STATE_DIR", far).output().expect("it starts");
    let told = String::from_utf8_lossy(&far.stderr).into_owned();
    assert!(far.status.code() == Some(1) && told.contains("a shorter path"), "nobody could answer: {far:?}");
    said(&project, &["stop", "--now", "tk-1"], 0);
    ended(&project);
}

#[test]
fn changed_validation_commands_are_decided_from_elsewhere() {
    let project = project(&[WRITE, PUSH]);
    project.validate_by("true");
    let project = begun_in(project);
    let push = name(&asked(&project));
    change_validation(&project, "true", "test -e beta.txt");
    let first = name(&named(&project, "commands-"));
    // What was changed again since it was looked at is something else.
    change_validation(&project, "test -e beta.txt", "test -e alpha.txt");
    let deadline = Instant::now() + PATIENCE;
    let second = loop {
        let now = name(&named(&project, "commands-"));
        if now != first {
            break now;
        }
        assert!(Instant::now() < deadline, "it is still {first}");
    };
    assert!(said(&project, &["answer", &first, "accept"], 2).contains(&second), "it names those that wait");
    let whole = said(&project, &["queue", &second], 0);
    assert!(whole.contains("Added:\n  test -e alpha.txt\nRemoved:\n  true\n"), "{whole}");
    assert!(whole.ends_with(&format!("answer {second} accept\nprogrammator answer {second} keep\n")), "{whole}");
    assert!(said(&project, &["answer", &second, "allow"], 2).contains("accept, keep"));
    assert_eq!(
        said(&project, &["answer", &second, "accept"], 0),
        "tk-1: the new validation commands apply from now on\n"
    );
    said(&project, &["answer", &push, "allow"], 0);
    let records = ended(&project);
    assert_eq!(of_kind(&records, "validation_change_answered")[0]["accepted"], true);
    assert_eq!(of_kind(&records, "validation_ran")[0]["command"], "test -e alpha.txt");
    assert_eq!(of_kind(&records, "run_ended")[0]["reason"], "complete");
}
