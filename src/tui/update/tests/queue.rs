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
    assert_eq!(press(&mut model, "s"), [Ask::Request(Request::Unqueue(ticket.clone()))]);
    update(&mut model, Msg::News(News::Queued(ticket.clone(), None)));
    model.toast = None;
    assert!(!sample::draw(&mut model, (200, 50)).contains(why));
    let refused = Refused { ticket: ticket.clone(), message: "no".into(), exit_code: 3, asked: None };
    update(&mut model, Msg::News(News::NotStarted(refused)));
    assert_eq!(model.tab_of(&ticket).unwrap().failure.as_deref(), Some("no"));
}
