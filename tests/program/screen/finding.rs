//! A search through all runs: the word of an older run is found, and the run is opened where it stands.

use super::stage::{ROOMY, SMALL, gated_project, leave, start};
use crate::project::Project;
use serde_json::Value;

/// A ticket with two runs; of the older one only Claude says a word of `Alpha`.
fn ran_twice() -> Project {
    let project = gated_project(&["Alpha"]);
    for phase in ["Alpha", "Beta"] {
        project.ticket("tk-1", &[phase]);
        project.open_gate(&phase.to_lowercase());
        assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    }
    project
}

#[test]
fn a_word_of_an_older_run_is_found_and_enter_lands_there() {
    let project = ran_twice();
    for size in [ROOMY, SMALL] {
        let mut terminal = start(&project, &[], size);
        terminal.wait_for("Work on tk-1");
        terminal.keys("Fthrough with alpha");
        terminal.wait_for("1 match · 2 runs");
        terminal.keys("\r");
        terminal.wait_until("the older run with the words", |screen| {
            screen.contains("Through with Alpha.") && screen.contains("“through with alpha” · 1/1")
        });
        // What was found is still there.
        terminal.keys_until("F", "1 match · 2 runs");
        terminal.keys("\x1b");
        terminal.wait_until("it is closed", |screen| !screen.contains("1 match"));
        leave(terminal, &project);
    }
}

#[test]
fn a_replay_finds_another_run_and_shows_that_one() {
    let project = ran_twice();
    let mut terminal = start(&project, &["replay", "tk-1"], ROOMY);
    terminal.wait_for("Through with Beta.");
    terminal.keys("Fthrough with alpha");
    terminal.wait_for("1 match · 2 runs");
    terminal.keys("\r");
    terminal.wait_until("the older run with the words", |screen| {
        screen.contains("Through with Alpha.") && screen.contains("“through with alpha” · 1/1")
    });
    // A line of the log, of the other run: the Log shows such lines.
    terminal.keys_until("F", "1 match · 2 runs");
    terminal.keys("\x15run started");
    terminal.wait_for("2 matches · 2 runs");
    terminal.keys("\r");
    terminal.wait_until("the newer run's log", |screen| {
        screen.contains("Through with Beta.") && screen.contains("· “run started” ")
    });
    leave(terminal, &project);
}

#[test]
fn the_command_line_finds_the_same() {
    let project = ran_twice();
    let output = project.run(&["search", "through", "WITH"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("Through with")).collect();
    assert_eq!(lines, ["  iteration 1: Through with Beta.", "  iteration 1: Through with Alpha."]);
    let heads = text.lines().filter(|line| line.starts_with("tk-1  Work on tk-1 · run ")).count();
    assert_eq!(heads, 2, "{text}");
    let json = String::from_utf8(project.run(&["search", "--json", "-n", "1", "through with"]).stdout).unwrap();
    let found: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((found.len(), &found[0]["spot"]["run"]["iteration"]), (1, &Value::from(1)));
    let edits = String::from_utf8(project.run(&["search", "--only", "edits"]).stdout).unwrap();
    assert!(edits.contains("alpha.txt") && edits.contains("beta.txt"), "{edits}");
    let log = String::from_utf8(project.run(&["search", "run", "started"]).stdout).unwrap();
    assert_eq!(log.lines().filter(|line| line.starts_with("  log: run started in ")).count(), 2, "{log}");
    assert_eq!(project.run(&["search", "no-such-words-anywhere"]).status.code(), Some(1));
    assert_eq!(project.run(&["search"]).status.code(), Some(2));
}
