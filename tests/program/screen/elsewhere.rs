//! A run that works in the background, on a screen that is opened meanwhile.

use super::approvals::settle;
use super::stage::{ROOMY, at_the_gate, gated_project, leave, start};
use crate::away::{PUSH, WRITE, asked, away, begun, ended, is_pushed, name, project};
use crate::project::{PROGRAM, Project};
use crate::terminal::{Start, Terminal};
use crate::watched::{json, of_kind, said};
use rustix::process::Signal;
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits until the program in the background has ended after its run.
fn wait_gone(project: &Project) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while project.processes().iter().any(|process| process.contains(" run ")) {
        assert!(Instant::now() < deadline, "it does not end: {:?}", project.processes());
        std::thread::yield_now();
    }
}

#[test]
fn its_question_is_answered_here_and_the_run_goes_on() {
    let project = begun(&[WRITE, PUSH]);
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("NEEDS YOU  1");
    terminal.keys_until("\r", "Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete");
    wait_gone(&project);
    leave(terminal, &project);
    let records = ended(&project);
    assert_eq!(of_kind(&records, "run_ended")[0]["reason"], "complete");
    assert!(is_pushed(&project));
}

#[test]
fn it_is_paused_and_stopped_here() {
    let project = begun(&[WRITE, PUSH]);
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("NEEDS YOU  1");
    terminal.keys_until("\r", "Press !");
    terminal.keys_until("p", "cancel pause");
    terminal.keys_until("x", "Stop");
    terminal.keys_until("y", "stopped by you");
    leave(terminal, &project);
    assert_eq!(of_kind(&ended(&project), "run_ended")[0]["reason"], "user_stopped");
}

#[test]
fn one_that_was_stopped_and_begun_again_is_answered_from_home_by_one_key() {
    let project = begun(&[WRITE, PUSH]);
    said(&project, &["stop", "--now", "tk-1"], 0);
    ended(&project);
    said(&project, &["run", "--detach", "tk-1"], 0);
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("NEEDS YOU  1");
    terminal.keys_until("!", "is running in another process");
    terminal.wait_for("Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete");
    wait_gone(&project);
    leave(terminal, &project);
    assert!(is_pushed(&project));
}

#[test]
fn a_run_in_the_background_is_shown_by_its_name_and_left_alone() {
    let project = begun(&[WRITE, PUSH]);
    let id = name(&asked(&project));
    for args in [&["attach"][..], &["attach", "tk-1"], &["tk-1"]] {
        let mut terminal = start(&project, args, ROOMY);
        terminal.wait_for("Press !");
        terminal.keys("q");
        assert_eq!(terminal.wait_end().exit_code(), 0, "{args:?}: {}", terminal.screen());
        let left = terminal.screen();
        assert!(
            left.contains("still running in the background") && left.contains("`programmator attach tk-1` shows it"),
            "{left}"
        );
        assert_eq!(name(&asked(&project)), id, "nothing was withdrawn");
    }
    let mut terminal = start(&project, &["attach"], ROOMY);
    terminal.wait_for("Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete: 1/1 phases");
    wait_gone(&project);
    leave(terminal, &project);
    assert!(said(&project, &["attach"], 1).contains("no run is active elsewhere"));
    assert!(said(&project, &["attach", "tk-1"], 1).contains("tk-1 is not running"));
}

#[test]
fn of_several_tickets_those_that_are_at_work_elsewhere_are_shown_and_the_others_started() {
    let project = begun(&[WRITE, PUSH]);
    let id = name(&asked(&project));
    project.ticket("tk-2", &["Beta"]);
    let mut terminal = start(&project, &["tk-1", "tk-2"], ROOMY);
    terminal.wait_for("Press !");
    terminal.wait_for("tk-2 ⊘ queued");
    assert_eq!(name(&asked(&project)), id, "nothing was withdrawn");
    terminal.keys_until("q", "stop now and quit");
    terminal.keys("s");
    assert_eq!(terminal.wait_end().exit_code(), 5, "{}", terminal.screen());
    assert_eq!(name(&asked(&project)), id, "nothing was withdrawn");
    said(&project, &["stop", "--now", "tk-1"], 0);
    wait_gone(&project);
}

#[test]
fn its_question_is_answered_from_another_directory() {
    let project = begun(&[WRITE, PUSH]);
    std::fs::create_dir(project.path("far")).expect("it can be made");
    let (folder, env) = (project.path("far"), project.env());
    let mut terminal =
        Terminal::start(&Start { program: Path::new(PROGRAM), args: &[], env: &env, folder: &folder, size: ROOMY });
    terminal.keys_until("o", "NEEDS YOU  1");
    terminal.keys_until("\r", "Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete: 1/1 phases");
    wait_gone(&project);
    leave(terminal, &project);
    ended(&project);
    assert!(is_pushed(&project));
}

