//! Which pane has the focus.

use super::*;
use crate::domain::summary::{Owner, RunState};
use crate::domain::ticket::draft::Draft;

#[test]
fn home_is_gone_to_and_left_by_keys_and_its_row_is_what_keys_mean() {
    let mut model = sample::busy();
    let (first, fourth) = (model.tabs[0].id.clone(), model.tabs[3].id.clone());
    assert_eq!(press(&mut model, "h"), [Ask::Request(Request::ListTickets)]);
    model.prepare();
    assert_eq!((model.is_home(), model.home.cursor.as_ref()), (true, Some(&first)));
    model.home.cursor = Some(fourth.clone());
    assert_eq!(press(&mut model, "p"), [Ask::Request(Request::Command(fourth.clone(), UserCommand::Resume))]);
    press(&mut model, "Enter");
    assert_eq!((model.focus, model.active), (panes::stream::NAME, 3));
    press(&mut model, "h");
    model.home.cursor = Some(first.clone());
    press(&mut model, "Esc");
    assert_eq!((model.focus, model.active), (panes::stream::NAME, 3), "back to where it was");
    press(&mut model, "h 1");
    assert_eq!((model.focus, model.active), (panes::stream::NAME, 0));
    let listed = model.listed.keys().find(|id| model.tab_of(id).is_none()).cloned().unwrap();
    press(&mut model, "h");
    model.home.cursor = Some(listed.clone());
    assert_eq!(press(&mut model, "s"), [], "nothing is spent by accident");
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("1 open phase, profile"), "{screen}");
    assert_eq!(press(&mut model, "y"), [Ask::Request(Request::Start(listed.clone()))]);
    assert_eq!(press(&mut model, "e"), [Ask::Edit(listed)]);
    assert_eq!(press(&mut model, "p"), [], "no key is obeyed for another ticket");
    assert!(model.toast.as_ref().is_some_and(|(words, _)| words.contains("Enter opens")), "{:?}", model.toast);
}

#[test]
fn a_run_of_another_program_is_read_when_it_is_opened_from_home() {
    let mut model = sample::model();
    model.folder = "/w".into();
    let seen = sample::seen("tk-9", "/w");
    let elsewhere = sample::seen("tk-8", "/elsewhere");
    for run in [&seen, &elsewhere] {
        update(&mut model, Msg::News(News::RunSeen(Arc::new(run.clone()))));
    }
    model.focus = crate::tui::home::NAME;
    model.prepare();
    assert_eq!(model.home.cursor.as_ref(), Some(&seen.key()));
    assert_eq!(press(&mut model, "j Enter"), [Ask::Request(Request::Show(seen.run))], "the other is elsewhere");
    assert_eq!(model.tab().map(|tab| &tab.id), Some(&seen.key()));
    let newer = crate::domain::summary::RunSummary {
        run: sample::run("newer"),
        started: sample::NOW,
        needs: Some("Bash make".into()),
        ..seen.clone()
    };
    (model.tabs[0].run, model.tabs[0].owner) = (Some(seen.run), Owner::Another);
    model.tabs[0].state.started = Some(seen.started);
    update(&mut model, Msg::News(News::RunSeen(Arc::new(newer.clone()))));
    press(&mut model, "h");
    assert!(sample::draw(&mut model, (120, 40)).contains("Bash make"));
    assert_eq!(press(&mut model, "Enter"), [Ask::Request(Request::Show(newer.run))], "a newer one takes its place");
    press(&mut model, "h o");
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("tk-8"), "{screen}");
}

#[test]
fn a_ticket_that_was_opened_before_its_run_was_seen_shows_that_run() {
    let mut model = sample::model();
    model.folder = "/w".into();
    let seen = sample::seen("tk-9", "/w");
    let at = model.open_tab(&seen.key());
    model.show_tab(at);
    let asks = update(&mut model, Msg::News(News::RunSeen(Arc::new(sample::seen("tk-8", "/w")))));
    assert_eq!(asks, [], "another ticket's");
    let asks = update(&mut model, Msg::News(News::RunSeen(Arc::new(seen.clone()))));
    assert_eq!(asks, [Ask::Request(Request::Show(seen.run))]);
    model.tabs[at].run = Some(seen.run);
    assert_eq!(update(&mut model, Msg::News(News::RunSeen(Arc::new(seen)))), [], "it is shown");
}

