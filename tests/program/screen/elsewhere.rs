//! A run that works in the background, on a screen that is opened meanwhile.

use super::approvals::settle;
use super::stage::{ROOMY, leave, start};
use crate::away::{PUSH, WRITE, begun, ended, is_pushed};
use crate::watched::of_kind;

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