#[test]
fn whoever_quits_can_have_the_run_go_on_in_the_background() {
    let project = away(project(&[WRITE, PUSH]));
    let mut terminal = start(&project, &["tk-1", "--max-iterations", "7"], ROOMY);
    terminal.wait_for("Press !");
    let id = name(&asked(&project));
    terminal.keys_until("q", "keep working in the background");
    terminal.keys("b");
    let code = terminal.wait_end().exit_code();
    assert_eq!(code, 0, "{}", terminal.screen());
    assert!(terminal.screen().contains("tk-1 is running in the background (pid "), "{}", terminal.screen());
    assert_eq!(name(&asked(&project)), id, "the question still waits: {:#?}", project.journal());
    assert_eq!(said(&project, &["answer", &id, "allow"], 0), "allowed by you (command line)\n");
    let records = ended(&project);
    assert_eq!(of_kind(&records, "run_started").len(), 1, "it is the same run");
    assert_eq!(of_kind(&records, "run_ended")[0]["reason"], "complete");
    assert!(is_pushed(&project));
}

#[test]
fn a_run_outlives_its_terminal_where_that_is_wished() {
    let project = project(&[WRITE, PUSH]);
    project.write("config/config.yaml", &format!("{}run: {{on_hangup: detach}}\n", project.read("config/config.yaml")));
    let project = away(project);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("Press !");
    let id = name(&asked(&project));
    terminal.signal(Signal::HUP);
    assert_eq!(terminal.wait_end().exit_code(), 129);
    assert_eq!(name(&asked(&project)), id, "the question still waits");
    assert_eq!(said(&project, &["answer", &id, "allow"], 0), "allowed by you (command line)\n");
    assert_eq!(of_kind(&ended(&project), "run_ended")[0]["reason"], "complete");
    assert!(is_pushed(&project));
}

#[test]
fn what_was_told_to_stop_does_not_outlive_its_terminal_and_what_is_queued_does() {
    let hung_up = |keys: &str, seen: &str| {
        let project = project(&[WRITE, PUSH]);
        let config = project.read("config/config.yaml");
        project.write("config/config.yaml", &format!("{config}run: {{on_hangup: detach}}\n"));
        project.ticket("tk-2", &["Beta"]);
        let project = away(project);
        let mut terminal = start(&project, &["tk-1", "tk-2"], ROOMY);
        terminal.wait_for("Press !");
        // The screen hands over what it knows of.
        terminal.wait_for("tk-2 ⊘");
        asked(&project);
        if !keys.is_empty() {
            terminal.keys_until("q", "finish the iteration");
            terminal.keys_until(keys, seen);
        }
        terminal.signal(Signal::HUP);
        assert_eq!(terminal.wait_end().exit_code(), 129);
        project
    };
    let project = hung_up("f", "quits after this iteration");
    let runs = json(&project, &["status", "--json"]);
    let is_stopped = |run: &serde_json::Value| run["reason"] == "user_stopped";
    assert!(runs.as_array().is_some_and(|runs| !runs.is_empty() && runs.iter().all(is_stopped)), "{runs}");
    assert_eq!(project.processes(), Vec::<String>::new());

    let project = hung_up("", "");
    let id = name(&asked(&project));
    said(&project, &["answer", &id, "allow"], 0);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while json(&project, &["queue", "--json"])[0]["ticket"] != "tk-2" {
        assert!(std::time::Instant::now() < deadline, "tk-2 was queued, and goes on as well");
    }
    said(&project, &["stop", "--now", "tk-2"], 0);
}

#[test]
fn what_is_handed_over_in_mid_iteration_is_finished_as_the_same_run() {
    let project = away(gated_project(&["Alpha", "Beta"]));
    let mut terminal = at_the_gate(&project, "Alpha");
    terminal.keys_until("q", "keep working in the background");
    terminal.keys("b");
    assert_eq!(terminal.wait_end().exit_code(), 0);
    for phase in ["alpha", "beta"] {
        project.open_gate(phase);
    }
    let records = ended(&project);
    assert_eq!((of_kind(&records, "run_started").len(), of_kind(&records, "run_resumed").len()), (1, 1));
    let end = &of_kind(&records, "run_ended")[0];
    assert_eq!((end["reason"].as_str(), end["phases_done"].as_u64()), (Some("complete"), Some(2)), "{end}");
}
