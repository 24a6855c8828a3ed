//! How the program leaves: by `q`, by a signal, over a closed window, to the background. Nothing stays behind.

use super::stage::{
    ROOMY, assert_given_back, at_the_gate, boxes, gated_project, gated_run, leave, start, start_program, start_with,
    wait_at_the_gate,
};
use crate::opening::{hanging, until_held};
use crate::project::{PROGRAM, Project};
use crate::terminal::Terminal;
use crate::watched::json;
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Claude hangs with a child in a session of its own, and neither hears SIGTERM.
fn stubborn() -> (Project, Terminal) {
    let project = Project::with(
        &["Alpha"],
        "
turns:
  - when: {phase: \"\"}
    steps:
      - spawn_child: {ignore_term: true, setsid: true, seconds: 600}
      - ignore_term
      - say: \"I stay.\"
      - bash: \"trap '' TERM HUP INT; echo started > here.txt; sleep 600\"
",
    );
    let terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("I stay.");
    while !project.path("work/here.txt").exists() {
        std::thread::yield_now();
    }
    assert!(project.processes().len() > 2, "{:?}", project.processes());
    (project, terminal)
}

fn assert_nothing_runs(project: &Project) {
    assert_stopped(project, "user_stopped");
}

fn assert_stopped(project: &Project, reason: &str) {
    assert_eq!(project.processes(), Vec::<String>::new());
    let runs = json(project, &["status", "--json"]);
    assert_eq!(runs[0]["state"], "ended", "the run was stopped, not lost: {runs}");
    assert_eq!(runs[0]["reason"], reason);
}

#[test]
fn sigterm_and_sighup_give_the_terminal_back_and_leave_no_process() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let (project, mut terminal) = stubborn();
        terminal.signal(signal);
        assert_eq!(terminal.wait_end().exit_code(), code, "{signal:?}");
        assert_given_back(&terminal);
        assert_stopped(&project, if signal == Signal::HUP { "terminal_closed" } else { "user_stopped" });
    }
}

/// Every signal that would end the program is a wish to end it, whoever sent it for whatever reason.
#[test]
fn other_signals_that_end_a_program_give_the_terminal_back_as_well() {
    let signals = [Signal::USR1, Signal::USR2, Signal::ALARM, Signal::ABORT, Signal::QUIT, Signal::XCPU];
    for signal in signals {
        let (project, mut terminal) = gated_run(&["Alpha"]);
        terminal.signal(signal);
        let code = u32::try_from(128 + signal.as_raw()).unwrap();
        assert_eq!(terminal.wait_end().exit_code(), code, "{signal:?}");
        assert_given_back(&terminal);
        assert_nothing_runs(&project);
    }
}

#[test]
fn a_signal_over_a_run_of_the_past_gives_the_terminal_back() {
    let project = gated_project(&["Alpha"]);
    project.open_gate("alpha");
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    for (signal, code) in [(Signal::TERM, 143), (Signal::USR1, 138)] {
        let mut terminal = start(&project, &["replay", "tk-1"], ROOMY);
        terminal.wait_for("1/1 phases");
        terminal.signal(signal);
        assert_eq!(terminal.wait_end().exit_code(), code, "{signal:?}");
        assert_given_back(&terminal);
    }
}

