//! How the relay begins and ends.

use super::*;
use programmator::adapters::store::Store;
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::Stdio;

/// What the person is told when they ask what they may write.
const HELP: &str = "Commands:\n";

/// The file of `tk-1`, the store, and the program that works on it.
fn worked_on(project: &Project) -> (PathBuf, Store, Pid) {
    let path = project.path("work/.tickets/tk-1.md").canonicalize().unwrap();
    let store = Store::open(&project.path("state")).unwrap();
    let program = store.ticket_program(&path).unwrap().expect("a program works on it");
    (path, store, Pid::from_raw(i32::try_from(program).unwrap()).unwrap())
}

#[test]
fn one_that_does_not_end_when_asked_is_killed_and_that_is_said() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    let relay = relay(&phone.project);
    rustix::process::kill_process(relay, rustix::process::Signal::STOP).unwrap();
    let told = said(&phone.project, &["away", "off"], 0);
    assert!(told.contains("did not exit in time and was killed"), "{told}");
    status_where(&phone.project, |status| status["relay"].is_null());
    assert_eq!(said(&phone.project, &["away", "off"], 0), "Phone notifications are already off.\n");
}

#[test]
fn who_runs_without_a_screen_is_asked_on_the_phone_where_that_is_on() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    paired(&project, &api, &[]);
    // It is known by its id, not by its file.
    let text = project.ticket_text("tk-1").replace("id: tk-1", "id: tk-9");
    project.write("work/.tickets/tk-1.md", &text);
    said(&project, &["away", "on", "tk-9"], 0);
    let phone = Phone { api, project: away(project) };
    let mut command = phone.project.command(&["run", "tk-1"]);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let question =
        phone.api.wait_for("the question", |sent| sent.text.contains("HEAD:work") && !sent.buttons.is_empty());
    phone.api.press(PERSON, question.id, "allow");
    let output = run.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && words.contains("Questions go to your phone."), "{words}");
    let held = |record: &Value| record.pointer("/settings/approval_defer_after").and_then(Value::as_u64);
    assert_eq!(phone.project.journal().iter().find_map(held), Some(3_600), "it waits longer than Claude's process");
    // Of what is muted nobody is asked.
    said(&phone.project, &["away", "mute", "tk-9"], 0);
    said(&phone.project, &["phase", "reopen", "tk-1", "1"], 0);
    let output = phone.project.run(&["run", "tk-1"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!words.contains("phone"), "{words}");
    let why = json(&phone.project, &["status", "--json"])[0]["needs"].clone();
    assert!(why.as_str().unwrap().contains("calls were denied"), "{why}");
}

#[test]
fn with_always_on_why_it_does_not_begin_is_told_and_off_knows_whether_it_begins_again() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    let config = project.read("config/config.yaml");
    project.write("config/config.yaml", &format!("{config}away: {{always_on: true}}\n"));
    let told = said(&project, &["away", "off"], 0);
    assert!(!told.contains("always_on"), "no phone is paired: {told}");
    paired(&project, &api, &[]);
    let phone = Phone { api, project: away(project) };
    phone.api.trouble("getMe", 401, value!({"ok": false, "error_code": 401, "description": "Unauthorized"}));
    let begun = phone.project.run(&["run", "--detach", "tk-1"]);
    let words = String::from_utf8_lossy(&begun.stderr).into_owned();
    assert!(words.contains("warning: phone notifications are not on (away.always_on): "), "{words}");
    assert!(words.contains("BotFather"), "with its reason: {words}");
    assert!(begun.status.success(), "the run works all the same: {words}");
    // It stops by itself: no run begins it again.
    said(&phone.project, &["away", "on"], 0);
    for _ in 0..3 {
        phone.api.trouble("getUpdates", 409, value!({"ok": false, "error_code": 409, "description": "Conflict"}));
    }
    phone.api.write(PERSON, "/help");
    phone.api.wait_for("it has stopped", |sent| sent.text.starts_with("The relay has stopped"));
    status_where(&phone.project, |status| status["relay"].is_null());
    let told = said(&phone.project, &["away", "off"], 0);
    assert_eq!(told, "Phone notifications are already off.\n");
}

