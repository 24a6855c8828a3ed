//! The screen on the real CLI, in a pty of 120×40.

use crate::messages_stub::Reply;
use crate::program::{Bench, TICKET, block};
use crate::program_stopping::STUBBORN;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_ticket_is_seen_through_to_complete() {
    let bench = Bench::new(&["Alpha", "Beta"]);
    let notes = bench.file("notes.txt");
    bench.script([
        Reply::text("I begin with the notes.")
            .and_tool("Write", json!({"file_path": notes, "content": "first line\n"})),
        Reply::text(&block("Alpha", "CONTINUE", &["notes.txt"])),
        Reply::tool("Read", json!({"file_path": notes})),
        Reply::tool("Edit", json!({"file_path": notes, "old_string": "first line", "new_string": "better line"})),
        Reply::text(&block("Beta", "DONE", &["notes.txt"])),
    ]);
    let mut terminal = bench.open(&[TICKET]);
    let screen = terminal.wait_for("complete: 2/2 phases");
    for words in ["Tickets", "Stream", "Gauges", "Log", "Iteration", "Alpha", "Beta", "quit"] {
        assert!(screen.contains(words), "“{words}” is missing:\n{screen}");
    }
    // The stream follows its end: the edit as a diff, and the claim.
    let screen = terminal.wait_until("the diff", |screen| screen.contains("better line"));
    assert!(screen.contains("first line") && screen.contains("notes.txt"), "{screen}");
    assert_eq!(bench.project.ticket_text(TICKET).matches("- [x]").count(), 2);
    assert!(terminal.in_alternate_screen());
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 0);
    assert!(!terminal.in_alternate_screen());
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}

#[test]
fn words_of_the_person_reach_the_running_turn_and_show_as_read() {
    let bench = Bench::new(&["Alpha"]);
    let wait = "touch waiting; until [ -e go ]; do sleep 0.1; done; echo went";
    bench.script([Reply::tool("Bash", json!({"command": wait})), Reply::text(&block("Alpha", "DONE", &["waiting"]))]);
    let mut terminal = bench.open(&[TICKET]);
    bench.wait_for_file("waiting");
    terminal.keys_until("i", "Message to Claude");
    terminal.keys("prefer the blue one\r");
    terminal.wait_until("the note on its way", |screen| {
        screen.contains("prefer the blue one") && !screen.contains("Message to Claude")
    });
    assert!(!terminal.screen().contains("read by Claude"), "Claude has not taken it yet:\n{}", terminal.screen());
    bench.project.write("work/go", "");
    terminal.wait_for("read by Claude");
    terminal.wait_for("complete: 1/1 phases");
    let asked = bench.asked(1);
    assert!(asked.contains("went") && asked.contains("prefer the blue one"), "with the tool's result: {asked}");
    assert_eq!(bench.stub.requests().len(), 2, "no turn of its own");
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 0);
}

#[test]
fn words_that_come_too_late_for_the_turn_get_one_of_their_own() {
    let bench = Bench::new(&["Alpha"]);
    let early = block("Alpha", "DONE", &["early.txt"]);
    bench.script([
        Reply::tool("Bash", json!({"command": "touch early.txt"})),
        // The last words take a few seconds; the note comes in their midst.
        Reply::text(&early).slowly(2, Duration::from_millis(40)),
        Reply::text(&block("Alpha", "BLOCKED", &["early.txt"])),
    ]);
    let mut terminal = bench.open(&[TICKET]);
    bench.stub.wait_for(2);
    terminal.keys_until("i", "Message to Claude");
    terminal.keys_until("one more thing\r", "read by Claude");
    terminal.wait_for("blocked");
    assert!(bench.asked(2).contains("one more thing"), "{}", bench.asked(2));
    assert!(bench.project.ticket_text(TICKET).contains("- [ ] Alpha"), "the last claim is the one that counts");
}

#[test]
fn an_interrupt_ends_a_stubborn_tool_and_all_it_started() {
    let bench = Bench::new(&["Alpha"]);
    bench.script([Reply::tool("Bash", json!({"command": STUBBORN}))]);
    let mut terminal = bench.open(&[TICKET]);
    bench.wait_for_file("child");
    bench.wait_for_file("grandchild");
    assert!(bench.survivors().len() >= 3, "{:?}", bench.survivors());
    terminal.keys_until("P", "paused");
    assert_eq!(bench.survivors(), Vec::<String>::new());
    // What was interrupted is resumed in its session: Claude reads there what it was about.
    bench.script([
        Reply::tool("Bash", json!({"command": "touch done.txt"})),
        Reply::text(&block("Alpha", "DONE", &["done.txt"])),
    ]);
    terminal.keys_until("p", "complete: 1/1 phases");
    assert!(bench.asked(1).contains("touch grandchild"), "the same conversation: {}", bench.asked(1));
    let pid = Pid::from_raw(i32::try_from(terminal.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    terminal.wait_end();
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}
