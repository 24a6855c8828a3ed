//! Ticks and answers while nothing can be stored, and after that.

use super::*;
use crate::domain::summary::Owner;

#[test]
fn a_tick_and_an_answer_are_told_when_they_are_stored_and_when_they_are_not() {
    let mut model = with_running();
    model.tabs[0].state.approvals.push(sample::push("c").into());
    let (run, ticket) = (model.tabs[0].run.unwrap(), sample::id("tk-1").id().clone());
    let told = |model: &Ui| model.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
    let recorded = |model: &mut Ui, seq, record| {
        update(model, Msg::News(News::Recorded(sample::stored("tk-1", seq, record).into())));
    };
    let full = StorageAwaited {
        run,
        ticket: ticket.clone(),
        why: "the disk is full".into(),
        since: sample::NOW,
        until: sample::NOW.plus(std::time::Duration::from_secs(60)),
    };
    model.focus = panes::tickets::NAME;
    assert_eq!((press(&mut model, "j d").len(), told(&model).as_str()), (1, ""), "it is no fact yet");
    assert_eq!(press(&mut model, "! y").len(), 1);
    assert!(sample::draw(&mut model, (120, 40)).contains("sending"));
    update(&mut model, Msg::News(News::StorageAwaited(full.clone())));
    assert!(sample::draw(&mut model, (120, 40)).contains("the answer cannot be stored yet"));
    assert_eq!((model.waiting(), model.tabs[0].standing()), (0, TabStatus::Unstored), "nothing is left to do");
    press(&mut model, "Esc");
    let screen = sample::draw(&mut model, (300, 40));
    assert!(
        screen.contains("not stored yet: the tick of “Tests for") && screen.contains("your answer about Bash"),
        "{screen}"
    );
    let named = crate::domain::record::OfPhase { phase: "Tests for burst".into(), id: Some(PhaseId(4)) };
    let by = crate::domain::answerer::Answerer::SCREEN;
    let boxed = Record::PhaseTicked(crate::domain::record::PhaseByPerson { of: named, by, why: None });
    recorded(&mut model, 41, boxed);
    assert_eq!(told(&model), "ticked “Tests for burst”");
    assert_eq!(model.waiting(), 1, "it can be stored again, and there is no answer");
    update(&mut model, Msg::News(News::StorageAwaited(full)));
    press(&mut model, "!");
    let reason = Some(ExitReason::StorageFailed);
    let left = RunLeft { run, ticket, reason, message: "the disk is full".into() };
    update(&mut model, Msg::News(News::RunLeft(left)));
    assert!(model.modals.is_empty());
    let screen = sample::draw(&mut model, (200, 40));
    assert!(screen.contains("the disk is full · not recorded: your answer about Bash git push"), "{screen}");
    assert!(screen.contains("○ Wire into middleware"), "nobody works on the phase: {screen}");
    // One that could still be stored to its end.
    let mut model = with_running();
    model.tabs[0].state.approvals.push(sample::push("c").into());
    model.focus = panes::tickets::NAME;
    press(&mut model, "j d ! y");
    let (id, why) = (crate::domain::approval::QuestionId::first("c"), "the iteration has ended".into());
    recorded(&mut model, 41, Record::ApprovalVoid(crate::domain::approval::Voided { id, why }));
    assert_eq!(told(&model), "your answer was not recorded: the iteration has ended");
    let (reason, detail) = (ExitReason::StorageFailed, "the disk is full".into());
    let ended = Record::RunEnded { reason, detail, iterations: 1, phases_done: 2, phases: 4, cost_usd: 0.0 };
    recorded(&mut model, 42, ended);
    assert_eq!(told(&model), "not recorded: the tick of “Tests for burst”");
}

#[test]
fn an_answer_that_did_not_count_is_not_waited_for() {
    let mut model = with_running();
    model.tabs[0].state.approvals.push(sample::push("c").into());
    let run = model.tabs[0].run.unwrap();
    let why = "the disk is full".into();
    let until = sample::NOW.plus(std::time::Duration::from_secs(60));
    let full = StorageAwaited { run, ticket: sample::id("tk-1").id().clone(), why, since: sample::NOW, until };
    let asks = press(&mut model, "! y");
    let [Ask::Request(Request::Command(ticket, command))] = &asks[..] else { panic!("{asks:?}") };
    update(&mut model, Msg::News(News::StorageAwaited(full.clone())));
    assert_eq!(model.waiting(), 0, "it is answered, as far as anybody knows");
    assert!(sample::draw(&mut model, (120, 40)).contains("the answer cannot be stored yet"));
    // The run could store again and did not take the answer, which no record says.
    update(&mut model, Msg::Replied(Reply::Decided { ticket: ticket.clone(), command: command.clone() }));
    update(&mut model, Msg::News(News::StorageAwaited(full)));
    assert_eq!((model.waiting(), model.tabs[0].unstored.all_missing(&model.tabs[0].state, "")), (1, None));
    assert!(sample::draw(&mut model, (120, 40)).contains("Your answer was not applied; the log says why."));
    assert_eq!(press(&mut model, "y").len(), 1, "it can be given again");
}

#[test]
fn an_answer_that_another_program_did_not_take_can_be_given_again() {
    let mut model = with_running();
    model.tabs[0].state.approvals.push(sample::push("c").into());
    model.tabs[0].owner = Owner::Another;
    let asks = press(&mut model, "! y");
    let [Ask::Request(Request::Command(ticket, command))] = &asks[..] else { panic!("{asks:?}") };
    let (ticket, command, why) = (ticket.clone(), command.clone(), "the program (pid 7) does not answer".to_owned());
    update(&mut model, Msg::Replied(Reply::NotDecided { ticket, command, why }));
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("Not confirmed: the program (pid 7) does not answer"), "{screen}");
    assert_eq!((&model.tabs[0].failure, model.waiting()), (&None, 1));
    assert_eq!(press(&mut model, "y").len(), 1, "it can be given again");
}
