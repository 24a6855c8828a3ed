//! What is said and shown while a ticket is being opened, and where it would be refused.

use super::*;

#[test]
fn a_run_that_is_opened_comes_to_the_front_only_where_it_was_asked_for_last() {
    let mut model = sample::model();
    let opened = |ticket: &str| {
        let (run, ticket) = (sample::run(ticket), sample::id(ticket));
        Msg::News(News::RunOpened {
            ticket,
            run,
            earlier: 0,
            records: Vec::new(),
            owner: crate::domain::summary::Owner::Here,
        })
    };
    let replied =
        |asked: &str, ticket: &str| Msg::Replied(Reply::Opened { asked: asked.into(), ticket: sample::id(ticket) });
    let told = |model: &Ui| model.toast.as_ref().map(|(words, _)| words.clone());
    model.open("tk-1".into());
    model.open("plan.md".into());
    for ticket in ["tk-10", "tk-1"] {
        update(&mut model, opened(ticket));
    }
    update(&mut model, replied("tk-1", "tk-1"));
    assert_eq!((model.active, told(&model).as_deref()), (0, Some("plan.md is being opened")));
    update(&mut model, opened("fix-7"));
    update(&mut model, replied("plan.md", "fix-7"));
    assert_eq!((model.active, &model.opening, told(&model)), (2, &None, None));
    // The name of an open ticket is that one.
    let ticket = sample::ticket("tk-100", "Another", &[]);
    model.listed.insert(sample::id(ticket.id.as_str()), ticket);
    press(&mut model, "t");
    update(&mut model, Msg::Paste("tk-1".into()));
    assert_eq!((press(&mut model, "Enter"), model.active), (vec![], 1));
}

#[test]
fn while_the_first_ticket_is_being_opened_keys_say_so() {
    let mut model = sample::model();
    model.opening = Some("tk-1".into());
    press(&mut model, "x");
    assert_eq!(model.toast.as_ref().map(|(words, _)| words.as_str()), Some("tk-1 is being opened"));
    assert!(model.was_opening("tk-1"));
    assert_eq!(model.toast, None);
}

#[test]
fn no_key_promises_a_start_that_the_breaker_refuses() {
    let mut model = with_running();
    let (reason, detail) = (ExitReason::CircuitOpen, String::new());
    model.tabs[0].state.ended = Some(crate::orchestrator::state::Ended { reason, detail, is_left: false });
    model.tabs[0].state.breaker.state = Circuit::Open;
    model.tabs[0].state.breaker.opened_at = Some(model.now);
    assert!(!sample::draw(&mut model, (200, 50)).contains("p try again"));
    model.size = (120, 40);
    for key in ["p", "r"] {
        assert_eq!(press(&mut model, key), []);
        let told = model.toast.as_ref().map(|(words, _)| words.as_str());
        assert_eq!(told, Some("the circuit breaker of tk-1 is open; b closes it"), "{key}");
    }
}
