//! What a person is told who does not look.

use super::*;
use crate::domain::approval::QuestionId;
use crate::domain::notification::{Level, Notification, NotifyFor};
use crate::tui::terminal::Progress;

fn told(model: &mut Ui, seq: u64, record: Record) -> Vec<Ask> {
    let asks = update(model, Msg::News(News::Recorded(Arc::new(sample::stored("tk-1", seq, record)))));
    told_of(asks)
}

/// What is told, of whatever phase.
fn told_of(asks: Vec<Ask>) -> Vec<Ask> {
    let without_phase = |ask| match ask {
        Ask::Notify(told) => Some(Ask::Notify(Notification { phase: None, ..told })),
        _ => None,
    };
    asks.into_iter().filter_map(without_phase).collect()
}

fn notify(level: Level, title: &str, text: &str) -> Vec<Ask> {
    let ticket = "tk-1".to_owned();
    vec![Ask::Notify(Notification { level, ticket, phase: None, title: title.into(), text: text.into() })]
}

fn ended(reason: ExitReason) -> Record {
    let detail = "why".to_owned();
    Record::RunEnded { reason, detail, iterations: 1, phases_done: 1, phases: 1, cost_usd: 0.0 }
}

#[test]
fn only_who_does_not_look_is_told_and_of_what_concerns_them() {
    let question = || Record::ApprovalAsked(sample::push("c"));
    let mut model = with_running();
    assert_eq!(told(&mut model, 41, question()), [], "a key was pressed a moment ago");
    for (unseen, gone) in [(false, 0), (true, 61)] {
        let mut model = with_running();
        if unseen {
            model.now = model.now.plus(std::time::Duration::from_secs(gone));
        } else {
            update(&mut model, Msg::Focused(false));
        }
        let needs = notify(Level::NeedsYou, "tk-1 needs you", "Bash git push origin main --follow-tags");
        assert_eq!(told(&mut model, 41, question()), needs);
        assert_eq!(told(&mut model, 41, question()), [], "once");
        assert_eq!(told(&mut model, 42, Record::PauseAsked), []);
    }
    for (reason, expected) in [
        (ExitReason::Complete, notify(Level::Finished, "tk-1 is complete", "Login rate limiter")),
        (ExitReason::UserStopped, Vec::new()),
        (ExitReason::Stagnation, notify(Level::Failed, "tk-1 has stopped", "why")),
    ] {
        let mut model = with_running();
        update(&mut model, Msg::Focused(false));
        assert_eq!(told(&mut model, 41, ended(reason)), expected);
        update(&mut model, Msg::Focused(true));
        assert_eq!(told(&mut model, 42, question()), [], "who looks sees it");
    }
}

/// A run that nobody looks at.
fn unseen() -> Ui {
    let mut model = with_running();
    update(&mut model, Msg::Focused(false));
    model
}

#[test]
fn what_waits_is_told_in_the_words_of_the_list_of_what_waits() {
    let seen = Record::ValidationChangeSeen { commands: vec!["make".into()] };
    let needs = |text| notify(Level::NeedsYou, "tk-1 needs you", text);
    assert_eq!(told(&mut unseen(), 41, seen), needs("validation commands changed"));
    assert_eq!(told(&mut unseen(), 41, Record::Paused), [], "the person has paused it");
    let mut model = unseen();
    model.tabs[0].state.phases[2].mark = crate::domain::phase::Mark::Disputed;
    assert_eq!(told(&mut model, 41, Record::Paused), needs("disputed: “Wire into middleware”"));
    let parking = || Parking {
        why: Why::Provider,
        about: "rate limited".into(),
        until: sample::NOW,
        reset: Reset::Known,
        known: None,
    };
    let parked = notify(Level::Parked, "tk-1 is parked", "rate limited");
    assert_eq!(told(&mut unseen(), 41, Record::Parked(parking())), parked);
}

#[test]
fn what_was_missed_is_told_where_it_is_still_so() {
    let asked = |id: &str| Record::ApprovalAsked(sample::push(id));
    let void = |id: &str| {
        Record::ApprovalVoid(crate::domain::approval::Voided { id: QuestionId::first(id), why: "over".into() })
    };
    let mut model = unseen();
    let records = [asked("over"), void("over"), asked("c")];
    let records = (41..).zip(records).map(|(seq, record)| sample::stored("tk-1", seq, record).into()).collect();
    let (ticket, run) = (model.tabs[0].id.clone(), model.tabs[0].run.unwrap());
    let again = News::RunOpened { ticket, run, earlier: 0, records, owner: crate::domain::summary::Owner::Here };
    let asks = told_of(update(&mut model, Msg::News(again.clone())));
    let needs = notify(Level::NeedsYou, "tk-1 needs you", "Bash git push origin main --follow-tags");
    assert_eq!(asks, needs, "one question waits");
    assert_eq!(update(&mut model, Msg::News(again)), [], "once");
}

#[test]
fn a_run_that_is_left_waits_for_storage_or_cannot_begin_is_told() {
    let (run, ticket) = (sample::running("tk-1").run.unwrap(), sample::id("tk-1"));
    let why = || "the disk is full".to_owned();
    let (since, until) = (sample::NOW, sample::NOW);
    let waiting = StorageAwaited { run, ticket: ticket.id().clone(), why: why(), since, until };
    let asks = told_of(update(&mut unseen(), Msg::News(News::StorageAwaited(waiting))));
    assert_eq!(asks, notify(Level::NeedsYou, "tk-1 cannot store anything", "the disk is full"));
    let left = RunLeft { run, ticket: ticket.id().clone(), reason: None, message: why() };
    let stopped = notify(Level::Failed, "tk-1 has stopped", "the disk is full");
    assert_eq!(told_of(update(&mut unseen(), Msg::News(News::RunLeft(left)))), stopped);
    let refused = Refused { ticket, message: why(), exit_code: 1, asked: None };
    assert_eq!(told_of(update(&mut unseen(), Msg::Replied(Reply::Refused(refused)))), stopped);
}

#[test]
fn a_channel_takes_what_it_is_for() {
    let takes = NotifyFor::ALL.iter().map(|channel| [Level::Finished, Level::Failed].map(|of| channel.takes(of)));
    assert_eq!(takes.collect::<Vec<_>>(), [[false, false], [false, true], [true, true]]);
}

#[test]
fn the_title_says_who_waits_then_what_runs() {
    let mut model = sample::model();
    assert_eq!(model.title(), "programmator");
    model = with_running();
    assert_eq!(model.title(), "tk-1 2/6 · programmator");
    assert_eq!(model.progress(), None, "it is not asked for");
    model.tells_progress = true;
    assert_eq!(model.progress(), Some(Progress { percent: Some(33), waits: false }));
    model.tabs[0].state.approvals.push(sample::push("c").into());
    assert_eq!(model.title(), "! 1 waiting · programmator");
    assert_eq!(model.progress(), Some(Progress { percent: Some(33), waits: true }));
}
