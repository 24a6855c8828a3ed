//! What the keys do to a run.

use super::stage::{
    ROOMY, at_the_gate, boxes, count, gated, gated_project, gated_run, leave, leave_with, start, wait_at_the_gate,
};
use crate::project::Project;

#[test]
fn a_pause_holds_after_the_iteration_and_p_goes_on() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta"]);
    let screen = terminal.keys_until("p", "pausing after this iteration");
    assert!(screen.contains("p cancel pause"), "{screen}");
    project.open_gate("beta");
    project.open_gate("alpha");
    let screen = terminal.wait_for("paused · p resumes");
    assert!(screen.contains("? Alpha") && screen.contains("○ Beta"), "{screen}");
    // It holds: nothing was begun after the pause, by the journal's own word.
    let journal = project.journal();
    let since = journal.iter().rev().take_while(|record| record["kind"] != "paused");
    // Lines are counted beside the path.
    assert!(since.into_iter().all(|record| record["kind"] == "lines_counted"), "{journal:?}");
    assert_eq!(count(&project, "iteration_started"), 1);
    terminal.keys_until("p", "complete: 2/2 phases");
    leave(terminal, &project);
}

#[test]
fn a_pause_that_is_taken_back_is_none() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta"]);
    terminal.keys_until("p", "pausing after this iteration · p cancels");
    terminal.keys("p");
    terminal.wait_until("no pause", |screen| !screen.contains("pausing after this iteration · p cancels"));
    project.open_gate("alpha");
    project.open_gate("beta");
    terminal.wait_for("complete: 2/2 phases");
    assert_eq!(count(&project, "paused"), 0);
    leave(terminal, &project);
}

#[test]
fn a_pause_now_interrupts_claude_and_keeps_its_work() {
    let (project, mut terminal) = gated_run(&["Alpha"]);
    terminal.keys("P");
    // The gate is shut: only an interrupt gets there.
    let screen = terminal.wait_for("paused · p resumes");
    assert!(screen.contains("interrupted"), "{screen}");
    // The files that differ may be looked at just now.
    let others = project.processes().into_iter().filter(|line| !line.starts_with("git ")).count();
    assert_eq!(others, 1, "only the program itself: {:?}", project.processes());
    assert_eq!(project.read("work/alpha.txt"), "Alpha\n");
    terminal.keys_until("p", "iteration 2");
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");
    leave(terminal, &project);
}

#[test]
fn a_skip_is_asked_for_and_leaves_the_phase_undone() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta"]);
    terminal.keys_until("s", "Leave “Alpha” undone");
    terminal.keys("n");
    terminal.wait_until("no question", |screen| !screen.contains("Leave “Alpha” undone"));
    assert_eq!(count(&project, "phase_skipped"), 0, "no is no");
    terminal.keys_until("s", "Leave “Alpha” undone");
    terminal.keys("y");
    wait_at_the_gate(&terminal, "Beta");
    terminal.wait_for("↷ skipped “Alpha”");
    project.open_gate("beta");
    terminal.wait_for("? complete: ");
    assert_eq!(boxes(&project, "tk-1"), [("Alpha".to_owned(), false), ("Beta".to_owned(), true)]);
    assert!(!project.ticket_text("tk-1").contains("status: closed"), "a phase is open");
    leave(terminal, &project);
    // Opened by its name, it is shown; a key starts it.
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("? complete: ");
    assert_eq!(count(&project, "run_started"), 1, "the skip holds");
    terminal.keys_until("r", "Working on Alpha.");
    terminal.keys_until("x", "Stop");
    terminal.keys_until("y", "stopped by you");
    leave_with(terminal, &project, 5);
}

#[test]
fn a_skipped_phase_is_worked_on_after_all() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta"]);
    terminal.keys("sy");
    wait_at_the_gate(&terminal, "Beta");
    terminal.keys_until("r", "reopened: “Alpha”");
    project.open_gate("beta");
    wait_at_the_gate(&terminal, "Alpha");
    project.open_gate("alpha");
    terminal.wait_for("complete: 2/2 phases");
    leave(terminal, &project);
}

