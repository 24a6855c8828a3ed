//! What is copied: the selected lines whole, and of the selected card more than it shows.

use super::pane::{Pane, call, result, text};
use programmator::domain::record::{Level, Record};
use programmator::tui::panes::stream::{Part, StreamMsg};
use serde_json::json;

fn pane() -> Pane {
    let mut pane = Pane::new(40, 8);
    pane.start(1, "One", None);
    for n in 1..=20 {
        pane.push(1, &text(&format!("Words {n}.")));
    }
    let command = format!("cargo test -- {}\necho done", "very ".repeat(12));
    pane.push(1, &call("a", "Bash", json!({ "command": command })));
    pane.push(1, &call("b", "Read", json!({"file_path": "src/a.rs"})));
    pane.push(1, &result("b", "1 fn main() {}", json!({"type":"text","file":{"numLines":1}})));
    pane.push(1, &result("a", "1 passed\n2 passed", json!({"stdout": "1 passed\n2 passed", "stderr": ""})));
    pane.prepare();
    pane
}

#[test]
fn the_selection_grows_with_the_cursor_and_is_copied_whole() {
    let mut pane = pane();
    pane.update(StreamMsg::Select);
    for msg in [StreamMsg::Lines(-1), StreamMsg::Lines(-3), StreamMsg::Lines(1)] {
        pane.update(msg);
    }
    assert!(pane.state.selects());
    // The screen cuts the command; the clipboard has all of its line.
    let copied = pane.state.take_selection().unwrap();
    assert_eq!(copied.lines().count(), 4, "{copied}");
    assert!(copied.starts_with("Words 20.\n\n● Bash") && copied.contains("very very very very …"), "{copied}");
    assert!(copied.lines().last().unwrap().contains("Read   src/a.rs"), "{copied}");
    assert!(!pane.state.selects(), "and it is left");
    // To the top of a run that is longer than the window, and what is said now never counts.
    pane.update(StreamMsg::Select);
    pane.memory.say("Not yet");
    pane.update(StreamMsg::Page(-9));
    pane.update(StreamMsg::End);
    pane.update(StreamMsg::Top);
    let copied = pane.state.take_selection().unwrap();
    assert!(
        copied.starts_with("iteration 1 · One") && !copied.contains('─') && copied.contains("Words 1."),
        "{copied}"
    );
    assert!(!copied.contains("Not yet"));
}

#[test]
fn the_selection_grows_card_by_card() {
    let mut pane = pane();
    pane.update(StreamMsg::Select);
    let begun = pane.state.take_selection().unwrap();
    assert!(begun.contains("Read   src/a.rs"), "{begun}");
    pane.update(StreamMsg::Select);
    for _ in 0..3 {
        pane.update(StreamMsg::Card(-1));
    }
    let copied = pane.state.take_selection().unwrap();
    let first: Vec<&str> = copied.lines().filter(|line| !line.is_empty()).map(str::trim).collect();
    assert_eq!(first[0], "Words 19.", "{copied}");
    assert_eq!(first[1], "Words 20.", "{copied}");
    assert!(first[2].starts_with("● Bash   cargo test"), "{copied}");
    assert!(first.last().unwrap().contains("Read   src/a.rs"), "{copied}");
    // Down again it shrinks to the end of the card below.
    pane.update(StreamMsg::Select);
    for by in [-3, 1] {
        pane.update(StreamMsg::Card(by));
    }
    let copied = pane.state.take_selection().unwrap();
    assert!(copied.starts_with("Words 20."), "{copied}");
}

#[test]
fn what_comes_in_moves_no_selected_line() {
    let mut pane = pane();
    pane.update(StreamMsg::Select);
    pane.update(StreamMsg::Lines(-2));
    let before = pane.screen();
    for n in 0..30 {
        pane.push(1, &text(&format!("Later {n}.")));
    }
    pane.prepare();
    assert_eq!(pane.screen(), before);
    assert!(!pane.state.take_selection().unwrap().contains("Later"));
}

/// What comes in between the button's going down and the first move.
#[test]
fn a_drag_begins_at_the_line_that_was_pressed() {
    let mut pane = pane();
    let screen = pane.screen();
    for row in 0..screen.len() as u16 {
        let mut pane = self::pane();
        pane.update(StreamMsg::Leave);
        pane.update(StreamMsg::Point(row));
        for n in 0..3 {
            pane.push(1, &text(&format!("Later {n}.")));
        }
        pane.prepare();
        pane.update(StreamMsg::Drag(row, row));
        let copied = pane.state.take_selection().unwrap();
        assert!(!copied.contains("Later"), "row {row}: {copied}");
        // The screen cuts what is copied whole.
        let words = |line: &str| line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>();
        let above = &screen[..=usize::from(row)];
        assert!(above.iter().any(|line| words(line) == words(&copied)), "row {row}: {copied}: {above:?}");
    }
}

#[test]
fn of_a_folded_call_all_is_copied_with_its_result() {
    let mut pane = pane();
    let block = pane.state.part(Part::Block).unwrap();
    assert_eq!(block, "Read src/a.rs\n\n1 fn main() {}");
    pane.update(StreamMsg::Card(-1));
    pane.update(StreamMsg::Card(-1));
    let block = pane.state.part(Part::Block).unwrap();
    assert!(
        block.starts_with("Bash cargo test -- very") && block.ends_with("echo done\n\n1 passed\n2 passed"),
        "{block}"
    );
    let command = pane.state.part(Part::Command).unwrap();
    assert!(command.starts_with("cargo test") && command.ends_with("\necho done"), "{command}");
    assert_eq!(pane.state.part(Part::Path), None, "a command is about no file");
}

#[test]
fn a_card_of_ours_is_copied_and_nothing_is_where_nothing_is() {
    let mut pane = pane();
    pane.record(1, Record::Noticed { level: Level::Warn, text: "mind the gap".into() });
    pane.prepare();
    assert_eq!(pane.state.part(Part::Block).unwrap(), "! mind the gap");
    let mut empty = Pane::new(40, 8);
    empty.prepare();
    empty.update(StreamMsg::Select);
    assert_eq!(empty.state.part(Part::Block), None);
    assert!(empty.state.take_selection().is_err());
}

#[test]
fn a_list_of_tasks_is_copied_as_a_checklist() {
    let mut pane = Pane::new(60, 20);
    pane.start(1, "One", None);
    let todos = serde_json::json!({"todos": [
        {"content": "Look", "status": "completed"},
        {"content": "Cut", "status": "in_progress"},
        {"content": "Sew\u{1b}[2J", "status": "pending"},
    ]});
    pane.push(1, &call("t1", "TodoWrite", todos));
    pane.prepare();
    assert_eq!(pane.state.part(Part::Block).as_deref(), Some("- [x] Look\n- [ ] Cut\n- [ ] Sew<escape>[2J"));
}
