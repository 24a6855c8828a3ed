//! Keys that cannot act, those that ask before they do, and names that nothing has.

use super::*;

#[test]
fn a_tick_of_the_running_phase_asks_first() {
    let mut model = with_running();
    model.focus = panes::tickets::NAME;
    let running = model.tabs[0].state.open_iteration().and_then(|open| open.phase).unwrap();
    assert_eq!(press(&mut model, "d"), []);
    assert!(sample::draw(&mut model, (120, 40)).contains("Tick the running phase"));
    assert_eq!(press(&mut model, "n d y"), command(UserCommand::TickPhase { phase: running }));
}

#[test]
fn no_key_is_silent() {
    let told = |model: &mut Ui, key: &str| {
        model.toast = None;
        assert_eq!(press(model, key), []);
        model.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default()
    };
    let mut model = sample::model();
    for key in "p P s r i x b c e".split(' ') {
        assert_eq!(told(&mut model, key), "no ticket is open; t opens one", "{key}");
    }
    let mut model = with_running();
    assert!(told(&mut model, "r").contains("nothing to retry"));
    assert_eq!(told(&mut model, "b"), "the circuit breaker is closed and at zero");
    assert_eq!(told(&mut model, "]"), "only one ticket is open");
    assert_eq!(told(&mut model, "!"), "nothing is waiting for you");
    assert_eq!(told(&mut model, "X"), "X does nothing here; ? lists the keys");
    model.tabs[0] = sample::finished("tk-1");
    for key in "s i x P p".split(' ') {
        let words = "tk-1 is complete; r runs it again";
        assert_eq!(told(&mut model, key), words, "{key}");
    }
    model.tabs[0] = sample::guarded("tk-1");
    assert_eq!(told(&mut model, "x"), "the run of tk-1 has ended; p starts it again");
    model.mode = crate::tui::model::Mode::Replay;
    assert_eq!(told(&mut model, "x"), "not available in a replay");
}

#[test]
fn on_home_it_is_said_where_the_keys_of_an_ended_run_are() {
    let mut ui = sample::model();
    ui.tabs.push(sample::finished("tk-1"));
    ui.focus = crate::tui::home::NAME;
    (ui.home.cursor, ui.home.is_chosen) = (Some(sample::id("tk-1")), true);
    for (key, words) in [("c", "there c commits what"), ("M", "there M lets Claude resolve"), ("W", "there W opens")] {
        ui.toast = None;
        assert_eq!(press(&mut ui, key), []);
        let told = ui.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
        assert!(told.contains(words), "{key}: {told}");
    }
}

#[test]
fn a_commit_is_offered_as_long_as_something_may_be_left_to_commit() {
    let mut ui = sample::model();
    ui.tabs.push(sample::finished("tk-1"));
    let offers = |ui: &mut Ui| sample::draw(ui, (120, 40)).matches("c commit").count();
    assert_eq!(offers(&mut ui), 2, "card and footer");
    ui.tabs[0].state.commits.last = Some("0123456789".into());
    assert_eq!(offers(&mut ui), 0);
    ui.tabs[0].state.commits.refused = Some("a hook".into());
    assert_eq!(offers(&mut ui), 2);
    ui.tabs[0].state.is_merged = true;
    assert_eq!(offers(&mut ui), 0);
}

#[test]
fn boxes_are_not_unticked_for_a_start_that_the_breaker_would_refuse() {
    use crate::domain::breaker::Breaker;
    let mut ui = sample::model();
    let mut tab = sample::finished("tk-1");
    tab.state.breaker = Breaker { state: Circuit::Open, opened_at: Some(sample::NOW), ..Breaker::default() };
    ui.tabs.push(tab);
    assert_eq!(press(&mut ui, "r"), []);
    assert!(ui.modals.is_empty());
    assert!(ui.toast.as_ref().is_some_and(|(words, _)| words.contains("open; b closes it")), "{:?}", ui.toast);
}