#[test]
fn words_steer_the_running_turn() {
    let (project, mut terminal) = gated_run(&["Alpha"]);
    terminal.keys_until("i", "sent in this turn");
    // Keys of the table are text here.
    terminal.keys("please quit plain xpsq words\r");
    let note = |screen: &str, state: &str| {
        screen.lines().any(|line| line.contains("› please quit plain xpsq words") && line.contains(state))
    };
    terminal.wait_until("the note, sent and not yet taken in", |screen| note(screen, "sent"));
    assert_eq!(count(&project, "note_delivered"), 0, "a running tool: Claude has not looked yet");
    project.open_gate("alpha");
    terminal.wait_until("the note as read", |screen| note(screen, "read by Claude"));
    terminal.wait_for("complete: 1/1 phases");
    assert_eq!(count(&project, "note_delivered"), 1, "by Claude's own echo");
    leave(terminal, &project);
}

#[test]
fn words_for_no_turn_stand_in_the_next_prompt() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta"]);
    let heard = format!(
        "
  - when: {{prompt: \"mind the gap\"}}
    steps:
      - say: \"I mind it.\"
      - write: {{path: \"{{slug}}.txt\", content: \"x\"}}
      - bash: \"{}\"
      - status: {{summary: minded}}",
        project.gate("heard")
    );
    project.scenario(&gated(&project).replacen("turns:", &format!("turns:{heard}"), 1));
    let mut terminal = at_the_gate(&project, "Alpha");
    terminal.keys_until("p", "pausing after this iteration");
    project.open_gate("alpha");
    terminal.wait_for("paused · p resumes");
    terminal.keys_until("i", "sent with the next prompt");
    terminal.keys_until("mind the gap\r", "message queued: “mind the gap”");
    terminal.keys_until("p", "I mind it.");
    terminal.wait_until("the note as read", |screen| {
        screen.lines().any(|line| line.contains("› mind the gap") && line.contains("read by Claude"))
    });
    project.open_gate("heard");
    terminal.wait_for("complete: 2/2 phases");
    leave(terminal, &project);
}

/// A critic only judges: what the person says meanwhile is for the Claude that works.
#[test]
fn words_said_before_a_critics_turn_are_for_the_next_claude_that_works() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta"]);
    let heard = "
  - when: {phase: Beta, prompt: \"mind the gap\"}
    steps:
      - say: \"I mind it.\"
      - write: {path: \"{slug}.txt\", content: \"x\"}
      - status: {summary: minded}";
    let scenario = gated(&project).replacen("turns:", &format!("turns:{heard}"), 1);
    project.scenario_with(&scenario, "workflow: {name: reviewed}\n");
    let mut terminal = at_the_gate(&project, "Alpha");
    terminal.keys_until("p", "pausing after this iteration");
    project.open_gate("alpha");
    terminal.wait_for("paused · p resumes");
    terminal.keys_until("i", "sent with the next prompt");
    terminal.keys_until("mind the gap\r", "message queued: “mind the gap”");
    terminal.keys_until("p", "I mind it.");
    terminal.wait_for("complete: 2/2 phases");
    assert_eq!(count(&project, "critique_made"), 2);
    leave(terminal, &project);
}

#[test]
fn words_that_are_not_sent_are_kept() {
    let (project, mut terminal) = gated_run(&["Alpha"]);
    terminal.keys_until("i", "sent in this turn");
    terminal.keys("half a thought\x1b");
    terminal.wait_until("no dialog", |screen| !screen.contains("sent in this turn"));
    terminal.keys_until("i", "half a thought");
    assert_eq!(count(&project, "note_given"), 0);
    terminal.keys("\x1b");
    terminal.wait_until("no dialog", |screen| !screen.contains("sent in this turn"));
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");
    leave(terminal, &project);
}

#[test]
fn another_ticket_is_opened_beside_the_first() {
    let project = gated_project(&["Alpha"]);
    project.ticket("tk-2", &["Beta"]);
    project.open_gate("beta");
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    wait_at_the_gate(&terminal, "Alpha");
    terminal.keys("t");
    terminal.keys_until("tk-2\r", "Stream · tk-2 ");
    terminal.wait_until("the second tab", |screen| screen.lines().next().unwrap_or_default().contains("2 tk-2"));
    project.open_gate("alpha");
    // Opened is not started: that takes a `p`, if it has not begun to wait for the folder by itself.
    let screen = terminal.wait_until("a word about the second", |screen| {
        screen.contains("p start") || screen.contains("complete: 1/1 phases")
    });
    if screen.contains("p start") {
        terminal.keys("p");
    }
    terminal.wait_for("complete: 1/1 phases");
    terminal.wait_until("both done", |screen| screen.lines().next().unwrap_or_default().matches("? done").count() == 2);
    leave(terminal, &project);
}
