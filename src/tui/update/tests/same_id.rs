//! Tickets of one id in two directories, and runs that pass from one program to another.

use super::*;
use crate::base::id::RunId;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::tui::tab::Tab;

const ELSEWHERE: &str = "/elsewhere";

/// Home of /home/ann/shop with `o`, where tk-1 is ready, and is run by another program elsewhere.
fn two_of_one_id() -> (Ui, TicketKey, RunSummary) {
    let mut model = sample::model();
    model.folder = "/home/ann/shop".into();
    let here = sample::id("tk-1");
    let file = sample::ticket("tk-1", "Ready here", &[("One", false, &[])]);
    update(&mut model, Msg::News(News::TicketRead(here.clone(), file)));
    let other = RunSummary { needs: Some("Bash make".into()), ..sample::seen("tk-1", ELSEWHERE) };
    update(&mut model, Msg::News(News::RunSeen(Arc::new(other.clone()))));
    press(&mut model, "h o");
    model.prepare();
    (model, here, other)
}

fn opened(ticket: &TicketKey, run: RunId, owner: Owner) -> Msg {
    Msg::News(News::RunOpened { ticket: ticket.clone(), run, earlier: 0, records: Vec::new(), owner })
}

#[test]
fn each_row_at_home_is_one_file_and_keys_act_on_that_file() {
    let (mut model, here, other) = two_of_one_id();
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("Ready here") && screen.contains("Bash make"), "{screen}");
    model.home.cursor = Some(here.clone());
    let [Ask::Request(Request::Start(started))] = &press(&mut model, "s y")[..] else { panic!("it is not started") };
    assert_eq!(started.file(), here.file());
    model.home.cursor = Some(other.key());
    assert_eq!(press(&mut model, "s"), [], "the other is not of this directory");
    assert_eq!(press(&mut model, "Enter"), [Ask::Request(Request::Show(other.run))]);
    update(&mut model, opened(&other.key(), other.run, Owner::Another));
    update(&mut model, opened(&here, sample::run("here"), Owner::Here));
    let tabs: Vec<_> = model.tabs.iter().map(|tab| (tab.id.file(), tab.run)).collect();
    let expected = [(other.key(), other.run), (here, sample::run("here"))];
    let expected: Vec<_> = expected.iter().map(|(key, run)| (key.file(), Some(*run))).collect();
    assert_eq!(tabs, expected, "neither takes the place of the other");
}

#[test]
fn an_id_opens_the_ticket_of_this_directory() {
    let (mut model, here, other) = two_of_one_id();
    update(&mut model, opened(&other.key(), other.run, Owner::Another));
    let shown = model.tabs.len();
    for _ in 0..2 {
        assert_eq!(model.open(here.as_str().to_owned()), [], "it is shown, and nothing starts");
        assert_eq!(model.tabs.len(), shown + 1);
    }
    assert_eq!(model.tabs[model.active].id.file(), here.file());
    assert_eq!(model.open(other.key().file().to_owned()), []);
    assert_eq!(model.tabs[model.active].id.file(), other.key().file());
}

#[test]
fn a_question_is_answered_to_the_file_that_asked() {
    let (mut model, here, other) = two_of_one_id();
    update(&mut model, opened(&other.key(), other.run, Owner::Another));
    update(&mut model, opened(&here, sample::run("tk-1"), Owner::Here));
    let at = model.tabs.iter().position(|tab| tab.id == here).unwrap();
    model.tabs.swap(0, at);
    model.tabs[0].state.approvals.push(sample::push("c").into());
    model.home.cursor = Some(here.clone());
    let asks = press(&mut model, "! y");
    let [Ask::Request(Request::Command(asked, UserCommand::AnswerApproval { .. }))] = &asks[..] else {
        panic!("{asks:?}")
    };
    assert_eq!(asked.file(), here.file());
}

#[test]
fn a_run_that_this_program_has_gone_on_with_is_not_taken_for_anothers() {
    let (mut model, here, _) = two_of_one_id();
    let run = sample::run("tk-1");
    update(&mut model, opened(&here, run, Owner::Here));
    // What was asked of the store before comes behind it.
    update(&mut model, opened(&here, run, Owner::Another));
    let tab = model.tabs.iter().find(|tab| tab.id == here).unwrap();
    assert_eq!(tab.owner, Owner::Here);
}

#[test]
fn who_works_on_a_run_is_what_was_heard_last() {
    let mut model = with_running();
    let run = model.tabs[0].run.unwrap();
    model.folder = "/home/ann/shop".into();
    let seen = |state, updated| {
        let seen = RunSummary { run, state, updated, ..sample::seen("tk-1", "/home/ann/shop") };
        Msg::News(News::RunSeen(Arc::new(seen)))
    };
    assert_eq!(update(&mut model, seen(RunState::Running, sample::NOW)), [], "it is ours");
    assert_eq!(model.tabs[0].owner, Owner::Here);
    let reason = ExitReason::UserStopped;
    let ended =
        Record::RunEnded { reason, detail: String::new(), iterations: 1, phases_done: 1, phases: 1, cost_usd: 0.0 };
    update(&mut model, Msg::News(News::Recorded(sample::stored("tk-1", 41, ended).into())));
    assert_eq!(update(&mut model, seen(RunState::Running, sample::ago(1))), [], "that was before its end");
    assert!(!model.tabs[0].is_only_shown());
    let later = sample::NOW.plus(std::time::Duration::from_secs(5));
    let goes_on = update(&mut model, seen(RunState::Running, later));
    assert_eq!(goes_on, [Ask::Request(Request::Show(run))], "another program goes on with it: it is followed");
    assert_eq!(press(&mut model, "p"), [], "what it does is not told yet");
    let told = model.toast.as_ref().map_or("", |(words, _)| words.as_str());
    assert!(told.contains("in another process"), "{told}");
    let key = model.tabs[0].id.clone();
    update(&mut model, opened(&key, run, Owner::Another));
    update(&mut model, seen(RunState::Interrupted, later));
    assert!(model.tabs.iter().all(Tab::is_interrupted), "its program is gone");
}