/// git is asked for the changes and takes for ever; nobody waits for the answer any more.
#[test]
fn what_the_screen_asked_for_last_ends_with_it() {
    let project = gated_project(&["Alpha"]);
    project
        .write("bin/git", "#!/bin/sh\n[ ! -e ../slow ] || exec sleep 600\nexec env PATH=\"${PATH#*:}\" git \"$@\"\n");
    std::fs::set_permissions(project.path("bin/git"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap());
    project.open_gate("alpha");
    let mut terminal = start_with(&project, &["tk-1"], ROOMY, &[("PATH", &path)]);
    terminal.wait_for("complete: 1/1 phases");
    project.write("slow", "");
    terminal.keys("D");
    while !project.processes().iter().any(|line| line.contains("sleep 600")) {
        std::thread::yield_now();
    }
    leave(terminal, &project);
}

#[test]
fn a_closed_window_leaves_no_process() {
    let (project, mut terminal) = stubborn();
    terminal.close();
    assert_eq!(terminal.wait_end().exit_code(), 129);
    assert_stopped(&project, "terminal_closed");
    let told = project.run(&["status", "tk-1"]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("stopped: its terminal was closed"), "{told:?}");
}

#[test]
fn a_message_that_is_not_sent_is_there_at_the_next_start() {
    let (project, mut terminal) = gated_run(&["Alpha"]);
    // One is kept with Esc, one is being written when the window is closed.
    terminal.keys_until("i", "Message to Claude");
    terminal.keys_until("mind the gap", "mind the gap");
    terminal.keys("\x1b");
    terminal.wait_until("no dialog", |screen| !screen.contains("Message to Claude"));
    terminal.keys_until("q", "stop now and quit");
    terminal.keys("s");
    assert_eq!(terminal.wait_end().exit_code(), 5);
    assert!(terminal.screen().contains("your message was not sent"), "{}", terminal.screen());
    let mut terminal = at_the_gate(&project, "Alpha");
    terminal.keys_until("i", "mind the gap");
    terminal.keys_until(", please", "mind the gap, please");
    terminal.close();
    assert_eq!(terminal.wait_end().exit_code(), 129);
    let mut terminal = at_the_gate(&project, "Alpha");
    terminal.keys_until("i", "mind the gap, please");
    terminal.keys("\r");
    terminal.wait_until("no dialog", |screen| !screen.contains("Message to Claude"));
    let unsent = || std::fs::read_dir(project.path("state/unsent")).unwrap().count();
    terminal.wait_until("the sent one is not kept", |_| unsent() == 0);
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");
    leave(terminal, &project);
}

#[test]
fn a_window_that_is_closed_while_nothing_can_be_stored_ends_the_program() {
    for closed in [true, false] {
        let (project, mut terminal) = gated_run(&["Alpha"]);
        std::fs::remove_dir_all(project.path("state")).unwrap();
        if closed {
            terminal.close();
        } else {
            terminal.signal(Signal::HUP);
        }
        assert_eq!(terminal.wait_end().exit_code(), 129);
        assert_eq!(project.processes(), Vec::<String>::new());
    }
}

#[test]
fn a_window_that_is_closed_over_an_idle_screen_ends_it() {
    let project = gated_project(&["Alpha"]);
    project.open_gate("alpha");
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("complete: 1/1 phases");
    terminal.close();
    assert_eq!(terminal.wait_end().exit_code(), 129);
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[test]
fn quitting_may_be_taken_back() {
    let (project, mut terminal) = gated_run(&["Alpha"]);
    for back in ["\x1b", "n", "q"] {
        terminal.keys_until("q", "finish the iteration, then quit");
        terminal.keys(back);
        terminal.wait_until("no dialog", |screen| !screen.contains("finish the iteration, then quit"));
    }
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");
    leave(terminal, &project);
}

#[test]
fn quitting_may_wait_for_the_iteration() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta"]);
    project.open_gate("beta");
    terminal.keys_until("q", "finish the iteration, then quit");
    terminal.keys_until("f", "stopping");
    project.open_gate("alpha");
    assert_eq!(terminal.wait_end().exit_code(), 5, "stopped by the person, as without a screen");
    assert_given_back(&terminal);
    assert_nothing_runs(&project);
    assert_eq!(boxes(&project, "tk-1"), [("Alpha".to_owned(), true), ("Beta".to_owned(), false)]);
}

#[test]
fn quitting_now_ends_what_will_not_end() {
    let (project, mut terminal) = stubborn();
    terminal.keys_until("q", "stop now and quit");
    terminal.keys("s");
    assert_eq!(terminal.wait_end().exit_code(), 5);
    assert_given_back(&terminal);
    assert_nothing_runs(&project);
}

#[test]
fn the_exit_code_is_that_of_the_worst_ticket_as_without_a_screen() {
    let blocked = "turns:\n  - when: {phase: Beta}\n    steps: [{status: {status: BLOCKED, summary: no way}}]\n  \
                   - when: {phase: \"\"}\n    steps: [{write: {path: a.txt, content: x}}, {status: {summary: did}}]\n";
    let project = Project::with(&["Alpha"], blocked);
    project.ticket("tk-2", &["Beta"]);
    let mut terminal = start(&project, &["tk-1", "tk-2"], ROOMY);
    terminal.wait_until("both ended", |screen| {
        let bar = screen.lines().next().unwrap_or_default();
        let is_shown = bar.contains("not verified") && bar.contains("! stopped");
        let runs = json(&project, &["status", "--json"]);
        is_shown
            && runs.as_array().is_some_and(|runs| runs.len() == 2 && runs.iter().all(|run| run["state"] == "ended"))
    });
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 3, "{}", terminal.screen());
}

#[test]
fn ctrl_z_goes_to_the_shell_and_fg_comes_back() {
    let project = gated_project(&["Alpha", "Beta"]);
    let shell = ["--norc", "--noprofile", "--noediting", "-i"];
    let mut terminal = start_program(&project, Path::new("/bin/bash"), &shell, ROOMY, &[("PS1", "shell> ")]);
    terminal.wait_for("shell> ");
    terminal.keys(&format!("{PROGRAM} tk-1\n"));
    wait_at_the_gate(&terminal, "Alpha");
    for _ in 0..2 {
        terminal.keys_until("\x1a", "Stopped");
        assert!(!terminal.in_alternate_screen() && !terminal.hides_cursor());
        terminal.keys_until("echo $((40 + 2)) lines\n", "42 lines");
        terminal.keys_until("clear; fg\n", "Working on Alpha.");
        assert!(terminal.in_alternate_screen() && terminal.hides_cursor());
    }
    project.open_gate("alpha");
    project.open_gate("beta");
    terminal.wait_for("complete: 2/2 phases");
    terminal.keys("q");
    terminal.wait_until("the shell", |screen| !screen.contains("complete: 2/2 phases") && screen.contains("shell> "));
    terminal.keys("exit $?\n");
    assert_eq!(terminal.wait_end().exit_code(), 0);
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[test]
fn nothing_more_is_opened_once_the_person_has_quit() {
    let project = gated_project(&["Alpha"]);
    for ticket in ["tk-2", "tk-3"] {
        project.ticket(ticket, &["Beta"]);
    }
    let (path, _sweeping) = hanging(&project, "tk-2");
    let mut terminal = start(&project, &["tk-1", "tk-2", "tk-3"], ROOMY);
    wait_at_the_gate(&terminal, "Alpha");
    until_held(&project, &path);
    terminal.keys_until("q", "finish the iteration");
    let screen = terminal.keys_until("f", "quits after this iteration");
    assert!(!screen.contains("stopped"), "what has not begun did not fail: {screen}");
    project.open_gate("alpha");
    terminal.wait_end();
    let runs = String::from_utf8(project.run(&["status", "--json"]).stdout).expect("text");
    assert!(runs.contains("tk-1") && !runs.contains("tk-3"), "{runs}");
}
