//! Phases on the screen: edited in the ticket's file while Claude works and after it, taken back, and what stands behind
//! each.

use super::stage::{at_the_gate, boxes, count, gated_project, gated_run, leave};
use crate::project::Project;
use crate::terminal::Terminal;

/// To the pane of the tickets.
const TICKETS: &str = "\x1b[Z";

fn texts(project: &Project) -> Vec<String> {
    boxes(project, "tk-1").into_iter().map(|(text, _)| text).collect()
}

/// Types this into the dialog of this title, and saves it; waits for these words, and until the dialog is closed: keys
/// that come before go to it.
fn typed(terminal: &mut Terminal, (key, title): (&str, &str), text: &str, shown: &str) {
    terminal.keys_until(key, title);
    terminal.keys(text);
    terminal.keys("\r");
    terminal.wait_until(&format!("“{shown}” and no dialog"), |screen| {
        screen.contains(shown) && !screen.contains(title)
    });
}

#[test]
fn phases_are_edited_while_claude_works_and_each_edit_is_taken_back() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta", "Gamma"]);
    let before = project.ticket_text("tk-1");
    terminal.keys_until(TICKETS, "Enter evidence");
    terminal.keys("j");
    typed(&mut terminal, ("R", "Rename “Beta”"), " two", "○ Beta two");
    assert_eq!(texts(&project), ["Alpha", "Beta two", "Gamma"]);
    typed(&mut terminal, ("A", "Add phases after “Beta two”"), "Delta\nEpsilon", "○ Epsilon");
    assert_eq!(texts(&project), ["Alpha", "Beta two", "Delta", "Epsilon", "Gamma"]);
    terminal.keys_until("J", "moved “Beta two” down");
    assert_eq!(texts(&project), ["Alpha", "Delta", "Beta two", "Epsilon", "Gamma"]);
    for undone in ["undid: moved", "undid: added", "undid: renamed"] {
        terminal.keys_until("u", undone);
    }
    assert_eq!(project.ticket_text("tk-1"), before, "to the byte");
    // Accepted for a reason, which goes into the ticket and comes out of it again.
    terminal.wait_until("the old name", |screen| !screen.contains("○ Beta two"));
    typed(&mut terminal, ("Y", "Accept “Beta”"), "seen by hand", "✓ Beta");
    terminal.wait_until("the note", |_| project.ticket_text("tk-1").contains("Accepted “Beta” by hand: seen by hand"));
    terminal.keys_until("u", "○ Beta");
    terminal.wait_until("no note", |_| project.ticket_text("tk-1") == before);
    // Somebody else changes the phase while its new text is typed: what was typed stays.
    terminal.keys_until("R", "Rename “Beta”");
    terminal.keys(" three");
    project.write("work/.tickets/tk-1.md", &before.replace("- [ ] Beta\n", "- [ ] Bravo\n"));
    terminal.keys("\r");
    terminal.wait_for("“Beta” is no longer in the ticket");
    // The log may be told before the dialog is there again.
    terminal.wait_for("Beta three");
    assert_eq!(texts(&project), ["Alpha", "Bravo", "Gamma"]);
    terminal.keys("\x1b");
    for gate in ["alpha", "bravo", "gamma"] {
        project.open_gate(gate);
    }
    terminal.wait_for("complete: 3/3 phases");
    let undone = project.journal().into_iter().filter(|record| record["undoes"].is_string()).count();
    assert_eq!((count(&project, "revision_settled"), undone), (8, 8), "intended and settled, each undone");
    leave(terminal, &project);
}

#[test]
fn what_stands_behind_a_phase_is_told_and_after_the_run_it_can_be_reopened() {
    let project = gated_project(&["Alpha", "Beta"]);
    project.validate_by("test -f alpha.txt && echo checked");
    let mut terminal = at_the_gate(&project, "Alpha");
    project.open_gate("alpha");
    project.open_gate("beta");
    terminal.wait_for("complete: 2/2 phases");
    terminal.keys_until(TICKETS, "Enter fold");
    terminal.keys("gj");
    terminal.keys_until("\r", "Phase · Alpha");
    let screen = terminal.wait_for("A alpha.txt");
    for words in
        ["did Alpha", "Validation", "checked", "exit 0", "1 file  +1", "verified in iteration 1", "iteration back"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    terminal.keys_until("D", "Diff · A alpha.txt");
    terminal.keys("\x1b");
    terminal.wait_until("the diff is closed", |screen| !screen.contains("Diff ·"));
    terminal.keys_until("\r", "Working on Alpha.");
    terminal.keys_until(TICKETS, "r reopen");
    terminal.keys_until("r", "○ Alpha");
    terminal.keys_until("u", "✓ Alpha");
    typed(&mut terminal, ("A", "Add phases after “Alpha”"), "Gamma", "○ Gamma");
    assert_eq!(texts(&project), ["Alpha", "Gamma", "Beta"]);
    assert_eq!((count(&project, "phase_reopened"), count(&project, "phase_ticked")), (1, 1));
    leave(terminal, &project);
}