#[test]
fn the_focus_goes_round_all_panes() {
    let mut model = with_running();
    model.size = (80, 24);
    model.focus = panes::tickets::NAME;
    let mut seen = Vec::new();
    for _ in 0..5 {
        press(&mut model, "Tab");
        seen.push(model.focus);
    }
    let changes = crate::tui::changes::NAME;
    assert_eq!(seen, [panes::stream::NAME, changes, panes::gauges::NAME, panes::log::NAME, panes::tickets::NAME]);
    model.size = (120, 40);
    press(&mut model, "Tab Tab Tab");
    assert_eq!(model.focus, panes::gauges::NAME);
    press(&mut model, "BackTab BackTab");
    assert_eq!(model.focus, panes::stream::NAME);
}

#[test]
fn of_lines_pasted_as_a_title_the_rest_is_the_text() {
    let mut form = crate::tui::modals::draft::Form::new(&Draft::default());
    assert!(form.pasted("\nFaster start\n\nIt takes 3 s.\nIt should take 1."));
    assert_eq!(
        (form.draft().title, form.draft().text),
        ("Faster start".into(), "It takes 3 s.\nIt should take 1.".into())
    );
}

#[test]
fn a_new_ticket_is_typed_kept_and_written() {
    let mut model = sample::model();
    model.focus = crate::tui::home::NAME;
    assert_eq!(press(&mut model, "n"), [Ask::Request(Request::Suggest)]);
    assert_eq!(press(&mut model, "Ctrl-s"), [], "it has no title");
    assert!(sample::draw(&mut model, (80, 24)).contains("A ticket needs a title."));
    press(&mut model, "F i x Enter Tab A Enter B Esc");
    assert!(model.modals.is_empty());
    press(&mut model, "n");
    update(
        &mut model,
        Msg::Replied(Reply::Suggested { checks: vec!["make".into(), "make lint".into()], templates: Vec::new() }),
    );
    // Each completes the line that is begun.
    press(&mut model, "Ctrl-n Ctrl-n Ctrl-n");
    let draft = Draft {
        title: "Fix".into(),
        text: String::new(),
        phases: vec!["A".into(), "B".into()],
        validation: vec!["make lint".into()],
        ..Draft::default()
    };
    assert_eq!(press(&mut model, "Ctrl-r"), [Ask::Request(Request::Create(draft.clone()))]);
    assert_eq!(press(&mut model, "Ctrl-r"), [], "it is being written");
    update(&mut model, Msg::Replied(Reply::Created(Err("the disk is full".into()))));
    assert!(sample::draw(&mut model, (60, 15)).contains("the disk is full"));
    assert_eq!(press(&mut model, "Ctrl-r"), [Ask::Request(Request::Create(draft))], "nothing is lost");
    let id = sample::id("tk-1");
    let asks = update(&mut model, Msg::Replied(Reply::Created(Ok(id.clone()))));
    assert_eq!((asks, model.home.cursor.as_ref()), (Vec::new(), Some(&id)), "what it may cost is said first");
    assert_eq!(press(&mut model, "y"), [Ask::Request(Request::Start(id))]);
    assert!(model.modals.is_empty());
}

/// Home with a run of another program that was opened there.
fn with_anothers() -> (Ui, crate::domain::summary::RunSummary) {
    let mut model = sample::model();
    model.folder = "/home/ann/shop".into();
    let mut tab = sample::running("tk-1");
    (tab.owner, tab.run) = (Owner::Another, Some(sample::run("tk-1")));
    tab.state.approvals.push(sample::push("c").into());
    model.tabs.push(tab);
    let seen =
        crate::domain::summary::RunSummary { run: sample::run("tk-1"), ..sample::seen("tk-1", "/home/ann/shop") };
    update(&mut model, Msg::News(News::RunSeen(Arc::new(seen.clone()))));
    (model, seen)
}

