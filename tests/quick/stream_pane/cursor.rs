//! The selected card: which one it is, what unfolds, and that nothing moves that is read.

use super::pane::{Pane, call, result, text, thinking, within};
use programmator::tui::panes::stream::{FollowStatus, StreamMsg, view, view_cursor};
use programmator::tui::syntax::Syntax;
use programmator::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

impl Pane {
    /// The rows that are marked.
    fn marked(&mut self) -> Vec<String> {
        self.prepare();
        let area = Rect::new(1, 0, self.size.0, self.size.1);
        let mut buffer = Buffer::empty(Rect { x: 0, width: area.width + 1, ..area });
        view(&self.state, &Syntax::default(), &Theme::plain(), area, &mut buffer);
        view_cursor(&self.state, &Theme::plain(), area, &mut buffer);
        let rows = buffer.content().chunks(usize::from(self.size.0) + 1);
        let text = |row: &[ratatui::buffer::Cell]| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
        rows.map(text).filter_map(|row| Some(row.strip_prefix('▎')?.trim_end().to_owned())).collect()
    }

    fn bash(&self, id: &str, lines: usize) {
        let output = (1..=lines).fold(String::new(), |out, at| format!("{out}{id} line {at}\n"));
        self.push(1, &call(id, "Bash", json!({"command": format!("run {id}")})));
        self.push(1, &result(id, &output, json!({"stdout": output, "stderr": ""})));
    }
}

fn pane() -> Pane {
    let mut pane = Pane::new(60, 12);
    pane.start(1, "One", None);
    pane.push(1, &text("First some words."));
    for id in ["a", "b", "c"] {
        pane.bash(id, 4);
    }
    pane.push(1, &thinking("I think.\nA lot.\nReally."));
    pane.push(1, &text("Last words."));
    pane.prepare();
    pane
}

#[test]
fn the_selected_card_unfolds_alone_and_stays_where_it_is() {
    let mut pane = pane();
    assert_eq!(pane.marked(), [""; 0], "the end is followed");
    let steps = ["Last words.", "… I think. A lot. Really.", "● Bash   run c", "● Bash   run b"];
    for expected in steps {
        pane.update(StreamMsg::Card(-1));
        assert!(pane.marked()[0].starts_with(expected), "{:?}", pane.marked());
    }
    assert_eq!(pane.state.status(), FollowStatus::Held);
    let row = |pane: &mut Pane| pane.screen().iter().position(|row| row.starts_with("● Bash   run b")).unwrap();
    let before = row(&mut pane);
    pane.update(StreamMsg::Toggle);
    assert!(pane.state.is_unfolded());
    let marked = pane.marked();
    assert_eq!(marked[1..], ["    b line 1", "    b line 2", "    b line 3", "    b line 4"], "and its result with it");
    assert_eq!(row(&mut pane), before);
    assert!(!pane.walk().iter().any(|row| row.contains("c line 1")), "the others stay folded");
}

#[test]
fn unfolding_everything_keeps_the_selected_card_in_its_row() {
    let mut pane = pane();
    for _ in 0..3 {
        pane.update(StreamMsg::Card(-1));
    }
    let row = |pane: &mut Pane| pane.screen().iter().position(|row| row.starts_with("● Bash   run c")).unwrap();
    let before = row(&mut pane);
    pane.update(StreamMsg::ToggleFold);
    assert_eq!(row(&mut pane), before);
    assert!(pane.screen().contains(&"    c line 4".to_owned()), "{:?}", pane.screen());
    pane.update(StreamMsg::Toggle);
    assert!(!pane.screen().contains(&"    c line 4".to_owned()), "one of them is folded again");
    pane.update(StreamMsg::ToggleFold);
    assert_eq!(row(&mut pane), before);
}

#[test]
fn the_cursor_stays_on_its_card_while_the_stream_grows_and_is_resized() {
    let mut pane = pane();
    pane.size.1 = 9;
    pane.update(StreamMsg::Card(-1));
    pane.update(StreamMsg::Card(-1));
    let before = pane.screen();
    for at in 0..30 {
        pane.bash(&format!("n{at}"), 1);
    }
    assert_eq!(pane.screen(), before);
    assert!(matches!(pane.state.status(), FollowStatus::Behind { new_lines: 25.. }), "{:?}", pane.state.status());
    pane.size.0 = 30;
    assert!(pane.marked()[0].starts_with("… I think."), "{:?}", pane.marked());
    pane.update(StreamMsg::Page(1));
    pane.update(StreamMsg::Page(1));
    assert_eq!(pane.marked().len(), 1, "out of the window it is the nearest card");
    pane.update(StreamMsg::End);
    assert_eq!(pane.marked(), [""; 0]);
    pane.update(StreamMsg::Top);
    assert!(pane.marked()[0].starts_with("── iteration 1"), "{:?}", pane.marked());
}

#[test]
fn what_is_read_in_a_long_text_is_read_after_a_resize() {
    let mut pane = Pane::new(60, 6);
    pane.start(1, "One", None);
    let words: Vec<String> = (0..600).map(|at| format!("word{at}")).collect();
    pane.push(1, &text(&words.join(" ")));
    pane.push(1, &text("after"));
    pane.update(StreamMsg::Top);
    pane.update(StreamMsg::Lines(40));
    let first = |pane: &mut Pane| -> usize {
        let row = pane.screen()[0].clone();
        row.split(' ').next().and_then(|word| word.strip_prefix("word")?.parse().ok()).unwrap()
    };
    let before = first(&mut pane);
    pane.size.0 = 33;
    let after = first(&mut pane);
    assert!(before.abs_diff(after) < 30, "{before} {after}");
}

#[test]
fn a_subagent_is_a_tree_under_its_call() {
    let mut pane = Pane::new(60, 12);
    pane.start(1, "One", None);
    pane.push(1, &call("t", "Task", json!({"description":"explore","prompt":"look around"})));
    pane.push(1, &within(text("I look."), "t"));
    pane.push(1, &within(call("u", "Task", json!({"description":"deeper","prompt":"p"})), "t"));
    pane.push(1, &within(call("s", "Bash", json!({"command":"rg Error"})), "u"));
    pane.push(1, &within(result("s", "found", json!({})), "u"));
    pane.push(1, &text("Done."));
    pane.prepare();
    assert!(!pane.screen().iter().any(|row| row.contains("I look.")));
    for _ in 0..2 {
        pane.update(StreamMsg::Card(-1));
    }
    pane.update(StreamMsg::Toggle);
    let rows = pane.walk();
    let at = |text: &str| rows.iter().find(|row| row.contains(text)).unwrap_or_else(|| panic!("{text}: {rows:?}"));
    assert!(at("I look.").starts_with("│ I look."));
    assert!(at("deeper").starts_with("│ ● Task") || at("deeper").starts_with("│ ▸ Task"), "{}", at("deeper"));
    assert!(at("rg Error").starts_with("│ │ ● Bash   rg Error"), "{}", at("rg Error"));
}
