//! Committing from the end card, with the real git: what is killed, left alone or refused there is known again at the next
//! start.

use super::stage::{ROOMY, gated_project, leave, start};
use crate::project::Project;
use crate::terminal::Terminal;

const SEND: &str = "\x13";

/// A project whose run of `tk-1` is complete, with this hook from before it.
fn ended(hook: &str, script: &str) -> Project {
    let project = gated_project(&["Alpha"]);
    for (key, value) in [("user.name", "A Person"), ("user.email", "person@localhost")] {
        project.git(&["config", key, value]);
    }
    project.write(&format!("work/.git/hooks/{hook}"), &format!("#!/bin/sh\n{script}\n"));
    let path = project.path(&format!("work/.git/hooks/{hook}"));
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project.open_gate("alpha");
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    project
}

/// The commit dialog on its end card, with what goes in.
fn at_the_dialog(project: &Project) -> Terminal {
    let mut terminal = start(project, &[], ROOMY);
    terminal.wait_for("Work on tk-1");
    terminal.keys_until("\r", "run again");
    terminal.keys_until("c", "A alpha.txt");
    terminal
}

fn close_the_dialog(terminal: &mut Terminal) {
    terminal.keys("\x1b");
    terminal.wait_until("the dialog is closed", |screen| !screen.contains("Commit · tk-1"));
}

fn status(project: &Project) -> Vec<String> {
    let said = project.git(&["status", "--porcelain"]);
    said.lines().filter(|line| !line.contains("tickets")).map(str::to_owned).collect()
}

/// Of the newest commit.
fn subject(project: &Project) -> String {
    project.git(&["log", "-1", "--format=%s"]).trim().to_owned()
}

#[test]
fn killed_between_head_and_the_index_it_is_finished_at_the_next_start() {
    let project = ended("post-commit", "[ ! -e .git/kill ] || kill -9 $(ps -o ppid= -p $PPID)");
    project.write("work/.git/kill", "");
    let mut terminal = at_the_dialog(&project);
    terminal.keys(SEND);
    terminal.wait_end();
    assert_eq!(
        (subject(&project), status(&project)),
        ("Work on tk-1".into(), vec!["D  alpha.txt".into(), "?? alpha.txt".into()])
    );
    let terminal = start(&project, &[], ROOMY);
    terminal.wait_for("· committed ");
    assert_eq!(status(&project), Vec::<String>::new());
    leave(terminal, &project);
    let said = String::from_utf8(project.run(&["logs", "tk-1"]).stdout).unwrap();
    assert!(said.contains("committing 1 file: Work on tk-1") && said.contains("committed as "), "{said}");
    // Once, whoever looks again.
    leave(start_at_home(&project), &project);
    assert_eq!(super::stage::count(&project, "commit_settled"), 1);
}

fn start_at_home(project: &Project) -> Terminal {
    let terminal = start(project, &[], ROOMY);
    terminal.wait_for("· committed ");
    terminal
}

#[test]
fn whoever_quits_during_a_hook_is_told_and_a_second_time_git_is_left_alone() {
    let gate = "until [ -e .git/go ]; do sleep 0.02; done; echo checked; [ -e .git/no ] && exit 1; exit 0";
    let project = ended("pre-commit", gate);
    let mut terminal = at_the_dialog(&project);
    terminal.keys(SEND);
    terminal.wait_for("committing; hooks");
    close_the_dialog(&mut terminal);
    terminal.keys_until("q", "git is committing tk-1 (hooks, signing); q again quits and lets git finish");
    terminal.keys("q");
    terminal.wait_end();
    let said = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(said.contains("tk-1  git is still committing (hooks, signing); until programmator is"), "{said}");
    // Another program sees that git is at work, and what comes of it.
    let terminal = start(&project, &[], ROOMY);
    terminal.wait_for("committing …");
    assert_ne!(subject(&project), "Work on tk-1");
    project.write("work/.git/go", "");
    terminal.wait_for("· committed ");
    assert_eq!((subject(&project), status(&project)), ("Work on tk-1".into(), vec![]));
    leave(terminal, &project);
}

#[test]
fn what_a_hook_refuses_can_still_be_read_after_a_restart() {
    let project = ended("pre-commit", "echo 'no tabs, please'; exit 1");
    let mut terminal = at_the_dialog(&project);
    terminal.keys_until(SEND, "no tabs, please");
    close_the_dialog(&mut terminal);
    terminal.wait_for("not committed: git did not commit; nothing is lost");
    leave(terminal, &project);
    let mut terminal = at_the_dialog(&project);
    assert!(terminal.screen().contains("no tabs, please"), "{}", terminal.screen());
    close_the_dialog(&mut terminal);
    terminal.wait_for("not committed: git did not commit; nothing is lost");
    leave(terminal, &project);
}

#[test]
fn a_fork_of_what_is_done_is_committed_from_its_end_card_and_then_merged() {
    let project = ended("post-commit", "true");
    assert_eq!(project.run(&["fork", "tk-1", "end", "--id", "tk-2"]).status.code(), Some(0));
    project.git(&["clean", "-fdq", "--exclude", ".tickets"]);
    project.write("config/config.yaml", &format!("{}git: {{merge: merge}}\n", project.read("config/config.yaml")));
    let merges = |words: &str| {
        let output = project.run(&["run", "tk-2"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(words), "{words}: {said}");
    };
    merges("commit it first");
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("fork of tk-1");
    terminal.keys_until("\r", "merge again");
    terminal.keys_until("c", "A alpha.txt");
    // The end card tells the commit from its record, before the dialog hears of it.
    terminal.keys_until(SEND, "committed as");
    terminal.wait_until("the dialog is closed", |screen| !screen.contains("Commit · tk-2"));
    leave(terminal, &project);
    merges("merged as");
    assert_eq!(project.git(&["show", "main:alpha.txt"]), project.git(&["show", "programmator/tk-2:alpha.txt"]));
}
