//! The mouse in a real terminal: reported only when it is wanted, and never left on.

use super::stage::{ROOMY, assert_given_back, gated_project, gated_run, leave, start_program, wait_at_the_gate};
use crate::project::{PROGRAM, Project};
use crate::terminal::Terminal;
use rustix::process::Signal;
use std::path::Path;

/// How often the terminal was told this.
fn told(terminal: &Terminal, sequence: &str) -> usize {
    terminal.raw().windows(sequence.len()).filter(|bytes| *bytes == sequence.as_bytes()).count()
}

/// How often each mode of the mouse was set, and given back: buttons, drags, large numbers, and every move.
fn modes(terminal: &Terminal) -> [(usize, usize); 4] {
    ["1000", "1002", "1006", "1003"]
        .map(|mode| (told(terminal, &format!("\x1b[?{mode}h")), told(terminal, &format!("\x1b[?{mode}l"))))
}

fn pointed_run() -> (Project, Terminal) {
    let (project, mut terminal) = gated_run(&["Alpha"]);
    assert_eq!(modes(&terminal), [(0, 0); 4], "off until it is wanted");
    terminal.keys("m");
    terminal.wait_for("mouse on");
    assert_eq!(modes(&terminal), [(1, 0), (1, 0), (1, 0), (0, 0)]);
    (project, terminal)
}

#[test]
fn a_click_arrives_and_the_mouse_is_given_back_at_the_end() {
    let (project, mut terminal) = pointed_run();
    let screen = terminal.wait_for("? help");
    let (y, line) = screen.lines().enumerate().filter(|(_, line)| line.contains("? help")).last().unwrap();
    let x = line[..line.find("? help").unwrap()].chars().count();
    terminal.keys(&format!("\x1b[<0;{0};{1}M\x1b[<0;{0};{1}m", x + 2, y + 1));
    terminal.wait_for("/ filters");
    terminal.keys("\x1b");
    terminal.wait_until("no help", |screen| !screen.contains("/ filters"));
    project.open_gate("alpha");
    terminal.wait_for("complete: ");
    leave(terminal, &project);
    // The next start has it at once.
    let mut terminal = super::stage::start(&project, &["replay", "tk-1"], ROOMY);
    terminal.wait_for("1/1 phases");
    assert_eq!(modes(&terminal)[0], (1, 0), "kept");
    terminal.keys("m");
    terminal.wait_for("mouse off");
    assert_eq!(modes(&terminal)[0], (1, 1));
    leave(terminal, &project);
}

#[test]
fn a_drag_in_the_stream_selects_lines_that_y_copies() {
    let (project, mut terminal) = pointed_run();
    let screen = terminal.screen();
    let (y, line) = screen.lines().enumerate().find(|(_, line)| line.contains("Working on Alpha.")).unwrap();
    let x = line[..line.find("Working on Alpha.").unwrap()].chars().count() + 1;
    terminal.keys(&format!("\x1b[<0;{x};{}M\x1b[<32;{x};{}M\x1b[<0;{x};{1}m", y + 1, y + 3));
    terminal.wait_for("selecting lines");
    terminal.keys("y");
    terminal.wait_for("3 lines");
    project.open_gate("alpha");
    terminal.wait_for("complete: ");
    leave(terminal, &project);
}

#[test]
fn a_signal_gives_the_mouse_back() {
    let (_project, mut terminal) = pointed_run();
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.wait_end().exit_code(), 143);
    assert_given_back(&terminal);
    assert_eq!(modes(&terminal), [(1, 1), (1, 1), (1, 1), (0, 0)]);
}

#[test]
fn the_shell_has_the_mouse_while_the_program_sleeps() {
    let project = gated_project(&["Alpha"]);
    let shell = ["--norc", "--noprofile", "--noediting", "-i"];
    let mut terminal = start_program(&project, Path::new("/bin/bash"), &shell, ROOMY, &[("PS1", "shell> ")]);
    terminal.wait_for("shell> ");
    terminal.keys(&format!("{PROGRAM} tk-1\n"));
    wait_at_the_gate(&terminal, "Alpha");
    terminal.keys("m");
    terminal.wait_for("mouse on");
    terminal.keys("\x1a");
    terminal.wait_until("the shell", |screen| !screen.contains("Tickets") && screen.contains("shell>"));
    assert_eq!(modes(&terminal)[..3], [(1, 1); 3]);
    terminal.keys("fg\n");
    wait_at_the_gate(&terminal, "Alpha");
    assert_eq!(modes(&terminal)[..3], [(2, 1); 3], "it is as it was");
    project.open_gate("alpha");
    terminal.wait_for("complete: ");
    terminal.keys("q");
    terminal.wait_until("the shell again", |screen| !screen.contains("Tickets") && screen.contains("shell>"));
    assert_eq!(modes(&terminal)[..3], [(2, 2); 3]);
    terminal.keys("exit\n");
    terminal.wait_end();
}
