//! A run that works in the background, on a screen that is opened meanwhile.

use super::approvals::settle;
use super::stage::{ROOMY, leave, start};
use crate::away::{PUSH, WRITE, begun, ended, is_pushed};
use crate::project::PROGRAM;
use crate::terminal::{Start, Terminal};
use crate::watched::{of_kind, said};
use std::path::Path;

#[test]
fn its_question_is_answered_here_and_the_run_goes_on() {
    let project = begun(&[WRITE, PUSH]);
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("NEEDS YOU  1");
    terminal.keys_until("\r", "Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete");
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
    terminal.keys_until("!", "works in another program");
    terminal.wait_for("Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete");
    leave(terminal, &project);
    assert!(is_pushed(&project));
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
    terminal.keys_until("y", "start programmator there");
    leave(terminal, &project);
    ended(&project);
    assert!(is_pushed(&project));
}
