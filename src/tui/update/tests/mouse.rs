//! What is clicked is what is seen.

use super::*;
use crate::domain::approval::{Answer, Approval, ApprovalKind, QuestionId, Scope as Reach};
use crate::domain::changes::{Diff, Hunk, Side};
use crate::tui::msg::{Gesture, Mouse};
use crate::tui::panes::{log, tickets};
use crate::tui::theme::looks::Looks;
use crate::tui::theme::surface::{Depth, Surface};

fn gesture(ui: &mut Ui, gesture: Gesture, x: u16, y: u16) -> Vec<Ask> {
    let mut asks = update(ui, Msg::Mouse(Mouse { gesture, x, y }));
    asks.retain(|ask| !matches!(ask, Ask::Request(Request::Changes(..))));
    asks
}

/// Where words are drawn.
fn place(ui: &mut Ui, words: &str) -> (u16, u16) {
    let screen = sample::draw(ui, ui.size);
    let found = screen.lines().enumerate().find_map(|(y, line)| Some((line[..line.find(words)?].chars().count(), y)));
    let (x, y) = found.unwrap_or_else(|| panic!("no {words}:\n{screen}"));
    (x as u16, y as u16)
}

fn click(ui: &mut Ui, words: &str) -> Vec<Ask> {
    let (x, y) = place(ui, words);
    gesture(ui, Gesture::Press, x, y)
}

fn busy_in(theme: &str) -> Ui {
    let mut ui = sample::busy();
    ui.size = (120, 40);
    ui.looks = Looks::new(theme, Vec::new(), Surface { depth: Depth::True, background: None, answers: false }).0;
    ui
}

fn busy() -> Ui {
    busy_in("dark")
}

#[test]
fn it_is_off_until_the_person_wants_it_and_kept() {
    let mut ui = busy();
    assert!(!ui.arrangement.mouse);
    assert_eq!(press(&mut ui, "m"), [Ask::Mouse(true), Ask::KeepArrangement]);
    assert!(ui.arrangement.mouse);
    assert_eq!(press(&mut ui, "m"), [Ask::Mouse(false), Ask::KeepArrangement]);
    assert!(!ui.arrangement.mouse);
}

#[test]
fn a_click_goes_to_a_pane_a_row_a_tab() {
    for theme in ["dark", "mono", "nord"] {
        let mut ui = busy_in(theme);
        click(&mut ui, "Token bucket");
        assert_eq!(ui.focus, tickets::NAME);
        assert_eq!(ui.phase_under_cursor().map(|id| id.0), Some(2), "{theme}: the row above is selected");
        click(&mut ui, "Metrics");
        assert_eq!(ui.phase_under_cursor().map(|id| id.0), Some(5), "{theme}: one below, tasks between");
        click(&mut ui, "2 tk-9c1d");
        assert_eq!(ui.active, 1);
        let (x, y) = place(&mut ui, "─ Log");
        gesture(&mut ui, Gesture::Press, x + 5, y + 2);
        assert_eq!(ui.focus, log::NAME);
    }
}

#[test]
fn a_click_on_the_words_of_a_key_presses_it() {
    let mut ui = busy();
    let (x, y) = place(&mut ui, "? help");
    gesture(&mut ui, Gesture::Press, x + 3, y);
    assert!(matches!(ui.modals.last(), Some(Modal::Help(_))));
    let before = sample::draw(&mut ui, (120, 40));
    gesture(&mut ui, Gesture::WheelDown, 60, 20);
    assert_ne!(sample::draw(&mut ui, (120, 40)), before, "the wheel scrolls the dialog");
    press(&mut ui, "Esc");
    assert!(gesture(&mut ui, Gesture::Press, 60, 20).is_empty() && ui.modals.is_empty());
}

/// Bold, as keys are.
#[test]
fn what_only_looks_like_a_key_is_none() {
    let mut ui = busy();
    ui.tabs[0].id = sample::id("x");
    let (x, y) = place(&mut ui, "▾ x");
    assert_eq!(gesture(&mut ui, Gesture::Press, x + 2, y), []);
    assert!(ui.modals.is_empty(), "a ticket's name stops nothing");
    assert_eq!(ui.focus, tickets::NAME);
}

/// A dialog with a call that waits, as it is after a while.
fn asked(kind: ApprovalKind, tool: &str, input: &serde_json::Value) -> Ui {
    let mut ui = busy();
    let asks = Approval { kind, ..sample::asks("c", tool, &input.to_string(), 1) };
    ui.tabs[0].state.approvals = vec![asks.into()];
    press(&mut ui, "!");
    sample::settle(&mut ui, "y");
    ui
}

