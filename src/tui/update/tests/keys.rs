//! Counts, keys that are two, and keys that are asked about.

use super::*;
use crate::domain::answerer::Answerer;
use crate::domain::record::PhaseByPerson;
use crate::tui::command;
use crate::tui::keys::Pressed;

#[test]
fn a_digit_goes_to_a_tab_or_counts_and_zero_always_counts() {
    let lines = |model: &mut Ui, keys: &str| {
        press(model, &format!("? g {keys}"));
        let screen = sample::draw(model, (80, 24));
        press(model, "Esc");
        screen
            .lines()
            .find_map(|line| line.split_once(" more ↑"))
            .map_or(0, |(before, _)| before.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
    };
    let mut model = with_running();
    sample::draw(&mut model, (80, 24));
    assert_eq!(lines(&mut model, "9 9 9 j"), lines(&mut model, "G"), "a count counts in a list too");
    // One tab: a digit can mean no other.
    press(&mut model, "3");
    assert_eq!((model.pressed.count, model.active), (Some(3), 0));
    assert!(sample::draw(&mut model, (80, 24)).lines().last().unwrap().contains("3 …"));
    press(&mut model, "Esc");
    assert_eq!(model.pressed, Pressed::default());
    for id in ["tk-2", "tk-3", "tk-4"] {
        model.tabs.push(sample::running(id));
    }
    press(&mut model, "3");
    assert_eq!((model.pressed.count, model.active), (None, 2));
    press(&mut model, "Alt-1");
    assert_eq!(model.active, 0);
    press(&mut model, "0 3 ]");
    assert_eq!((model.active, model.pressed.count), (3, None));
    // What does not move is done once.
    assert_eq!(press(&mut model, "0 5 p").len(), 1);
}

#[test]
fn two_keys_make_one_command_and_the_footer_shows_the_first() {
    let text = "global:\n  tab.next: g n\n  run.pause: F5\n  tab.previous: null\n";
    let file = crate::config::FileText { path: "keys.yaml".into(), text: text.into() };
    let mut model = with_running();
    model.tabs.push(sample::running("tk-2"));
    model.keys = command::keys_file::read(&file).unwrap();
    let footer = |model: &mut Ui| sample::draw(model, (120, 40)).lines().last().unwrap().to_owned();
    assert!(footer(&mut model).contains("F5 pause"), "{}", footer(&mut model));
    press(&mut model, "g");
    assert!(footer(&mut model).starts_with(" g …"), "{}", footer(&mut model));
    press(&mut model, "n");
    assert_eq!(model.active, 1);
    press(&mut model, "g Esc n");
    assert_eq!(model.active, 1, "what was begun was left");
    assert_eq!(press(&mut model, "g p"), [], "no second key of these");
    press(&mut model, "?");
    let screen = sample::draw(&mut model, (80, 160));
    assert!(screen.contains("  g n          next tab") && screen.contains("  –            previous tab"), "{screen}");
}

#[test]
fn enter_is_no_yes_where_work_is_lost() {
    let mut model = with_running();
    for keys in ["x Enter", "Enter"] {
        assert_eq!(press(&mut model, keys), []);
        assert_eq!(model.modals.len(), 1, "it goes on asking");
    }
}

#[test]
fn a_quit_at_the_end_of_the_iteration_can_be_taken_back() {
    let mut model = with_running();
    assert_eq!(press(&mut model, "q f"), [Ask::Request(Request::Close(Closing::AfterIteration))]);
    assert_eq!((press(&mut model, "q Esc"), model.quitting), (command(UserCommand::Resume), None));
    assert_eq!(press(&mut model, "q Esc"), [], "nothing to take back");
    model.tabs[0].state.approvals.push(Arc::new(sample::asks("q", "Bash", "{}", 1)));
    press(&mut model, "q");
    assert!(sample::draw(&mut model, (120, 40)).contains("needs your answer first"));
}

#[test]
fn the_footer_of_a_narrow_screen_keeps_run_again_once_a_run_has_ended() {
    let mut model = with_running();
    let (reason, detail) = (ExitReason::CircuitOpen, String::new());
    model.tabs[0].state.ended = Some(crate::orchestrator::state::Ended { reason, detail, is_left: false });
    let screen = sample::draw(&mut model, (80, 24));
    let footer = screen.lines().last().unwrap();
    assert!(footer.contains("! needs you") && footer.contains("r run again") && footer.contains("p "), "{screen}");
}

fn skipped(phase: u32) -> Record {
    Record::PhaseSkipped(OfPhase { phase: format!("phase {phase}"), id: Some(PhaseId(phase)) })
}

fn comes(model: &mut Ui, seq: u64, record: Record) {
    let stored = sample::stored("tk-1", seq, record);
    update(model, Msg::News(News::Recorded(Arc::new(stored))));
}

#[test]
fn u_in_home_takes_back_no_phase_of_the_run_behind_it() {
    let mut model = with_running();
    comes(&mut model, 900, skipped(2));
    press(&mut model, "h");
    assert!(model.is_home());
    assert_eq!(press(&mut model, "u"), []);
    assert!(model.toast.is_some());
}

#[test]
fn what_is_being_taken_back_is_taken_back_once_and_told_when_it_is() {
    let mut model = with_running();
    comes(&mut model, 900, skipped(1));
    comes(&mut model, 901, skipped(2));
    let undone = UserCommand::RetryPhase { phase: PhaseId(2) };
    let words = |model: &Ui| model.toast.as_ref().map_or_else(String::new, |(words, _)| words.clone());
    assert_eq!(press(&mut model, "u"), command(undone.clone()));
    assert!(!words(&model).contains("reopened"), "{}", words(&model));
    assert_eq!(press(&mut model, "u"), [], "it is on its way");
    let of = OfPhase { phase: "phase 2".into(), id: Some(PhaseId(2)) };
    comes(&mut model, 902, Record::PhaseReopened(PhaseByPerson { of, by: Answerer::SCREEN, why: None }));
    assert_eq!(words(&model), "“phase 2” reopened");
    update(&mut model, Msg::Replied(Reply::Decided { ticket: sample::id("tk-1"), command: undone }));
    assert_eq!(press(&mut model, "u"), command(UserCommand::RetryPhase { phase: PhaseId(1) }));
    // The run has said no.
    let command_of_1 = UserCommand::RetryPhase { phase: PhaseId(1) };
    update(&mut model, Msg::Replied(Reply::Decided { ticket: sample::id("tk-1"), command: command_of_1 }));
    assert_eq!(press(&mut model, "u").len(), 1, "it can be tried again");
}