#[cfg(target_os = "linux")]
#[test]
fn one_that_is_begun_inside_a_claude_session_has_nothing_of_its_environment() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    paired(&project, &api, &[]);
    let phone = Phone { api, project: away(project) };
    let mut command = phone.project.command(&["away", "on"]);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli").env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    assert!(command.env("KEPT_HERE", "1").output().unwrap().status.success());
    let relay = relay(&phone.project).as_raw_nonzero();
    let environment = std::fs::read(format!("/proc/{relay}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment);
    let names: Vec<&str> = environment.split('\0').filter_map(|entry| entry.split('=').next()).collect();
    assert!(names.contains(&"KEPT_HERE"), "{names:?}");
    let is_claudes = |name: &&&str| name.starts_with("CLAUDE") || name.starts_with("ANTHROPIC_");
    assert_eq!(names.iter().filter(is_claudes).count(), 0, "{names:?}");
}

#[test]
fn a_run_that_is_slow_to_begin_holds_up_nothing_else() {
    let phone = phone(&[PUSH], &[]);
    phone.question("HEAD:work");
    said(&phone.project, &["stop", "--now", "tk-1"], 0);
    let end = phone.question("tk-1: stopped by you");
    let gate = phone.project.gate("claude");
    let agent = value!({"agent": {"command": ["sh", "-c", gate]}});
    phone.project.write("config/config.yaml", &agent.to_string());
    phone.api.press(PERSON, end.id, "end resume");
    phone.api.write(PERSON, "/help");
    phone.api.wait_for("the next thing", |sent| sent.text.starts_with("Commands:"));
    assert_eq!(phone.api.told(), Vec::<String>::new(), "not started yet");
    phone.project.open_gate("claude");
    phone.api.wait_told("");
}

#[test]
fn what_is_written_behind_a_slow_resume_is_carried_out_behind_it() {
    let phone = phone(&[PUSH], &[]);
    phone.question("HEAD:work");
    let (path, store, program) = worked_on(&phone.project);
    kill_process(program, Signal::KILL).unwrap();
    phone.api.wait_for("nobody works on it", |sent| sent.text.starts_with("tk-1 is not running."));
    // Whoever resumes it waits for this.
    let sweeping = store.lock_sweep(&path, Duration::from_secs(10)).unwrap();
    let before = phone.api.sent().last().unwrap().id;
    phone.api.write(PERSON, "/resume tk-1");
    phone.api.write(PERSON, "/pause tk-1");
    phone.api.write(PERSON, "/help");
    phone.api.wait_for("the next thing", |sent| sent.text.starts_with(HELP));
    let answers = || phone.api.sent().into_iter().filter(move |sent| sent.id > before && sent.answers.is_some());
    assert!(answers().all(|sent| sent.text.starts_with(HELP)), "{:#?}", answers().collect::<Vec<_>>());
    drop(sweeping);
    let pauses = phone.api.wait_for("both are done", |sent| sent.text == "tk-1 pauses after this iteration.");
    let resumed =
        answers().find(|sent| sent.text.starts_with("tk-1 is running in the background")).expect("it was resumed");
    assert!(resumed.id < pauses.id);
}

#[test]
fn a_decision_that_a_halted_program_is_to_hear_holds_up_nothing_else() {
    let (api, project) = (BotApi::start(), project(&[WRITE, PUSH]));
    project.validate_by("true");
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["run", "--detach", "tk-1"], 0);
    phone.question("git push");
    change_validation(&phone.project, "true", "test -e alpha.txt");
    let change = phone.question("validation commands changed");
    let (.., program) = worked_on(&phone.project);
    kill_process(program, Signal::STOP).unwrap();
    phone.api.press(PERSON, change.id, "option accept");
    phone.api.write(PERSON, "/help");
    phone.api.wait_for("the next thing", |sent| sent.text.starts_with(HELP));
    assert_eq!(phone.api.told(), Vec::<String>::new(), "nobody has decided yet");
    kill_process(program, Signal::CONT).unwrap();
    phone.told(&change, "the new validation commands apply from now on, by you (phone)");
}