/// The words of a plan, a question and a path may be bold, and be a key.
#[test]
fn what_others_say_in_a_dialog_is_no_key() {
    let plan = serde_json::json!({"plan": "# Plan\n\n**y** means yes\n\n┃ **y** ┃"});
    let mut ui = asked(ApprovalKind::Plan, "ExitPlanMode", &plan);
    for words in ["y means yes", "┃ y"] {
        let (x, y) = place(&mut ui, words);
        for x in x..x + 5 {
            assert_eq!(gesture(&mut ui, Gesture::Press, x, y), [], "{words}");
        }
    }
    let allowed = Answer::Allow { input: plan.to_string(), scope: Reach::Once };
    let answer = UserCommand::AnswerApproval { id: QuestionId::first("c"), answer: allowed };
    let yes = Ask::Request(Request::Command(sample::id("tk-4f2a"), answer));
    assert_eq!(click(&mut ui, "y approve"), [yes], "and the key is one");

    let options = serde_json::json!([{"label": "One", "description": ""}, {"label": "Two", "description": ""}]);
    let question = serde_json::json!({"questions": [{
        "question": "d is what?", "header": "H", "multiSelect": false, "options": options,
    }]});
    let mut ui = asked(ApprovalKind::Question, "AskUserQuestion", &question);
    let scope = |ui: &Ui| ui.modals.last().map(Modal::scope);
    let before = scope(&ui);
    click(&mut ui, "d is what?");
    assert_eq!(scope(&ui), before, "no reason for a no is asked for");
    click(&mut ui, "d deny");
    assert_ne!(scope(&ui), before);

    let mut ui = busy();
    press(&mut ui, "D j j j");
    let asks = press(&mut ui, "Enter");
    let [Ask::Request(Request::Diff(run, since, path))] = &asks[..] else { panic!("{asks:?}") };
    let hunks = vec![Hunk { old: 1, new: 1, lines: vec![(Side::Old, "gone".into())] }];
    let told = Reply::Diff(*run, since.clone(), path.clone(), Ok(Diff { hunks, cut: false }));
    update(&mut ui, Msg::Replied(told));
    click(&mut ui, "D src/http/old_limits.rs");
    assert!(matches!(ui.modals.last(), Some(Modal::Diff(_))), "a click on the title closes nothing");
}

/// What is behind a dialog has its keys elsewhere.
#[test]
fn a_dialog_is_not_answered_by_keys_behind_it() {
    let mut ui = busy();
    ui.show_tab(2);
    let again = place(&mut ui, "r run again");
    ui.modals.push(Modal::Matter(crate::tui::modals::matter::Matter {
        ticket: sample::id("tk-77aa"),
        what: crate::tui::attention::What::Dispute(PhaseId(1)),
    }));
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.lines().nth(again.1.into()).unwrap().contains("r run again"), "{screen}");
    assert_eq!(gesture(&mut ui, Gesture::Press, again.0, again.1), []);
    assert_eq!(click(&mut ui, "r retry").len(), 1);
}

#[test]
fn a_click_in_a_dialog_selects_the_row() {
    let mut ui = busy();
    press(&mut ui, "T");
    click(&mut ui, "nord");
    assert_eq!(ui.looks.name(), "nord");
    click(&mut ui, "catppuccin-dark");
    assert_eq!(ui.looks.name(), "catppuccin-dark", "the theme has changed on the way");
    gesture(&mut ui, Gesture::Press, 60, 0);
    assert_eq!(ui.looks.name(), "catppuccin-dark", "a click beside it does nothing");
}

#[test]
fn the_wheel_scrolls_what_is_under_it_and_leaves_the_focus() {
    let mut ui = busy();
    ui.focus = tickets::NAME;
    let (x, y) = place(&mut ui, "─ Log");
    let log =
        |ui: &mut Ui| sample::draw(ui, ui.size).lines().skip(usize::from(y)).map(str::to_owned).collect::<Vec<_>>();
    let before = log(&mut ui);
    for _ in 0..2 {
        gesture(&mut ui, Gesture::WheelUp, x + 5, y + 1);
    }
    let after = log(&mut ui);
    assert_ne!(before, after, "the Log moved");
    assert_eq!(ui.focus, tickets::NAME);
    gesture(&mut ui, Gesture::WheelUp, x + 5, y.saturating_sub(2));
    gesture(&mut ui, Gesture::WheelDown, x + 5, 5);
    assert_eq!(log(&mut ui), after, "only what is under the wheel moves");
}
