//! Who may call, who waits until when, and who stops.

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_795_269_733_120); // 2026-11-21T14:02:13Z

fn after(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW.millis() + seconds * 1_000)
}

fn ask() -> Ask {
    Ask {
        n: 4,
        purpose: Purpose::Iteration,
        limits: Limits::default(),
        spent: Spent::default(),
        forecast: Spent::default(),
        model: None,
        place: Place::PhaseStart,
        asker: Asker::Program,
        lasts: Duration::from_secs(900),
    }
}

fn run(n: u128) -> RunId {
    RunId(uuid::Uuid::from_u128(n))
}

fn decided(facts: &Facts, ask: &Ask) -> Verdict {
    admit(facts, ask, run(1), NOW, &TimeZone::UTC).verdict
}

fn go() -> Verdict {
    Verdict::Go { probes: vec![] }
}

fn called(times: usize) -> Facts {
    Facts { calls: vec![(after(-60), 1); times], ..Facts::default() }
}

fn parked(verdict: Verdict) -> Parking {
    match verdict {
        Verdict::Park(parking) => parking,
        other => panic!("not parked: {other:?}"),
    }
}

fn hold(scope: &str, seconds: i64) -> Hold {
    Hold {
        scope: scope.into(),
        about: "the provider's rate limit is reached".into(),
        until: after(seconds),
        reset: Reset::Unknown,
        tries: 3,
        probe: None,
    }
}

#[test]
fn calls_up_to_the_limit_and_not_one_more() {
    assert_eq!(decided(&called(0), &ask()), go());
    assert_eq!(decided(&called(99), &ask()), go());
    let parking = parked(decided(&called(100), &ask()));
    assert_eq!((parking.why, parking.reset), (Why::Calls, Reset::Known));
    assert_eq!(parking.until.to_string(), "2026-11-21T15:00:00.000Z");
    let sliding = Ask { limits: Limits { window: super::super::HourWindow::Sliding, ..Limits::default() }, ..ask() };
    assert_eq!(parked(decided(&called(100), &sliding)).until, after(3_540));
    assert_eq!(admit(&called(99), &ask(), run(1), NOW, &TimeZone::UTC).ledger.calls, 100, "this one is counted");
    assert_eq!(admit(&called(100), &ask(), run(1), NOW, &TimeZone::UTC).ledger.calls, 100, "a refused one is not");
}

#[test]
fn tokens_have_no_limit_until_one_is_set() {
    let facts = Facts { tokens: vec![(after(-60), 900), (after(-30), 100)], ..Facts::default() };
    assert_eq!(decided(&facts, &ask()), go());
    let limited = |tokens| Ask { limits: Limits { tokens: Some(tokens), ..Limits::default() }, ..ask() };
    assert_eq!(decided(&facts, &limited(1_001)), go());
    assert_eq!(parked(decided(&facts, &limited(1_000))).why, Why::Tokens);
}

#[test]
fn what_the_provider_refused_is_tried_by_one_run_when_it_is_time() {
    let facts = |hold| Facts { holds: vec![hold], ..Facts::default() };
    let parking = parked(decided(&facts(hold("account", 60)), &ask()));
    assert_eq!((parking.why, parking.until, parking.reset), (Why::Provider, after(60), Reset::Unknown));
    let probe = Verdict::Go { probes: vec!["account".into()] };
    assert_eq!(decided(&facts(hold("account", -1)), &ask()), probe);
    assert_eq!(admit(&facts(hold("account", -1)), &ask(), run(1), NOW, &TimeZone::UTC).ledger.tries, 3);
    let tried = |by, until| Hold { probe: Some((run(by), after(until))), ..hold("account", -1) };
    assert_eq!(parked(decided(&facts(tried(2, 30)), &ask())).reset, Reset::Probe, "another one tries");
    assert_eq!(decided(&facts(tried(1, 30)), &ask()), probe, "we try");
    assert_eq!(decided(&facts(tried(2, -1)), &ask()), probe, "the other one was lost");
}

#[test]
fn a_person_need_not_wait_for_the_reset_but_for_the_probe() {
    let person = Ask { asker: Asker::Person, ..ask() };
    let facts = |hold| Facts { holds: vec![hold], ..Facts::default() };
    assert_eq!(decided(&facts(hold("account", 60)), &person), Verdict::Go { probes: vec!["account".into()] });
    let tried = Hold { probe: Some((run(2), after(30))), ..hold("account", 60) };
    assert_eq!(parked(decided(&facts(tried), &person)).reset, Reset::Probe);
    assert_eq!(parked(decided(&called(100), &person)).why, Why::Calls, "our own limit stays");
}

