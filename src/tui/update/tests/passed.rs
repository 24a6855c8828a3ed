//! A question that is about nothing any more closes, and says what came to pass.

use super::*;

#[test]
fn what_comes_to_pass_meanwhile_is_not_asked_about_any_longer() {
    let record = |reason| Record::RunEnded {
        reason,
        detail: String::new(),
        iterations: 7,
        phases_done: 2,
        phases: 6,
        cost_usd: 1.0,
    };
    let skipped = Record::PhaseSkipped(OfPhase { phase: "Wire into middleware".into(), id: Some(PhaseId(3)) });
    let how = DoneHow::Approved;
    let done = Record::PhaseDone { n: 7, phase: Some("Wire into middleware".into()), how, id: Some(PhaseId(3)) };
    let ended = "the run has ended; your answer was not sent";
    for (keys, record, said) in [
        ("x", record(ExitReason::Complete), ended),
        ("s", record(ExitReason::Error), ended),
        ("s", skipped, "the phase is already skipped"),
        ("s", done, "not skipped: the phase is already done"),
    ] {
        let mut model = with_running();
        press(&mut model, keys);
        update(&mut model, Msg::News(News::Recorded(Arc::new(sample::stored("tk-1", 998, Record::PauseAsked)))));
        assert_eq!(model.modals.len(), 1, "nothing that concerns it");
        update(&mut model, Msg::News(News::Recorded(Arc::new(sample::stored("tk-1", 999, record.clone())))));
        assert!(model.modals.is_empty(), "{keys}: {record:?}");
        let told = model.toast.as_ref().map(|(words, _)| words.as_str());
        assert_eq!(told, Some(said), "{keys}: {record:?}");
    }
}
