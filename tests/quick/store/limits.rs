//! The ledger: calls of many programs at once, what the provider refuses, clocks that go back.

use super::samples::{append, fresh, note, open, summary, time};
use programmator::adapters::store::{Append, Store};
use programmator::base::id::RunId;
use programmator::base::time::{Moment, Timestamp, Uptime};
use programmator::domain::limits::admission::{Admission, Ask, Asker, Parking, Place, Purpose, Verdict, Why};
use programmator::domain::limits::provider::{Cause, Reset};
use programmator::domain::limits::{Budget, Hit, HourWindow, Limits, Spent};
use programmator::domain::record::{Record, TurnEnded};
use programmator::domain::step::Role;
use programmator::domain::turn::{Origin, Usage};
use std::thread;
use std::time::Duration;

fn ask(n: u32, calls: u32) -> Ask {
    Ask {
        n,
        purpose: Purpose::Iteration,
        limits: Limits { calls, window: HourWindow::Sliding, ..Limits::default() },
        spent: Spent::default(),
        forecast: Spent::default(),
        model: None,
        place: Place::PhaseStart,
        asker: Asker::Program,
        lasts: Duration::from_secs(900),
    }
}

fn with_runs(folder: &std::path::Path, runs: &[RunId]) -> Store {
    let store = open(folder);
    for run in runs {
        store.append_blocking(append(*run, vec![note("begun")])).unwrap();
    }
    store
}

fn goes(admission: &Admission) -> bool {
    matches!(admission.verdict, Verdict::Go { .. })
}

fn parked(admission: Admission) -> Parking {
    match admission.verdict {
        Verdict::Park(parking) => parking,
        other => panic!("not parked: {other:?}"),
    }
}

fn hit(tries: u32, until: i64) -> Record {
    let cause = Cause::Limit;
    Record::LimitHit(Hit { n: 1, cause, scope: "account".into(), until: time(until), reset: Reset::Unknown, tries })
}