#[test]
fn a_start_that_is_refused_after_its_boxes_were_unticked_says_so() {
    let mut ui = sample::model();
    ui.tabs.push(sample::finished("tk-1"));
    let asks = update(&mut ui, Msg::Replied(Reply::Reopened(sample::id("tk-1"))));
    assert_eq!(asks[..1], [Ask::Request(Request::Start(sample::id("tk-1")))]);
    let refused = |message: &str| {
        let message = message.to_owned();
        Msg::Replied(Reply::Refused(Refused { ticket: sample::id("tk-1"), message, exit_code: 1, asked: None }))
    };
    update(&mut ui, refused("no"));
    assert_eq!(ui.tabs[0].failure.as_deref(), Some("no · its boxes are unticked: reopened"));
    update(&mut ui, refused("no"));
    assert_eq!(ui.tabs[0].failure.as_deref(), Some("no"), "said once");
}

#[test]
fn a_complete_run_whose_file_has_open_phases_again_is_as_the_file_says() {
    let mut model = sample::model();
    let mut tab = sample::finished("tk-1");
    tab.state.phases.iter_mut().for_each(|phase| phase.ticked = true);
    tab.state.phases[4].ticked = false;
    let texts: Vec<String> = tab.state.phases.iter().map(|phase| phase.text.clone()).collect();
    model.tabs.push(tab);
    let read = |model: &mut Ui, open: &[usize]| {
        let phases: Vec<_> =
            texts.iter().enumerate().map(|(at, text)| (text.as_str(), !open.contains(&at), &[][..])).collect();
        update(model, Msg::News(News::TicketRead(sample::id("tk-1"), sample::ticket("tk-1", "T", &phases))));
    };
    read(&mut model, &[4]);
    assert_eq!(model.tabs[0].standing(), TabStatus::Complete, "the run left that box empty itself");
    read(&mut model, &[1, 4]);
    assert_eq!((model.tabs[0].standing(), model.tabs[0].progress()), (TabStatus::NotStarted, (4, 6)));
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("2 of 6 phases open in the file"), "{screen}");
    assert_eq!(press(&mut model, "p"), [Ask::Request(Request::Start(sample::id("tk-1")))]);
    read(&mut model, &[4]);
    assert_eq!(model.tabs[0].standing(), TabStatus::Complete);
}

#[test]
fn a_complete_run_that_left_a_phase_out_says_so_and_another_works_on_it() {
    let mut model = sample::model();
    let mut tab = sample::finished("tk-1");
    tab.state.phases[3].mark = crate::domain::phase::Mark::Skipped;
    model.tabs.push(tab);
    let screen = sample::draw(&mut model, (120, 40));
    assert!(
        screen.contains("complete: 5/6 phases, 1 skipped\n") || screen.contains("complete: 5/6 phases, 1 skipped "),
        "{screen}"
    );
    assert!(screen.contains("r run again") && !screen.contains("p start"), "{screen}");
    for key in ["p", "r"] {
        assert_eq!(press(&mut model, key), [Ask::Request(Request::Start(sample::id("tk-1")))], "{key}");
    }
    assert_eq!(press(&mut model, "s"), []);
    assert!(model.toast.as_ref().is_some_and(|(words, _)| words == "tk-1 is complete; p runs the skipped phases"));
}

#[test]
fn a_start_closes_a_ticket_whose_phases_were_all_ticked_though_its_breaker_is_open() {
    let mut model = sample::model();
    let mut tab = sample::finished("tk-1");
    tab.state.ended.as_mut().unwrap().reason = ExitReason::CircuitOpen;
    tab.state.breaker.state = crate::domain::breaker::Circuit::Open;
    model.tabs.push(tab);
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("all phases are done") && screen.contains("r close the ticket"), "{screen}");
    assert_eq!(press(&mut model, "p"), [Ask::Request(Request::Start(sample::id("tk-1")))]);
}

#[test]
fn a_ticket_without_phases_is_opened_again_by_its_status() {
    use crate::domain::ticket::TicketStatus;
    let mut model = sample::model();
    let mut tab = sample::finished("tk-1");
    tab.state.phases.clear();
    tab.state.ticket_status = Some(TicketStatus::Closed);
    model.tabs.push(tab);
    let read = |model: &mut Ui, status| {
        let file = crate::domain::ticket::Ticket { status, ..sample::ticket("tk-1", "T", &[]).as_ref().clone() };
        update(model, Msg::News(News::TicketRead(sample::id("tk-1"), std::sync::Arc::new(file))));
    };
    read(&mut model, Some(TicketStatus::Closed));
    assert_eq!((model.tabs[0].standing(), press(&mut model, "p")), (TabStatus::Complete, vec![]));
    assert!(model.toast.as_ref().is_some_and(|(words, _)| words == "tk-1 is complete; r runs it again"));
    read(&mut model, Some(TicketStatus::Open));
    assert_eq!(model.tabs[0].standing(), TabStatus::NotStarted);
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("reopened in the file since"), "{screen}");
    assert_eq!(press(&mut model, "p"), [Ask::Request(Request::Start(sample::id("tk-1")))]);
}