#[test]
fn a_model_waits_for_its_own_window_only() {
    let facts = Facts { holds: vec![hold("seven_day_opus", 60)], ..Facts::default() };
    let with = |model: &str| Ask { model: Some(model.into()), ..ask() };
    assert_eq!(decided(&facts, &with("claude-sonnet-4-6")), go());
    assert!(matches!(decided(&facts, &with("claude-opus-4-8")), Verdict::Park(_)));
}

#[test]
fn a_warning_parks_between_phases_when_the_person_wants_so() {
    let window = |kind: &str, status, resets| Window {
        kind: kind.into(),
        status,
        used: Some(0.9),
        resets_at: Some(after(resets)),
    };
    let facts = |window| Facts { windows: vec![window], ..Facts::default() };
    let warned = facts(window("five_hour", WindowStatus::Warning, 600));
    let park = Ask { limits: Limits { on_warning: OnWarning::Park, ..Limits::default() }, ..ask() };
    assert_eq!(decided(&warned, &ask()), go(), "the default goes on");
    let parking = parked(decided(&warned, &park));
    assert_eq!((parking.why, parking.reset), (Why::Warning, Reset::Known));
    assert!(parking.until > after(600) && parking.until < after(630), "{parking:?}");
    assert_eq!(decided(&warned, &Ask { place: Place::InPhase, ..park.clone() }), go(), "the phase is finished first");
    assert_eq!(decided(&warned, &Ask { asker: Asker::Person, ..park.clone() }), go());
    assert_eq!(decided(&facts(window("five_hour", WindowStatus::Warning, -1)), &park), go(), "it has opened anew");
    assert_eq!(decided(&facts(window("five_hour", WindowStatus::Allowed, 600)), &park), go());
}

#[test]
fn a_budget_stops_before_the_call_that_does_not_fit() {
    let usd = |micro_usd| Budget { micro_usd: Some(micro_usd), tokens: None };
    let with = |limits: Limits, spent, forecast| Ask {
        limits,
        spent: Spent { usd: spent, tokens: 0 },
        forecast: Spent { usd: forecast, tokens: 0 },
        ..ask()
    };
    let run = |spent, forecast| with(Limits { run: usd(1_000_000), ..Limits::default() }, spent, forecast);
    let cases = [
        (run(0.0, 0.0), true),
        (run(0.5, 0.5), true),
        (run(0.5, 0.51), false),
        (run(0.99, 0.0), true),
        (run(1.0, 0.0), false),
        (run(1.2, 0.0), false),
    ];
    for (ask, fits) in cases {
        let verdict = decided(&Facts::default(), &ask);
        assert_eq!(verdict == go(), fits, "{} + {}: {verdict:?}", ask.spent.usd, ask.forecast.usd);
        if let Verdict::Stop(words) = verdict {
            assert!(words.contains("budget.run_usd") && words.contains("$1.00"), "{words}");
        }
    }
    let facts =
        Facts { ticket: Spent { usd: 3.0, tokens: 70 }, day: Spent { usd: 9.0, tokens: 90 }, ..Facts::default() };
    let stopped = |limits: Limits, key: &str| {
        let verdict = decided(&facts, &Ask { limits, forecast: Spent { usd: 0.1, tokens: 20 }, ..ask() });
        match verdict {
            Verdict::Stop(words) => assert!(words.contains(key), "{words}"),
            other => panic!("{key}: {other:?}"),
        }
    };
    let tokens = |most| Budget { micro_usd: None, tokens: Some(most) };
    stopped(Limits { ticket: usd(3_050_000), ..Limits::default() }, "budget.ticket_usd");
    stopped(Limits { day: usd(9_000_000), ..Limits::default() }, "budget.day_usd");
    stopped(Limits { ticket: tokens(80), ..Limits::default() }, "budget.ticket_tokens");
    stopped(Limits { day: tokens(100), ..Limits::default() }, "budget.day_tokens");
    let calls_too = Facts { calls: called(100).calls, ..facts };
    let both = Ask { limits: Limits { day: usd(1), ..Limits::default() }, ..ask() };
    assert!(matches!(decided(&calls_too, &both), Verdict::Stop(_)), "nobody waits an hour to be stopped then");
}
