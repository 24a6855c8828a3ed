//! Calls in a row: what is read and searched is one line, and so are the changes of the list of tasks but the last.

use super::pane::{Pane, call, failure, result, text};
use programmator::tui::panes::stream::StreamMsg;
use serde_json::{Value, json};
use std::cmp::Ordering;

fn read(pane: &Pane, n: usize) {
    let (id, path) = (format!("r{n}"), format!("src/f{n}.rs"));
    pane.push(1, &call(&id, "Read", json!({"file_path":path})));
    pane.push(1, &result(&id, "x", json!({"type":"text","file":{"numLines":7}})));
}

fn search(pane: &Pane, id: &str) {
    pane.push(1, &call(id, "Grep", json!({"pattern":"layer("})));
    pane.push(1, &result(id, "Found", json!({"mode":"content","numLines":3})));
}

fn started() -> Pane {
    let mut pane = Pane::new(90, 16);
    pane.start(1, "p", None);
    pane
}

/// The rows below the rule above the iteration.
fn rows(pane: &mut Pane) -> Vec<String> {
    let rows = pane.screen().into_iter().filter(|row| !row.is_empty() && !row.starts_with("──"));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn what_is_read_and_searched_is_one_line_and_counts_on() {
    let mut pane = started();
    pane.push(1, &text("I look."));
    read(&pane, 1);
    assert!(rows(&mut pane)[1].starts_with("● Read"), "one is shown as it is");
    read(&pane, 2);
    assert_eq!(rows(&mut pane)[1..], ["▸ Read 2 files src/f1.rs · src/f2.rs"]);
    search(&pane, "g1");
    read(&pane, 2);
    pane.push(1, &call("g2", "Glob", json!({"pattern":"*.rs"})));
    assert_eq!(rows(&mut pane)[1..], ["▸ Read 2 files, searched 2 times src/f1.rs · src/f2.rs · “layer(” · *.rs ▶"]);
    pane.push(1, &result("g2", "a.rs", json!({"numFiles":1})));
    pane.push(1, &text("Seen."));
    search(&pane, "g3");
    let seen = rows(&mut pane);
    assert_eq!(seen[2..3], ["Seen."]);
    assert!(seen[3].starts_with("● Grep"), "words part them: {seen:?}");
}

#[test]
fn a_row_of_calls_is_the_same_from_whichever_side_it_is_seen() {
    let fill = |pane: &mut Pane| {
        for n in 0..40 {
            read(pane, n);
        }
        for n in 0..30 {
            pane.push(1, &text(&format!("words {n}")));
        }
    };
    let (mut pane, mut whole) = (started(), started());
    fill(&mut pane);
    fill(&mut whole);
    pane.prepare();
    pane.update(StreamMsg::Top);
    whole.size = (90, 200);
    let from_above = rows(&mut whole);
    assert!(from_above[0].starts_with("▸ Read 40 files"), "{from_above:?}");
    assert_eq!(rows(&mut pane)[..5], from_above[..5]);
}

#[test]
fn a_call_that_failed_is_seen_with_what_it_was_about() {
    let mut pane = started();
    read(&pane, 1);
    pane.push(1, &call("a", "Read", json!({"file_path":"gone.rs"})));
    pane.push(1, &call("b", "Read", json!({"file_path":"other.rs"})));
    pane.push(1, &failure("a", "File does not exist."));
    pane.push(1, &result("b", "x", json!({"type":"text","file":{"numLines":7}})));
    read(&pane, 3);
    read(&pane, 4);
    assert_eq!(
        rows(&mut pane),
        [
            "▸ Read 3 files src/f1.rs · gone.rs · other.rs 1 failed",
            "↳ Read gone.rs",
            "File does not exist.",
            "▸ Read 2 files src/f3.rs · src/f4.rs",
        ]
    );
}

#[test]
fn enter_unfolds_a_row_of_calls_and_folds_it_again() {
    let mut pane = started();
    read(&pane, 1);
    read(&pane, 2);
    let folded = rows(&mut pane);
    pane.update(StreamMsg::Card(-1));
    pane.update(StreamMsg::Toggle);
    let unfolded = rows(&mut pane);
    assert!(unfolded[0].starts_with("● Read") && unfolded.iter().any(|row| row.contains("src/f2.rs")), "{unfolded:?}");
    pane.update(StreamMsg::Toggle);
    assert_eq!(rows(&mut pane), folded);
    pane.update(StreamMsg::ToggleFold);
    assert!(rows(&mut pane).iter().any(|row| row.starts_with("● Read src/f2.rs")), "and so does Z");
}

fn todos(done: usize) -> Value {
    let names = ["Read", "Write", "Test"];
    let state = |at: usize| match at.cmp(&done) {
        Ordering::Less => "completed",
        Ordering::Equal => "in_progress",
        Ordering::Greater => "pending",
    };
    let all: Vec<Value> = (0..3).map(|at| json!({"content":names[at],"status":state(at)})).collect();
    json!({"todos":all})
}

#[test]
fn the_newest_list_of_tasks_is_a_checklist_and_earlier_ones_are_a_line() {
    let mut pane = started();
    pane.push(1, &call("t0", "TodoWrite", todos(0)));
    assert_eq!(rows(&mut pane), ["● TodoWrite 0 of 3 done ▶", "▶ Read", "○ Write", "○ Test"]);
    pane.push(1, &result("t0", "ok", json!({"newTodos":[]})));
    pane.push(1, &call("b", "Bash", json!({"command":"ls"})));
    pane.push(1, &result("b", "a", json!({"stdout":"a","stderr":""})));
    pane.push(1, &call("t1", "TodoWrite", todos(1)));
    pane.push(1, &result("t1", "ok", json!({"newTodos":[]})));
    let seen = rows(&mut pane);
    assert!(seen[0].starts_with("● TodoWrite 0 of 3 done") && seen[1].starts_with("● Bash"), "{seen:?}");
    assert!(seen[2].starts_with("● TodoWrite 1 of 3 done"), "{seen:?}");
    assert_eq!(seen[3..], ["✓ Read", "▶ Write", "○ Test"]);
    pane.push(1, &call("t2", "TodoWrite", todos(3)));
    assert_eq!(rows(&mut pane)[2..], ["▸ Todo 2 updates ▶", "✓ Read", "✓ Write", "✓ Test"]);
}

#[test]
fn tasks_that_are_made_one_by_one_are_one_list() {
    let mut pane = started();
    for (n, name) in ["Read", "Write"].into_iter().enumerate() {
        let id = format!("c{n}");
        pane.push(1, &call(&id, "TaskCreate", json!({"subject":name,"description":"d"})));
        pane.push(1, &result(&id, "created", json!({"task":{"id":(n + 1).to_string(),"subject":name}})));
    }
    for (id, task, status) in [("u1", "1", "completed"), ("u2", "2", "in_progress")] {
        pane.push(1, &call(id, "TaskUpdate", json!({"taskId":task,"status":status})));
        pane.push(1, &result(id, "Updated", json!({"success":true,"taskId":task})));
    }
    assert_eq!(rows(&mut pane), ["▸ Todo 4 updates", "✓ Read", "▶ Write"]);
}

#[test]
fn only_the_code_of_a_failed_command_is_said_elsewhere() {
    let mut pane = started();
    pane.push(1, &call("a", "Bash", json!({"command":"x"})));
    pane.push(
        1,
        &result("a", "Exit code 0 is what we want", json!({"stdout":"Exit code 0 is what we want","stderr":""})),
    );
    pane.prepare();
    pane.update(StreamMsg::ToggleFold);
    assert!(rows(&mut pane).iter().any(|row| row == "Exit code 0 is what we want"), "{:?}", rows(&mut pane));
    pane.push(1, &call("b", "Bash", json!({"command":"y"})));
    pane.push(1, &failure("b", "Exit code of make: 2"));
    assert!(rows(&mut pane).iter().any(|row| row == "Exit code of make: 2"), "{:?}", rows(&mut pane));
    pane.push(1, &call("c", "Bash", json!({"command":"z"})));
    pane.push(1, &failure("c", "Exit code 3\nno such file"));
    let said = rows(&mut pane);
    assert!(said.iter().any(|row| row == "no such file") && !said.iter().any(|row| row == "Exit code 3"), "{said:?}");
}