#[test]
fn a_queued_ticket_names_the_one_that_holds_the_folder() {
    let mut model = sample::model();
    let mut queued = ["tk-1", "tk-2"].map(sample::running);
    for tab in &mut queued {
        let holder = Some("programmator (pid 7, ticket tk-0)".to_owned());
        (tab.state.stage, tab.state.has_tree) = (crate::orchestrator::state::Stage::AwaitingTree { holder }, false);
        tab.state.iteration = None;
    }
    queued[1].state.stage = crate::orchestrator::state::Stage::Paused;
    model.tabs.extend(queued);
    assert!(sample::draw(&mut model, (120, 40)).contains("queued behind programmator (pid 7, ticket tk-0)"));
    model.tabs.push(sample::paused("tk-3"));
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("queued behind tk-3, which is paused (same directory)"), "{screen}");
    model.tabs[2] = sample::running("tk-3");
    assert!(sample::draw(&mut model, (120, 40)).contains("queued behind tk-3 (same"));
    assert_eq!(press(&mut model, "p"), command(UserCommand::Pause));
    model.show_tab(1);
    assert_eq!(press(&mut model, "p").len(), 1);
}

#[test]
fn what_ended_a_run_opens_with_the_keys_that_help() {
    let mut model = sample::model();
    let mut tab = sample::guarded("tk-1");
    let detail = "Claude reports BLOCKED: which port?".to_owned();
    tab.state.ended = Some(crate::orchestrator::state::Ended { reason: ExitReason::Blocked, detail, is_left: false });
    model.tabs.push(tab);
    assert_eq!(press(&mut model, "!"), []);
    let screen = sample::draw(&mut model, (120, 40));
    let dialog = screen.lines().skip_while(|line| !line.contains("Run stopped"));
    let dialog = dialog.collect::<Vec<_>>().join("\n");
    for words in ["which port?", "p start again", "e edit the ticket"] {
        assert!(dialog.contains(words), "{words}: {screen}");
    }
    assert_eq!(press(&mut model, "p"), [Ask::Request(Request::Start(sample::id("tk-1")))]);
    assert!(model.modals.is_empty());
}

#[test]
fn a_name_that_was_typed_wrongly_can_be_corrected() {
    let mut model = sample::model();
    assert_eq!(press(&mut model, "t z z Enter"), [Ask::Request(Request::Open("zz".into()))]);
    let message = "there is no ticket `zz`".to_owned();
    let refused =
        Refused { ticket: sample::id("zz"), message: message.clone(), exit_code: 2, asked: Some("zz".into()) };
    update(&mut model, Msg::Replied(Reply::Refused(refused)));
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("id or path: zz") && screen.contains(&message), "{screen}");
    assert_eq!(press(&mut model, "Backspace 9 Enter"), [Ask::Request(Request::Open("z9".into()))]);
}

#[test]
fn stopping_interrupts_only_what_runs() {
    let mut model = with_running();
    press(&mut model, "x");
    assert!(sample::draw(&mut model, (120, 40)).contains("The current iteration is interrupted"));
    model.modals.clear();
    model.tabs[0] = sample::paused("tk-1");
    press(&mut model, "x");
    assert!(sample::draw(&mut model, (120, 40)).contains("Stop tk-1 now? p resumes it."));
}

#[test]
fn the_list_of_keys_is_whole_on_the_smallest_screen() {
    let mut model = with_running();
    model.size = crate::tui::layout::SMALLEST;
    press(&mut model, "?");
    for _ in 0..40 {
        let screen = sample::draw(&mut model, crate::tui::layout::SMALLEST);
        let cut = screen.lines().find(|line| line.contains("in Tickets") && line.contains('…'));
        assert_eq!(cut, None);
        press(&mut model, "j j j");
    }
}
