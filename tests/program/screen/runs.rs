//! Whole runs on the screen: from the first frame to the end, killed and resumed, stopped and started again, two at once.

use super::stage::{
    ROOMY, SMALL, at_the_gate, boxes, count, gated, gated_project, gated_run, leave, leave_with, start,
    wait_at_the_gate,
};
use crate::project::Project;
use crate::watched::json;
use rustix::process::Signal;

#[test]
fn four_panes_show_a_run_from_start_to_end() {
    let (project, terminal) = gated_run(&["Alpha", "Beta", "Gamma"]);
    let screen = terminal.screen();
    for pane in ["─ Tickets ─", "━ Stream · tk-1 Work on tk-1 ━", "─ Gauges ─", "─ Log ─"] {
        assert!(screen.contains(pane), "{pane} is missing:\n{screen}");
    }
    for words in ["1 tk-1 ▶ 0/3", "○ Beta", "○ Gamma", "Working on Alpha.", "1/50", "p pause", "x stop", "q quit"]
    {
        assert!(screen.contains(words), "“{words}” is missing:\n{screen}");
    }
    project.open_gate("alpha");
    wait_at_the_gate(&terminal, "Beta");
    let screen = terminal.screen();
    assert!(screen.contains("? Alpha") && screen.contains("1 tk-1 ▶ 1/3"), "{screen}");
    assert_eq!(boxes(&project, "tk-1")[0], ("Alpha".into(), true), "the box is ticked while the run goes on");
    project.open_gate("beta");
    project.open_gate("gamma");
    let screen = terminal.wait_for("complete: 3/3 phases");
    for words in ["? Alpha", "? Beta", "? Gamma", "1 tk-1 ? done"] {
        assert!(screen.contains(words), "“{words}” is missing:\n{screen}");
    }
    assert!(project.ticket_text("tk-1").contains("status: closed"));
    leave(terminal, &project);
}

#[test]
fn a_small_terminal_shows_one_pane_after_the_other() {
    let project = gated_project(&["Alpha", "Beta"]);
    let mut terminal = start(&project, &["tk-1"], SMALL);
    terminal.wait_for("Working on Alpha.");
    assert!(terminal.screen().contains("━ Stream · tk-1"), "{}", terminal.screen());
    let mut seen = Vec::new();
    for _ in 0..4 {
        let before = title(&terminal.screen());
        terminal.keys("\t");
        let screen = terminal.wait_until("another pane", |screen| title(screen) != before);
        seen.push(title(&screen));
    }
    for pane in ["Tickets", "Changes", "Gauges", "Log"] {
        assert!(seen.iter().any(|title| title.contains(pane)), "{pane} is missing: {seen:?}");
    }
    terminal.keys("D");
    terminal.wait_for("A alpha.txt");
    terminal.keys("\r");
    terminal.wait_for("hunk 1/1");
    terminal.keys("qo");
    terminal.wait_for("Changes · whole ticket");
    terminal.wait_for("A alpha.txt");
    terminal.keys("D");
    project.open_gate("alpha");
    project.open_gate("beta");
    terminal.wait_for("complete: 2/2 phases");
    leave(terminal, &project);
}

#[test]
fn the_whole_ticket_is_the_work_of_its_runs_alone() {
    let (project, _) = crate::status::worked_on_twice();
    let mut terminal = start(&project, &[], (200, 50));
    terminal.wait_for("DONE  2");
    terminal.keys("\r");
    let screen = terminal.wait_for("1 file +2");
    assert!(screen.contains("whole ticket, at end"), "{screen}");
    for other in ["other.txt", "person.txt", "later.txt"] {
        assert!(!screen.contains(other), "{screen}");
    }
    terminal.keys("Doo");
    terminal.wait_for("this iteration, at end");
    leave(terminal, &project);
}

/// The border of the pane that has the focus.
fn title(screen: &str) -> String {
    screen.lines().find(|line| line.contains('┏')).unwrap_or_default().to_owned()
}

