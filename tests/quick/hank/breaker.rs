//! Breaker recovery: what becomes of the breaker that an earlier run left, when the ticket is started again.

use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::breaker::{Breaker, Circuit};
use programmator::domain::limits::admission::{Admission, Ledger, Purpose, Verdict};
use programmator::domain::outcome::ExitReason;
use programmator::domain::record::PhaseSeed;
use programmator::domain::settings::{BreakerSettings, Settings};
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::input::{Input, Start};
use programmator::orchestrator::state::State;
use std::sync::Arc;

const MINUTE: i64 = 60_000;
const OPENED: i64 = 1_795_000_000_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Open since [`OPENED`], for the third time.
fn open() -> Breaker {
    Breaker {
        state: Circuit::Open,
        last_change: Some(at(OPENED)),
        opened_at: Some(at(OPENED)),
        reason: "3 iterations in a row changed nothing".into(),
        no_progress: 3,
        same_error: 2,
        error: Some("no such file".into()),
        total_opens: 3,
        ..Breaker::default()
    }
}

/// The state of a run that is started, with this breaker, and given the folder.
fn started(breaker: Breaker, limits: BreakerSettings, now: i64) -> State {
    let mut state = Arc::new(State::of(RunId(uuid::Uuid::nil()), TicketId::parse("t").expect("an id")));
    let start = Start {
        ticket_path: "/w/t.md".into(),
        title: "T".into(),
        phases: vec![PhaseSeed { text: "Do it".into(), done: false }],
        settings: Settings { breaker: limits, ..Settings::default() },
        breaker,
        ..Start::default()
    };
    let admission = Admission { verdict: Verdict::Go { probes: vec![] }, ledger: Ledger::default() };
    let admitted = Input::Admitted { n: 1, purpose: Purpose::Iteration, admission: Box::new(admission) };
    for input in [Input::Started(Box::new(start)), Input::TreeGranted, admitted] {
        state = decide(&state, input, at(now)).next.unwrap_or(state);
    }
    Arc::unwrap_or_clone(state)
}

#[test]
fn an_open_breaker_recovers_only_with_time() {
    use Circuit::{Closed, HalfOpen, Open};
    let limits = BreakerSettings::default;
    let cooling = |cooldown| BreakerSettings { cooldown, ..limits() };
    let resetting = || BreakerSettings { auto_reset: true, ..limits() };
    let undated = || Breaker { opened_at: None, ..open() };
    let timeless = || Breaker { opened_at: None, last_change: None, ..open() };
    let closed = || Breaker { no_progress: 1, total_opens: 2, ..Breaker::default() };
    let watched = || Breaker { state: HalfOpen, no_progress: 2, ..Breaker::default() };
    // Name, what was left, thresholds, minutes since it opened, where it stands then.
    let rows = [
        ("the cooldown has not elapsed", open(), limits(), 29, Open),
        ("started in the minute of opening", open(), limits(), 0, Open),
        ("the cooldown has just elapsed", open(), limits(), 30, HalfOpen),
        ("the cooldown elapsed days ago", open(), limits(), 5_000, HalfOpen),
        ("a cooldown of nothing lets one through at once", open(), cooling(0), 0, HalfOpen),
        ("a shorter cooldown of the config", open(), cooling(600), 10, HalfOpen),
        ("a longer cooldown of the config", open(), cooling(7_200), 30, Open),
        ("the clock went back a little", open(), limits(), -1, Open),
        ("the clock went back a year", open(), limits(), -525_600, Open),
        ("the clock went back, and there is no cooldown", open(), cooling(0), -1, Open),
        ("no time of opening: the last move counts, too early", undated(), limits(), 29, Open),
        ("no time of opening: the last move counts, in time", undated(), limits(), 30, HalfOpen),
        ("no time at all: it stays open", timeless(), limits(), 9_999, Open),
        ("automatic reset before the cooldown", open(), resetting(), 1, Closed),
        ("automatic reset after the cooldown", open(), resetting(), 60, Closed),
        ("automatic reset with a clock that went back", open(), resetting(), -60, Closed),
        ("CLOSED is left as it is", closed(), limits(), 60, Closed),
        ("CLOSED is left as it is by an automatic reset", closed(), resetting(), 60, Closed),
        ("HALF_OPEN is left as it is", watched(), limits(), 60, HalfOpen),
        ("HALF_OPEN is left as it is by an automatic reset", watched(), resetting(), 60, HalfOpen),
        ("a ticket that was never run", Breaker::default(), limits(), 0, Closed),
    ];
    for (name, left, thresholds, minutes, expected) in rows {
        let state = started(left.clone(), thresholds, OPENED + minutes * MINUTE);
        assert_eq!(state.breaker.state, expected, "{name}");
        assert_eq!(state.breaker.total_opens, left.total_opens, "{name}: how often it opened is not forgotten");
        let halted = state.ended.as_ref().is_some_and(|ended| ended.reason == ExitReason::CircuitOpen);
        assert_eq!(halted, expected == Open, "{name}: an open one halts the run, any other lets it go on");
        assert_eq!(state.iterations, u32::from(!halted), "{name}: nothing is begun while it is open");
        if expected == left.state {
            assert_eq!(state.breaker, left, "{name}: untouched");
        }
    }
}

#[test]
fn what_is_kept_and_what_is_forgotten() {
    let kept = |breaker: &Breaker| (breaker.no_progress, breaker.same_error, breaker.total_opens);
    let half_open = started(open(), BreakerSettings::default(), OPENED + 30 * MINUTE).breaker;
    assert_eq!(
        kept(&half_open),
        (3, 2, 3),
        "after the cooldown the counters are preserved: one bad iteration trips it"
    );
    let reset = BreakerSettings { auto_reset: true, ..BreakerSettings::default() };
    let closed = started(open(), reset, OPENED + MINUTE).breaker;
    assert_eq!(kept(&closed), (0, 0, 3), "an automatic reset zeroes the counters and keeps the total");
    assert_eq!((closed.opened_at, half_open.opened_at), (None, None), "only an open one has a time of opening");
    let still = started(open(), BreakerSettings::default(), OPENED + MINUTE).breaker;
    assert_eq!(still.opened_at, Some(at(OPENED)), "a start that is refused does not prolong the cooldown");
}

#[test]
fn the_halt_says_why_and_what_to_do() {
    let state = started(open(), BreakerSettings::default(), OPENED + 10 * MINUTE);
    let detail = state.ended.expect("it is over").detail;
    for part in ["3 iterations in a row changed nothing", "programmator circuit reset t", "20m"] {
        assert!(detail.contains(part), "“{part}” is missing in: {detail}");
    }
}
