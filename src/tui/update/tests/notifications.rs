//! What a person is told who does not look.

use super::*;
use crate::domain::notification::{Notification, NotifyFor, Urgency};

fn told(model: &mut Ui, seq: u64, record: Record) -> Vec<Ask> {
    let asks = update(model, Msg::News(News::Recorded(Arc::new(sample::stored("tk-1", seq, record)))));
    asks.into_iter().filter(|ask| matches!(ask, Ask::Notify(_))).collect()
}

fn notify(urgency: Urgency, title: &str, text: &str) -> Vec<Ask> {
    vec![Ask::Notify(Notification { urgency, title: title.into(), text: text.into() })]
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
        let needs = notify(Urgency::NeedsYou, "tk-1 needs you", "Bash git push origin main --follow-tags");
        assert_eq!(told(&mut model, 41, question()), needs);
        assert_eq!(told(&mut model, 41, question()), [], "once");
        assert_eq!(told(&mut model, 42, Record::PauseAsked), []);
    }
    for (reason, expected) in [
        (ExitReason::Complete, notify(Urgency::News, "tk-1 is complete", "Login rate limiter")),
        (ExitReason::UserStopped, Vec::new()),
        (ExitReason::Stagnation, notify(Urgency::NeedsYou, "tk-1 has stopped", "why")),
    ] {
        let mut model = with_running();
        update(&mut model, Msg::Focused(false));
        assert_eq!(told(&mut model, 41, ended(reason)), expected);
        update(&mut model, Msg::Focused(true));
        assert_eq!(told(&mut model, 42, question()), [], "who looks sees it");
    }
}

#[test]
fn a_channel_takes_what_it_is_for() {
    let takes = NotifyFor::ALL.iter().map(|channel| [Urgency::News, Urgency::NeedsYou].map(|of| channel.takes(of)));
    assert_eq!(takes.collect::<Vec<_>>(), [[false, false], [false, true], [true, true]]);
}

#[test]
fn the_title_says_who_waits_then_what_runs() {
    let mut model = sample::model();
    assert_eq!(model.title(), "programmator");
    model = with_running();
    assert_eq!(model.title(), "tk-1 2/6 · programmator");
    model.tabs[0].state.approvals.push(sample::push("c").into());
    assert_eq!(model.title(), "! 1 waiting · programmator");
}
