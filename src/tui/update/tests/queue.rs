//! Tickets that wait to be started, on Home.

use super::*;
use crate::domain::ticket::Ticket;

/// Home with two tickets, of which one depends on the other.
fn home() -> Ui {
    let mut model = sample::model();
    for (id, deps) in [("tk-1", &[][..]), ("tk-2", &["tk-1"])] {
        let deps = deps.iter().map(|dep| (*dep).to_owned()).collect();
        let ticket = Ticket { deps, ..sample::ticket(id, id, &[("One", false, &[])]).as_ref().clone() };
        update(&mut model, Msg::News(News::TicketRead(sample::id(id), ticket.into())));
    }
    press(&mut model, "h");
    model.prepare();
    model
}

#[test]
fn several_are_one_start_and_one_whose_dependency_nobody_works_on_is_none() {
    let mut model = home();
    model.home.cursor = Some(sample::id("tk-2"));
    assert_eq!(press(&mut model, "s"), []);
    let told = model.toast.as_ref().map_or("", |(words, _)| words.as_str());
    assert_eq!(told, "tk-2 depends on tk-1: select both (v), then start");
    model.home.marked.extend([sample::id("tk-1"), sample::id("tk-2")]);
    let files = ["tk-1", "tk-2"].map(|id| sample::id(id).file().to_owned());
    assert_eq!(press(&mut model, "s y"), [Ask::Request(Request::StartAll(files.to_vec()))]);
}

#[test]
fn what_waits_says_why_and_can_be_taken_out() {
    let mut model = home();
    let ticket = sample::id("tk-2");
    let why = "queued behind 1 run (run.max_parallel)";
    update(&mut model, Msg::News(News::Queued(ticket.clone(), Some(why.into()))));
    let screen = sample::draw(&mut model, (200, 50));
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(at("WAITING") < at("queued behind 1 run (run.max_parallel)"));
    model.home.cursor = Some(ticket.clone());
    assert_eq!(press(&mut model, "s"), [Ask::Request(Request::Unqueue(vec![ticket.clone()]))]);
    update(&mut model, Msg::News(News::Queued(ticket.clone(), None)));
    model.toast = None;
    assert!(!sample::draw(&mut model, (200, 50)).contains(why));
    let refused = Refused { ticket: ticket.clone(), message: "no".into(), exit_code: 3, asked: None };
    update(&mut model, Msg::News(News::NotStarted(refused)));
    assert_eq!(model.tab_of(&ticket).unwrap().failure.as_deref(), Some("no"));
}

/// Home with these tickets waiting.
fn waiting(ids: &[&str]) -> Ui {
    let mut model = home();
    for id in ids {
        update(&mut model, Msg::News(News::Queued(sample::id(id), Some("after tk-9".into()))));
    }
    model.toast = None;
    model
}

#[test]
fn several_that_wait_are_taken_out_at_once() {
    let mut model = waiting(&["tk-1", "tk-2"]);
    let both = ["tk-1", "tk-2"].map(sample::id);
    model.home.marked.extend(both.clone());
    assert!(sample::draw(&mut model, (120, 40)).contains("s unqueue"));
    assert_eq!(press(&mut model, "s"), [Ask::Request(Request::Unqueue(both.to_vec()))]);
    assert!(model.home.marked.is_empty());
    // Where one of those that are selected can be started, that is meant.
    let mut model = waiting(&["tk-2"]);
    model.home.marked.extend(both);
    assert!(sample::draw(&mut model, (120, 40)).contains("s start"));
}

#[test]
fn what_waits_says_so_in_the_tickets_pane_and_x_takes_it_out() {
    let mut model = waiting(&["tk-2"]);
    model.tabs.push(sample::running("tk-7"));
    model.focus = crate::tui::panes::tickets::NAME;
    let narrow = sample::draw(&mut model, (120, 40));
    assert!(narrow.lines().any(|line| line.contains("tk-2") && line.contains("queued")), "{narrow}");
    let wide = sample::draw(&mut model, (200, 50));
    assert!(wide.lines().any(|line| line.contains("tk-2") && line.contains("after tk-9")), "{wide}");

    let at = model.open_tab(&sample::id("tk-2"));
    model.show_tab(at);
    let shown = sample::draw(&mut model, (120, 40));
    assert!(shown.contains("Queued: after tk-9") && !shown.contains("p      starts"), "{shown}");
    assert_eq!(press(&mut model, "p"), []);
    let told = model.toast.as_ref().map_or("", |(words, _)| words.as_str());
    assert_eq!(told, "tk-2 is queued: after tk-9; x removes it from the queue");
    assert_eq!(press(&mut model, "x"), [Ask::Request(Request::Unqueue(vec![sample::id("tk-2")]))]);
}

#[test]
fn the_queue_is_found_by_its_name_and_quitting_says_what_is_not_started() {
    let mut model = waiting(&["tk-2"]);
    model.focus = crate::tui::panes::stream::NAME;
    press(&mut model, ": q u e u e Space t i c k e t Enter");
    assert!(model.is_home() && model.home.cursor == Some(sample::id("tk-2")));
    assert_eq!(press(&mut model, "q"), []);
    let asked = sample::draw(&mut model, (120, 40));
    assert!(asked.contains("tk-2 is queued and will not be started."), "{asked}");
}

#[test]
fn a_dependency_without_a_file_and_a_circle_are_told_before_a_start() {
    let mut model = home();
    let read = |model: &mut Ui, id: &str, deps: &[&str]| {
        let deps = deps.iter().map(|dep| (*dep).to_owned()).collect();
        let ticket = Ticket { deps, ..sample::ticket(id, id, &[("One", false, &[])]).as_ref().clone() };
        update(model, Msg::News(News::TicketRead(sample::id(id), ticket.into())));
    };
    read(&mut model, "tk-3", &["tk-9"]);
    read(&mut model, "tk-1", &["tk-2"]);
    update(&mut model, Msg::Replied(Reply::Listed(sample::id("tk-1").folder().to_owned())));
    let screen = sample::draw(&mut model, (200, 50));
    let line = |id: &str| screen.lines().find(|line| line.contains(id)).unwrap().to_owned();
    assert!(line("tk-3").contains("depends on tk-9, which does not exist here"), "{screen}");
    assert!(!screen.contains("READY"), "{screen}");
    let told = |model: &mut Ui| {
        assert_eq!(press(model, "s"), []);
        model.toast.as_ref().map_or(String::new(), |(words, _)| words.clone())
    };
    model.home.cursor = Some(sample::id("tk-3"));
    assert_eq!(told(&mut model), "tk-3 depends on tk-9, which does not exist here: fix its deps");
    model.home.marked.extend(["tk-1", "tk-2"].map(sample::id));
    assert_eq!(told(&mut model), "tk-1: dependency cycle (tk-1 → tk-2 → tk-1): remove one of the deps");
}

#[test]
fn what_is_selected_and_not_shown_is_not_meant() {
    let mut model = home();
    model.home.marked.insert(sample::id("tk-2"));
    model.home.filter = "tk-1".to_owned();
    model.home.cursor = Some(sample::id("tk-1"));
    assert_eq!(press(&mut model, "s y"), [Ask::Request(Request::Start(sample::id("tk-1")))]);
    model.home.filter = "tk-2".to_owned();
    assert_eq!(press(&mut model, "s"), [], "it depends on the other");
}