#[test]
fn a_run_that_another_program_works_on_obeys_here_and_is_not_worked_on() {
    let (mut model, seen) = with_anothers();
    assert_eq!((model.waiting(), model.anything_active()), (1, false), "its questions are asked here, too");
    for (keys, wanted) in [("p", UserCommand::Pause), ("P", UserCommand::PauseNow), ("x y", UserCommand::Stop)] {
        let asked = Ask::Request(Request::Command(sample::id("tk-1"), wanted));
        assert_eq!(press(&mut model, keys), [asked], "{keys}");
    }
    for key in ["c", "e"] {
        let asks = press(&mut model, key);
        assert!(!asks.iter().any(|ask| matches!(ask, Ask::Request(_))), "{key}: {asks:?}");
    }
    press(&mut model, "h");
    model.prepare();
    assert_eq!(press(&mut model, "s"), [], "it is not started twice");
    assert!(model.modals.is_empty());
    let gone = crate::domain::summary::RunSummary { state: RunState::Interrupted, ..seen };
    update(&mut model, Msg::News(News::RunSeen(Arc::new(gone))));
    assert_eq!(model.standing(&model.tabs[0]), TabStatus::Stopped, "its program is gone");
    press(&mut model, "Enter");
    assert_eq!(press(&mut model, "p"), [Ask::Request(Request::Start(sample::id("tk-1")))]);
    assert_eq!(press(&mut model, "q"), [Ask::Leave]);
}

#[test]
fn a_run_of_another_directory_is_not_worked_on_here() {
    let (mut model, seen) = with_anothers();
    model.folder = "/elsewhere".into();
    let ended = crate::domain::summary::RunSummary { state: RunState::Interrupted, ..seen };
    update(&mut model, Msg::News(News::RunSeen(Arc::new(ended))));
    assert_eq!(press(&mut model, "p"), []);
    assert!(model.toast.as_ref().is_some_and(|(words, _)| words.contains("belongs to /home/ann/shop")));
    press(&mut model, "h o");
    model.prepare();
    assert_eq!(press(&mut model, "s"), []);
    assert!(model.modals.is_empty());
}

#[test]
fn nothing_takes_the_place_of_a_run_that_this_program_works_on() {
    let mut model = with_running();
    let (ours, run) = (model.tabs[0].run, sample::run("another"));
    let shown = |owner| News::RunOpened { ticket: sample::id("tk-1"), run, earlier: 0, records: Vec::new(), owner };
    update(&mut model, Msg::News(shown(Owner::Another)));
    assert_eq!((model.tabs[0].run, model.tabs[0].owner), (ours, Owner::Here));
    update(&mut model, Msg::News(shown(Owner::Here)));
    assert_eq!(model.tabs[0].run, Some(run));
}

#[test]
fn a_filter_is_seen_keeps_the_selected_row_and_is_cleared_by_esc() {
    let mut model = sample::busy();
    model.folder = "/w".into();
    press(&mut model, "h");
    let wanted = sample::id("tk-77aa");
    model.home.cursor = Some(wanted.clone());
    press(&mut model, "/ 7 7 Enter");
    let screen = sample::draw(&mut model, (80, 24));
    assert!(screen.contains("only “77”") && !screen.contains("tk-9c1d"), "{screen}");
    press(&mut model, "Esc");
    let screen = sample::draw(&mut model, (80, 24));
    assert!(model.is_home() && screen.contains("tk-9c1d") && screen.contains("/w"), "{screen}");
    assert_eq!(model.home.cursor, Some(wanted), "it stays where it was");
    press(&mut model, "G");
    let last = model.home.cursor.clone();
    press(&mut model, "j");
    assert_eq!(model.home.cursor, last);
    press(&mut model, "g");
    assert_ne!(model.home.cursor, last);
}