#[test]
fn eight_threads_of_two_programs_take_as_many_calls_as_there_are() {
    let temp = tempfile::tempdir().unwrap();
    let runs: Vec<RunId> = (0..8).map(|_| fresh()).collect();
    let handles = [with_runs(temp.path(), &runs), open(temp.path())];
    let admitted: usize = thread::scope(|scope| {
        let threads: Vec<_> = runs
            .iter()
            .enumerate()
            .map(|(who, run)| {
                let store = &handles[who % 2];
                scope.spawn(move || {
                    (1..=20).filter(|n| goes(&store.admit(*run, &ask(*n, 37), time(0)).unwrap())).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 37);
    assert_eq!(open(temp.path()).calls_since(time(0)).unwrap(), 37, "and they are there after a restart");
}

#[test]
fn a_call_that_is_asked_for_twice_is_counted_once() {
    let temp = tempfile::tempdir().unwrap();
    let run = fresh();
    let store = with_runs(temp.path(), &[run]);
    for _ in 0..3 {
        assert_eq!(store.admit(run, &ask(1, 1), time(0)).unwrap().ledger.calls, 1);
    }
    let follow_up = Ask { purpose: Purpose::FollowUp, ..ask(1, 2) };
    assert_eq!(store.admit(run, &follow_up, time(0)).unwrap().ledger.calls, 2, "the follow-up is another");
    assert_eq!(parked(store.admit(run, &ask(2, 2), time(1_000)).unwrap()).until, time(3_600_000));
    assert!(goes(&store.admit(run, &ask(2, 2), time(3_600_001)).unwrap()));
}

#[test]
fn one_run_tries_for_all_and_its_outcome_counts_for_all() {
    let temp = tempfile::tempdir().unwrap();
    let [a, b] = [fresh(), fresh()];
    let store = with_runs(temp.path(), &[a, b]);
    store.append_blocking(append(a, vec![hit(1, 10_000)])).unwrap();
    for run in [a, b] {
        let parking = parked(store.admit(run, &ask(2, 100), time(5_000)).unwrap());
        assert_eq!((parking.until, parking.reset), (time(10_000), Reset::Unknown));
    }
    let probe = store.admit(b, &ask(2, 100), time(10_000)).unwrap();
    assert_eq!(probe.verdict, Verdict::Go { probes: vec!["account".into()] });
    assert_eq!(probe.ledger.tries, 1);
    assert_eq!(parked(store.admit(a, &ask(2, 100), time(11_000)).unwrap()).reset, Reset::Probe);
    // Refused again: everybody waits longer.
    store.append_blocking(append(b, vec![hit(2, 40_000)])).unwrap();
    assert_eq!(parked(store.admit(a, &ask(2, 100), time(12_000)).unwrap()).until, time(40_000));
    assert!(goes(&store.admit(a, &ask(2, 100), time(40_000)).unwrap()));
    // Answered: the way is free for everybody, also after a restart.
    let claim = Record::ClaimMissing { n: 2, reason: "missing".into() };
    store.append_blocking(append(a, vec![claim])).unwrap();
    let store = open(temp.path());
    assert_eq!(store.admit(b, &ask(3, 100), time(41_000)).unwrap().verdict, Verdict::Go { probes: vec![] });
}

#[test]
fn a_probe_that_was_lost_does_not_keep_others_waiting_for_ever() {
    let temp = tempfile::tempdir().unwrap();
    let [a, b] = [fresh(), fresh()];
    let store = with_runs(temp.path(), &[a, b]);
    store.append_blocking(append(a, vec![hit(1, 10_000)])).unwrap();
    assert!(goes(&store.admit(a, &ask(2, 100), time(10_000)).unwrap()));
    assert!(!goes(&store.admit(b, &ask(2, 100), time(909_000)).unwrap()));
    assert!(goes(&store.admit(b, &ask(2, 100), time(910_001)).unwrap()));
}

#[test]
fn a_clock_that_goes_back_opens_nothing_early_and_closes_nothing_for_ever() {
    const HOUR: i64 = 3_600_000;
    for back in [60_000, HOUR, 24 * HOUR, 50 * 365 * 24 * HOUR] {
        let temp = tempfile::tempdir().unwrap();
        let run = fresh();
        let store = with_runs(temp.path(), &[run]);
        let now = |millis: i64| Timestamp::from_millis(time(0).millis() - back + millis);
        assert!(goes(&store.admit(run, &ask(1, 1), time(0)).unwrap()));
        assert!(!goes(&store.admit(run, &ask(2, 1), now(0)).unwrap()), "{back}: opened early");
        assert!(!goes(&store.admit(run, &ask(2, 1), now(HOUR - 1)).unwrap()), "{back}: opened within the hour");
        assert!(goes(&store.admit(run, &ask(2, 1), now(2 * HOUR + 1)).unwrap()), "{back}: closed for ever");

        let temp = tempfile::tempdir().unwrap();
        let store = with_runs(temp.path(), &[run]);
        store.append_blocking(append(run, vec![hit(1, 5 * HOUR)])).unwrap();
        assert!(!goes(&store.admit(run, &ask(1, 9), now(0)).unwrap()), "{back}: tried early");
        assert!(!goes(&store.admit(run, &ask(1, 9), now(5 * HOUR - 60_000)).unwrap()), "{back}: tried early");
        assert!(goes(&store.admit(run, &ask(1, 9), now(6 * HOUR + 60_000)).unwrap()), "{back}: parked for ever");
    }
}

#[test]
fn a_clock_that_goes_back_and_returns_has_erased_nothing() {
    const DAY: i64 = 86_400_000;
    let temp = tempfile::tempdir().unwrap();
    let run = fresh();
    let store = with_runs(temp.path(), &[run]);
    assert!(goes(&store.admit(run, &ask(1, 1), time(0)).unwrap()));
    let usage = Usage { input: 10, ..Usage::default() };
    let turn = Record::TurnEnded(TurnEnded {
        n: 1,
        cost_usd: 0.0,
        usage,
        context: None,
        context_window: None,
        denials: vec![],
        origin: Origin::Ours,
    });
    store.append_blocking(append(run, vec![turn, hit(1, 600_000)])).unwrap();
    let limits = ask(1, 1).limits;
    let before = store.limit_facts(run, &limits, time(1_000)).unwrap();
    assert_eq!((before.calls.len(), before.day.tokens, before.holds[0].until), (1, 10, time(600_000)));
    for away in 0..3 {
        let now = Timestamp::from_millis(time(away * 30_000).millis() - DAY);
        assert!(!goes(&store.admit(run, &ask(2, 1), now).unwrap()));
    }
    let mut after = store.limit_facts(run, &limits, time(90_000)).unwrap();
    assert_eq!(after, before, "also for who only looks");
    assert!(!goes(&store.admit(run, &ask(2, 1), time(90_000)).unwrap()));
    after = store.limit_facts(run, &limits, time(90_000)).unwrap();
    assert_eq!(after, before);
    assert!(!goes(&store.admit(run, &ask(2, 9), time(599_000)).unwrap()), "the hold is the same");
}

#[test]
fn what_was_spent_is_summed_by_ticket_and_by_day_and_tokens_by_the_hour() {
    let temp = tempfile::tempdir().unwrap();
    let [a, b] = [fresh(), fresh()];
    let store = with_runs(temp.path(), &[a, b]);
    let spend = |run, cost_usd, at: i64| {
        let usage = Usage { input: 10, output: 5, cache_read: 100, cache_write: 1_000 };
        let record = Record::TurnEnded(TurnEnded {
            n: 1,
            cost_usd,
            usage,
            context: None,
            context_window: None,
            denials: vec![],
            origin: Origin::Ours,
        });
        let ended = Append { time: time(at), ..append(run, vec![record]) };
        store.append_blocking(Append {
            summary: programmator::domain::summary::RunSummary { cost_usd, ..summary(run) },
            ..ended
        })
    };
    spend(a, 1.0, 0).unwrap();
    spend(a, 1.5, 1_000).unwrap();
    spend(b, 0.75, 2_000).unwrap();
    let facts = store.limit_facts(a, &ask(1, 9).limits, time(3_000)).unwrap();
    // Both runs are of one file. A quarter is what each had cost before.
    assert!((facts.ticket.usd - 2.25).abs() < 1e-9, "{facts:?}");
    assert_eq!((facts.ticket.tokens, facts.day.tokens), (3 * 1_115, 3 * 1_115));
    assert!((facts.day.usd - 2.25).abs() < 1e-9, "{facts:?}");
    assert_eq!(facts.tokens.iter().map(|(_, tokens)| tokens).sum::<u64>(), 45, "the cache does not count");
    let later = store.limit_facts(a, &ask(1, 9).limits, time(0).plus(Duration::from_secs(3_601))).unwrap();
    assert_eq!(later.tokens.iter().map(|(_, tokens)| tokens).sum::<u64>(), 15, "the first two have left the hour");
    let budget = Budget { micro_usd: Some(2_250_000), tokens: None };
    let over = Ask { limits: Limits { day: budget, ..Limits::default() }, ..ask(1, 9) };
    assert!(matches!(store.admit(a, &over, time(3_000)).unwrap().verdict, Verdict::Stop(_)));
    assert_eq!(store.calls_since(time(0)).unwrap(), 0, "a call that is not made is not counted");
}

#[test]
fn what_is_granted_to_programs_at_once_is_not_more_than_the_rest_of_the_day() {
    let temp = tempfile::tempdir().unwrap();
    let runs: Vec<RunId> = (0..4).map(|_| fresh()).collect();
    let store = with_runs(temp.path(), &runs);
    let day = Budget { micro_usd: Some(4_000_000), tokens: None };
    let ask = |n| Ask { limits: Limits { day, ..Limits::default() }, ..ask(n, 9) };
    let granted = |run: &RunId, n, at| {
        let admission = store.admit(*run, &ask(n), time(at)).unwrap();
        assert!(goes(&admission), "{admission:?}");
        admission.ledger.granted_usd.unwrap()
    };
    let sum: f64 = runs.iter().map(|run| granted(run, 1, 10)).sum();
    assert!((sum - 3.0).abs() < 1e-6, "each has spent a quarter; all of the rest, in four parts: {sum}");
    let late = fresh();
    store.append_blocking(append(late, vec![note("begun")])).unwrap();
    let parking = parked(store.admit(late, &ask(1), time(20)).unwrap());
    assert_eq!((parking.why, parking.until), (Why::Budget, time(900_010)), "it is reserved, not spent");

    // One ends and has spent a quarter of its part: the rest is free.
    let spent = programmator::domain::summary::RunSummary { cost_usd: 0.25 + 0.25, ..summary(runs[0]) };
    store.append_blocking(Append { summary: spent, ..append(runs[0], vec![]) }).unwrap();
    assert!(!goes(&store.admit(late, &ask(1), time(30)).unwrap()), "it runs on");
    let ended = Record::IterationEnded {
        n: 1,
        outcome: programmator::domain::outcome::IterationOutcome::Claimed,
        changed: true,
        fingerprint: None,
        ms: 1,
        reading: None,
    };
    let spent = programmator::domain::summary::RunSummary { cost_usd: 0.5, ..summary(runs[0]) };
    store.append_blocking(Append { summary: spent, ..append(runs[0], vec![ended]) }).unwrap();
    let next = granted(&late, 1, 40);
    assert!(next > 0.1 && next <= 0.5 + 1e-6, "{next}");
    // Those that died keep theirs until they cannot run any more.
    assert!(granted(&late, 2, 900_011) > next);
}

#[test]
fn a_probe_is_waited_for_as_long_as_it_may_last_and_no_longer_than_it_does() {
    let iteration = Record::IterationEnded {
        n: 2,
        outcome: programmator::domain::outcome::IterationOutcome::Failed,
        changed: false,
        fingerprint: None,
        ms: 1,
        reading: None,
    };
    let done = Record::RunEnded {
        reason: programmator::domain::outcome::ExitReason::UserStopped,
        detail: String::new(),
        iterations: 1,
        phases_done: 0,
        phases: 1,
        cost_usd: 0.25,
    };
    for end in [iteration, done, Record::Paused] {
        let temp = tempfile::tempdir().unwrap();
        let [a, b] = [fresh(), fresh()];
        let store = with_runs(temp.path(), &[a, b]);
        store.append_blocking(append(a, vec![hit(1, 10_000)])).unwrap();
        assert!(goes(&store.admit(a, &ask(2, 100), time(10_000)).unwrap()));
        // Start, first byte and the CLI's own retries take more than six minutes.
        assert!(!goes(&store.admit(b, &ask(2, 100), time(410_000)).unwrap()));
        store.append_blocking(append(a, vec![end.clone()])).unwrap();
        assert!(goes(&store.admit(b, &ask(2, 100), time(410_001)).unwrap()), "{end:?}");
    }
}

#[test]
fn a_run_that_has_left_off_since_it_asked_is_no_probe() {
    let temp = tempfile::tempdir().unwrap();
    let [a, b] = [fresh(), fresh()];
    let store = with_runs(temp.path(), &[a, b]);
    store.append_blocking(append(a, vec![hit(1, 10_000)])).unwrap();
    let paused = programmator::domain::summary::RunSummary {
        state: programmator::domain::summary::RunState::Paused,
        ..summary(a)
    };
    store.append_blocking(Append { summary: paused, ..append(a, vec![Record::Paused]) }).unwrap();
    store.admit(a, &ask(2, 100), time(10_000)).unwrap();
    assert!(goes(&store.admit(b, &ask(2, 100), time(10_001)).unwrap()));
}

#[test]
fn a_reset_that_is_told_replaces_and_one_that_nobody_told_gives_way() {
    use Reset::{Known, Unknown};
    // The first refusal, the second one, what is waited for.
    let cases = [
        ((Known, 90_000), (Known, 60_000), (Known, 60_000)),
        ((Unknown, 90_000), (Known, 60_000), (Known, 60_000)),
        ((Known, 60_000), (Unknown, 90_000), (Known, 60_000)),
        ((Known, 60_000), (Unknown, 30_000), (Known, 60_000)),
        ((Known, 1_000), (Unknown, 30_000), (Unknown, 30_000)),
        ((Unknown, 60_000), (Unknown, 30_000), (Unknown, 60_000)),
    ];
    for (first, second, expected) in cases {
        let temp = tempfile::tempdir().unwrap();
        let run = fresh();
        let store = with_runs(temp.path(), &[run]);
        for (at, (reset, until)) in [(0, first), (2_000, second)] {
            let hit = Hit { n: 1, cause: Cause::Limit, scope: "account".into(), until: time(until), reset, tries: 1 };
            store.append_blocking(Append { time: time(at), ..append(run, vec![Record::LimitHit(hit)]) }).unwrap();
        }
        let hold = store.limit_facts(run, &Limits::default(), time(2_000)).unwrap().holds.remove(0);
        assert_eq!((hold.reset, hold.until), (expected.0, time(expected.1)), "{first:?} {second:?}");
    }
}

#[test]
fn a_call_that_was_made_is_not_taken_back_by_who_asks_again() {
    let temp = tempfile::tempdir().unwrap();
    let run = fresh();
    let store = with_runs(temp.path(), &[run]);
    let asked = || store.admit(run, &ask(1, 1), time(0)).unwrap();
    assert!(goes(&asked()));
    let begun = Record::IterationStarted { n: 1, phase: None, session: None, id: None, role: Role::default() };
    store.append_blocking(append(run, vec![begun])).unwrap();
    assert!(!goes(&asked()), "there is no place for another");
    assert_eq!(store.calls_since(time(0)).unwrap(), 1);
}

#[test]
fn a_clock_that_is_set_opens_and_closes_nothing_while_the_machine_runs() {
    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;
    for set in [DAY, -DAY, HOUR, -HOUR, 365 * DAY, -10 * 365 * DAY] {
        let temp = tempfile::tempdir().unwrap();
        let run = fresh();
        let store = with_runs(temp.path(), &[run]);
        // The clock is set between the first moment and the others.
        let moment = |set: i64, up: i64| Moment {
            now: time(set + up),
            uptime: Some(Uptime { boot: "a start".into(), millis: 5_000 + up }),
        };
        assert!(goes(&store.admit(run, &ask(1, 1), moment(0, 0)).unwrap()));
        // Of this run's money two thirds are spent.
        let spent = Append { summary: summary_with_cost(run, 2.0), ..append(run, vec![note("spent")]) };
        store.append_blocking(spent).unwrap();
        // Another program, to which nothing of it is known but what is stored.
        let store = open(temp.path());
        for up in [60_000, HOUR / 2, HOUR - 1] {
            assert!(!goes(&store.admit(run, &ask(2, 1), moment(set, up)).unwrap()), "{set}: open after {up}");
        }
        assert!(goes(&store.admit(run, &ask(2, 1), moment(set, HOUR + 1)).unwrap()), "{set}: closed after an hour");
        // It is set right again.
        assert!(
            !goes(&store.admit(run, &ask(3, 1), moment(0, HOUR + 60_000)).unwrap()),
            "{set}: open when right again"
        );
        assert!(
            goes(&store.admit(run, &ask(3, 1), moment(0, 2 * HOUR + 2)).unwrap()),
            "{set}: closed when right again"
        );
    }
}

#[test]
fn a_clock_that_is_corrected_in_steps_loses_and_repeats_no_cost() {
    let temp = tempfile::tempdir().unwrap();
    let run = fresh();
    let store = with_runs(temp.path(), &[run]);
    let mut off = 0;
    for (n, step) in (1..).zip([500, -900, 20_000, -29_000, 3_000, -45_000, 45_000, -100, 61_000]) {
        off += step;
        let up = i64::from(n) * 1_000;
        let uptime = Some(Uptime { boot: "a start".into(), millis: up });
        let admission = store.admit(run, &ask(n, 100), Moment { now: time(up + off), uptime }).unwrap();
        assert!(goes(&admission), "{step}");
        let summary = summary_with_cost(run, f64::from(n));
        let time = time(up + off);
        store.append_blocking(Append { summary, time, ..append(run, vec![note("spent")]) }).unwrap();
    }
    let facts = store.limit_facts(run, &ask(1, 100).limits, time(20_000)).unwrap();
    assert_eq!((facts.calls.len(), facts.ticket.usd), (9, 9.0));
}

fn summary_with_cost(run: RunId, cost_usd: f64) -> programmator::domain::summary::RunSummary {
    programmator::domain::summary::RunSummary { cost_usd, ..summary(run) }
}