#[test]
fn a_killed_run_is_gone_on_with_where_it_was() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta", "Gamma"]);
    project.open_gate("alpha");
    wait_at_the_gate(&terminal, "Beta");
    terminal.signal(Signal::KILL);
    terminal.wait_end();
    let runs = json(&project, &["status", "--json"]);
    assert_eq!((&runs[0]["state"], &runs[0]["phases_done"]), (&"interrupted".into(), &1.into()), "{runs}");

    let terminal = at_the_gate(&project, "Beta");
    let screen = terminal.wait_for("run resumed");
    assert!(screen.contains("? Alpha") && screen.contains("○ Gamma"), "{screen}");
    project.open_gate("beta");
    project.open_gate("gamma");
    terminal.wait_for("complete: 3/3 phases");
    assert_eq!((count(&project, "phase_done"), count(&project, "run_resumed")), (3, 1));
    assert!(boxes(&project, "tk-1").iter().all(|(_, ticked)| *ticked));
    leave(terminal, &project);
}

#[test]
fn a_stopped_run_goes_on_when_it_is_started_again() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta"]);
    project.open_gate("alpha");
    wait_at_the_gate(&terminal, "Beta");
    terminal.keys_until("x", "y yes");
    terminal.keys_until("y", "run ended: stopped by you");
    leave_with(terminal, &project, 5);

    // In the next program …
    let mut terminal = at_the_gate(&project, "Beta");
    assert!(terminal.screen().contains("? Alpha"), "{}", terminal.screen());
    terminal.keys("xy");
    terminal.wait_until("a stopped tab", |screen| screen.lines().next().is_some_and(|bar| bar.contains("stopped")));
    // … and in the same one.
    project.open_gate("beta");
    terminal.keys_until("p", "complete: 2/2 phases");
    assert_eq!((count(&project, "phase_done"), count(&project, "run_resumed")), (2, 2));
    leave(terminal, &project);
}

#[test]
fn two_tickets_stand_in_two_tabs_and_take_turns_in_the_folder() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    project.ticket("tk-2", &["Beta"]);
    project.scenario(&gated(&project));
    let mut terminal = start(&project, &["tk-1", "tk-2"], ROOMY);
    let begun = |name: &str| project.path("work").join(format!("{name}.txt")).exists();
    terminal.wait_until("one at work, one waiting", |screen| {
        let bar = screen.lines().next().unwrap_or_default();
        // A run that has not asked for the folder yet looks as if it worked.
        bar.contains("▶ 0/1") && bar.contains("queued") && (begun("alpha") || begun("beta"))
    });
    let (first, second) = if begun("alpha") { (1, 2) } else { (2, 1) };
    let gates = ["alpha", "beta"];

    let screen = terminal.keys_until(&second.to_string(), &format!("Stream · tk-{second} "));
    assert!(screen.contains("queued behind "), "{screen}");
    assert!(!screen.contains("Working on"), "it has not begun:\n{screen}");
    terminal.keys_until("]", &format!("Stream · tk-{first} "));
    terminal.wait_for("Working on");
    terminal.keys_until("[", &format!("Stream · tk-{second} "));

    project.open_gate(gates[first - 1]);
    terminal.wait_until("the second at work", |screen| {
        screen.contains("Working on") && screen.lines().next().unwrap_or_default().contains("? done")
    });
    project.open_gate(gates[second - 1]);
    terminal.wait_for("complete: 1/1 phases");
    for ticket in ["tk-1", "tk-2"] {
        assert!(project.ticket_text(ticket).contains("status: closed"), "{ticket}");
    }
    leave(terminal, &project);
}

#[test]
fn a_start_that_the_breaker_refuses_has_its_gauges_and_b_closes_it() {
    let idle = "turns: [{when: {phase: \"\"}, steps: [{status: {status: CONTINUE, phase: \"\", summary: idle}}]}]\n";
    let project = Project::with_config(&["Alpha"], idle, "limits:\n  stagnation: 50\n");
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(4));
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("○ open");
    terminal.keys_until("b", "reset");
    terminal.keys_until("y", "● closed");
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 4, "it was not started");
}
