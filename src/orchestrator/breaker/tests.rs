//! The breaker by its table: every transition and every way back. What iterations tell it is in `iterations`.

mod iterations;

use super::*;
use crate::domain::answerer::Answerer;
use proptest::prelude::*;
use std::time::Duration;

const LIMITS: BreakerSettings = BreakerSettings {
    no_progress: 3,
    same_error: 5,
    permission_denials: 2,
    output_decline: 70,
    cooldown: 1_800,
    auto_reset: false,
};

/// When everything begins.
const START: Timestamp = Timestamp::from_millis(1_795_000_000_000);

fn minutes(n: u64) -> Timestamp {
    START.plus(Duration::from_secs(n * 60))
}

fn idle() -> Observation {
    Observation { progress: Progress::None, error: None, said: None, denied: None, output: None }
}

fn work() -> Observation {
    Observation { progress: Progress::Made { files: 2 }, ..idle() }
}

fn failing(error: &str) -> Observation {
    Observation { error: Some(error.into()), ..work() }
}

fn refused(seen: Observation) -> Observation {
    Observation { denied: Some("Bash".into()), ..seen }
}

/// One iteration; what it recorded.
fn take(breaker: &mut Breaker, limits: &BreakerSettings, seen: &Observation, now: Timestamp) -> Vec<Record> {
    let mut records = Vec::new();
    let mut add = |breaker: &mut Breaker, record: Record| {
        fold(breaker, &record, now);
        records.push(record);
    };
    for moved in count(breaker, limits, 1, seen) {
        add(breaker, Record::BreakerCounted(moved));
    }
    if let Some(Move { to, reason }) = next(breaker, limits, seen.progress) {
        let from = breaker.state;
        add(breaker, Record::BreakerMoved(StateMoved { n: 1, from, to, reason }));
    }
    remember(breaker, seen.output, limits.output_decline);
    records
}

fn after(seen: &[Observation]) -> Breaker {
    let mut breaker = Breaker::default();
    for seen in seen {
        take(&mut breaker, &LIMITS, seen, START);
    }
    breaker
}

/// A breaker that three idle iterations have opened at [`START`].
fn opened() -> Breaker {
    let breaker = after(&[idle(), idle(), idle()]);
    assert_eq!(breaker.state, Circuit::Open);
    breaker
}

fn start(breaker: &mut Breaker, limits: &BreakerSettings, now: Timestamp) -> Recovery {
    let recovery = recover(breaker, limits, now);
    if let Recovery::Moves(Move { to, reason }) = recovery.clone() {
        let from = breaker.state;
        fold(breaker, &Record::BreakerMoved(StateMoved { n: 0, from, to, reason }), now);
    }
    recovery
}

#[test]
fn a_phase_that_a_critic_approved_is_progress_though_nothing_was_changed() {
    let mut breaker = Breaker::default();
    for n in 1..=2 {
        for moved in count(&breaker, &LIMITS, n, &idle()) {
            fold(&mut breaker, &Record::BreakerCounted(moved), START);
        }
    }
    assert_eq!(breaker.no_progress, 2);
    let done = |how| Record::PhaseDone { n: 2, phase: None, id: None, how };
    fold(&mut breaker, &done(DoneHow::ClaimedNoChange), START);
    assert_eq!(breaker.no_progress, 2, "Claude's word is none");
    fold(&mut breaker, &done(DoneHow::Approved), START);
    assert_eq!(breaker.no_progress, 0);
}

#[test]
fn the_table_of_transitions() {
    use Circuit::{Closed, HalfOpen, Open};
    let made = Progress::Made { files: 1 };
    // State, denials, no progress, same error, decline, progress → where to.
    let cases = [
        ("one refusal", Closed, 1, 0, 0, 0, made, None),
        ("refusals open, also with progress", Closed, 2, 0, 0, 0, made, Some(Open)),
        ("refusals before all else", Closed, 2, 3, 5, 70, Progress::None, Some(Open)),
        ("one idle iteration", Closed, 0, 1, 0, 0, Progress::None, None),
        ("the second makes watchful", Closed, 0, 2, 0, 0, Progress::None, Some(HalfOpen)),
        ("the third opens", Closed, 0, 3, 0, 0, Progress::None, Some(Open)),
        ("four of one error", Closed, 0, 0, 4, 0, made, None),
        ("five of one error", Closed, 0, 0, 5, 0, made, Some(Open)),
        ("an error outranks watchfulness", Closed, 0, 2, 5, 0, Progress::None, Some(Open)),
        ("a declined output only makes watchful", Closed, 0, 0, 0, 70, made, Some(HalfOpen)),
        ("watched, and refused again", HalfOpen, 2, 0, 0, 0, made, Some(Open)),
        ("watched, and works again", HalfOpen, 0, 0, 0, 0, made, Some(Closed)),
        ("watched: the error is not looked at", HalfOpen, 0, 2, 5, 0, Progress::None, None),
        ("watched: nor with progress", HalfOpen, 0, 0, 9, 0, made, Some(Closed)),
        ("watched: nor the output", HalfOpen, 0, 2, 0, 100, Progress::None, None),
        ("watched, and idle again", HalfOpen, 0, 3, 0, 0, Progress::None, Some(Open)),
        ("watched: a question is not progress", HalfOpen, 0, 2, 0, 0, Progress::Asked, None),
        ("open stays", Open, 0, 0, 0, 0, made, None),
        ("open stays, whatever comes", Open, 9, 9, 9, 99, Progress::None, None),
    ];
    for (name, state, permission_denials, no_progress, same_error, output_decline, progress, to) in cases {
        let breaker =
            Breaker { state, no_progress, same_error, permission_denials, output_decline, ..Breaker::default() };
        assert_eq!(next(&breaker, &LIMITS, progress).map(|to| to.to), to, "{name}");
    }
}

// Where it stands after each start is in `tests/quick/hank/breaker.rs`.
#[test]
fn a_refused_start_says_how_long_it_takes() {
    let at_once = BreakerSettings { cooldown: 0, ..LIMITS };
    let undated = Breaker { opened_at: None, ..opened() };
    let timeless = Breaker { opened_at: None, last_change: None, ..opened() };
    let earlier = |millis| Timestamp::from_millis(START.millis() - millis);
    for (name, mut breaker, limits, now, left) in [
        ("at the very moment of opening", opened(), LIMITS, START, 1_800_000),
        ("the cooldown is not over", opened(), LIMITS, minutes(29), 60_000),
        ("the clock went back", opened(), LIMITS, earlier(60_000), 1_860_000),
        ("the clock went back, no cooldown", opened(), at_once, earlier(1), 1),
        ("no time of opening: the last move counts", undated, LIMITS, minutes(10), 1_200_000),
        ("no time at all: only a reset helps", timeless, LIMITS, minutes(9_999), 1_800_000),
    ] {
        let before = breaker.clone();
        let recovery = start(&mut breaker, &limits, now);
        assert_eq!(recovery, Recovery::Refused { left: Duration::from_millis(left) }, "{name}");
        assert!(refusal(&breaker, &limits, now, "tk-1").is_some(), "{name}");
        assert_eq!(breaker, before, "{name}: nothing changes");
    }
}

#[test]
fn a_cooled_breaker_keeps_its_counters_so_one_iteration_decides() {
    let mut cooled = opened();
    start(&mut cooled, &LIMITS, minutes(31));
    assert_eq!((cooled.state, cooled.no_progress, cooled.total_opens), (Circuit::HalfOpen, 3, 1));
    assert_eq!(cooled.opened_at, None, "only an open breaker has a time of opening");

    let mut bad = cooled.clone();
    take(&mut bad, &LIMITS, &idle(), minutes(32));
    assert_eq!((bad.state, bad.total_opens, bad.opened_at), (Circuit::Open, 2, Some(minutes(32))));

    let mut good = cooled;
    take(&mut good, &LIMITS, &work(), minutes(32));
    assert_eq!((good.state, good.no_progress, good.total_opens), (Circuit::Closed, 0, 1));
}

#[test]
fn a_persons_reset_forgets_everything() {
    let mut breaker = opened();
    fold(&mut breaker, &Record::BreakerReset(ByPerson { by: Answerer::SCREEN }), minutes(5));
    assert!(breaker.is_at_rest());
    assert_eq!((breaker.opened_at, breaker.last_change), (None, Some(minutes(5))));
}

#[test]
fn the_time_of_opening_is_set_once_and_kept() {
    let mut breaker = opened();
    assert_eq!(breaker.opened_at, Some(START));
    take(&mut breaker, &LIMITS, &idle(), minutes(3));
    start(&mut breaker, &LIMITS, minutes(4));
    assert_eq!((breaker.opened_at, breaker.last_change), (Some(START), Some(START)));
}

#[test]
fn what_a_run_left_is_what_the_next_begins_with() {
    let left = opened();
    let mut carried = Breaker::default();
    fold(&mut carried, &Record::BreakerCarried { breaker: left.clone() }, minutes(9));
    assert_eq!(carried, left, "the time of opening is that of then");
}

#[test]
fn an_error_that_opens_it_is_named_as_it_was_reported() {
    let failing =
        |at| Observation { said: Some(format!("no such file: /a/{at}.rs")), ..failing("no such file: <path>") };
    let opened = after(&(1..=5).map(failing).collect::<Vec<_>>());
    assert_eq!(opened.reason, "5 iterations in a row ended with: no such file: /a/5.rs");
    assert_eq!(opened.error.as_deref(), Some("no such file: <path>"), "the same for all of them");
}

#[test]
fn errors_count_only_while_they_are_the_same() {
    assert_eq!(after(&[failing("a"), failing("a"), failing("a")]).same_error, 3);
    let mixed = after(&[failing("a"), failing("a"), failing("b")]);
    assert_eq!((mixed.same_error, mixed.error.as_deref()), (1, Some("b")));
    // One of each: the number stays, but what is counted changes.
    let swapped = after(&[failing("a"), failing("b"), failing("a")]);
    assert_eq!((swapped.same_error, swapped.error.as_deref()), (1, Some("a")));
    let gone = after(&[failing("a"), work()]);
    assert_eq!((gone.same_error, gone.error), (0, None));
    let many: Vec<_> = (0..5).map(|_| failing("a")).collect();
    assert_eq!((after(&many[..4]).state, after(&many).state), (Circuit::Closed, Circuit::Open));
}

#[test]
fn refusals_in_a_row_open_and_one_iteration_without_starts_anew() {
    assert_eq!(after(&[refused(work()), work(), refused(work())]).state, Circuit::Closed);
    assert_eq!(after(&[refused(work()), refused(work())]).state, Circuit::Open);
}

#[test]
fn a_question_neither_raises_nor_resets() {
    let asking = Observation { progress: Progress::Asked, ..idle() };
    let breaker = after(&[idle(), asking.clone(), asking]);
    assert_eq!((breaker.no_progress, breaker.state), (1, Circuit::Closed));
}

#[test]
fn output_that_declines_half_opens_and_no_more() {
    let said = |tokens| Observation { output: Some(tokens), ..work() };
    let cases: [(&str, &[u64], Circuit, u32); 10] = [
        ("by less than the threshold", &[1_000, 301, 301], Circuit::Closed, 0),
        ("by the threshold, once", &[1_000, 300], Circuit::Closed, 0),
        ("by the threshold, twice", &[1_000, 300, 300], Circuit::HalfOpen, 70),
        ("a short iteration between long ones", &[9_000, 100, 9_000, 100], Circuit::Closed, 0),
        ("short ones that become shorter", &[464, 119, 30, 5], Circuit::Closed, 0),
        ("it grows", &[300, 1_000, 1_000], Circuit::Closed, 0),
        ("nothing to compare with", &[5, 5], Circuit::Closed, 0),
        ("nothing was said before", &[0, 5, 5], Circuit::Closed, 0),
        ("down in two steps", &[2_000, 1_000, 400], Circuit::Closed, 0),
        ("and back", &[1_000, 10, 10, 10], Circuit::Closed, 0),
    ];
    for (name, tokens, state, value) in cases {
        let seen: Vec<_> = tokens.iter().map(|tokens| said(*tokens)).collect();
        let breaker = after(&seen);
        assert_eq!((breaker.state, breaker.output_decline), (state, value), "{name}");
    }
    let unmeasured = after(&[said(1_000), work(), said(100), work(), said(100)]);
    assert_eq!(unmeasured.state, Circuit::HalfOpen, "compared with the last that was measured");
}

#[test]
fn every_movement_of_a_counter_is_explained() {
    let mut breaker = Breaker::default();
    let seen = refused(Observation { error: Some("exit #".into()), ..idle() });
    let records = take(&mut breaker, &LIMITS, &seen, START);
    let whys: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::BreakerCounted(CounterMoved { counter, value, limit, why, .. }) => {
                Some((*counter, *value, *limit, why.as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        whys,
        [
            (Counter::NoProgress, 1, 3, "the working tree did not change"),
            (Counter::SameError, 1, 5, "exit #"),
            (Counter::PermissionDenials, 1, 2, "Bash"),
        ]
    );
    assert_eq!(take(&mut Breaker::default(), &LIMITS, &work(), START), [], "nothing moved, nothing is told");
}

fn any_seen() -> impl Strategy<Value = Observation> {
    let progress = prop_oneof![
        Just(Progress::None),
        Just(Progress::Asked),
        (1..9_usize).prop_map(|files| Progress::Made { files })
    ];
    let output = prop::option::of(prop_oneof![Just(0), 1..2_000_u64, Just(u64::MAX)]);
    (progress, prop::option::of("[ab]"), prop::option::of("[x]"), output)
        .prop_map(|(progress, error, denied, output)| Observation { progress, error, said: None, denied, output })
}

#[derive(Clone, Debug)]
enum Event {
    Iteration(Observation),
    Start,
    Reset,
    Clock(i64),
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => any_seen().prop_map(Event::Iteration),
        2 => Just(Event::Start),
        1 => Just(Event::Reset),
        3 => (-4_000_000..4_000_000_i64).prop_map(Event::Clock),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_moves_only_by_its_table_and_never_closes_early(
        events in prop::collection::vec(any_event(), 0..80),
        no_progress in 1..6_u32, same_error in 1..6_u32, permission_denials in 1..4_u32, cooldown in 0..4_000_u64,
    ) {
        use Circuit::{Closed, HalfOpen, Open};
        let limits = BreakerSettings { no_progress, same_error, permission_denials, cooldown, ..LIMITS };
        let (mut breaker, mut now, mut opens) = (Breaker::default(), START, 0);
        for event in events {
            let before = breaker.clone();
            let records = match &event {
                Event::Clock(by) => {
                    now = Timestamp::from_millis(now.millis() + by);
                    vec![]
                }
                Event::Reset => {
                    fold(&mut breaker, &Record::BreakerReset(ByPerson { by: Answerer::SCREEN }), now);
                    opens = 0;
                    prop_assert!(breaker.is_at_rest());
                    vec![]
                }
                Event::Start => {
                    let recovery = start(&mut breaker, &limits, now);
                    if let Recovery::Moves(to) = recovery {
                        let waited = now.millis() - before.opened_at.unwrap().millis();
                        prop_assert!(to.to == HalfOpen && waited >= i64::try_from(cooldown).unwrap() * 1_000);
                        prop_assert_eq!(breaker.no_progress, before.no_progress);
                    } else {
                        prop_assert_eq!(&breaker, &before);
                    }
                    vec![]
                }
                // Nothing runs while it is open.
                Event::Iteration(_) if breaker.state == Open => vec![],
                Event::Iteration(seen) => take(&mut breaker, &limits, seen, now),
            };
            for record in &records {
                let Record::BreakerMoved(StateMoved { from, to, .. }) = record else { continue };
                opens += u32::from(*to == Open);
                prop_assert!(matches!((from, to), (Closed, HalfOpen | Open) | (HalfOpen, Closed | Open)), "{:?}", record);
                let over = breaker.permission_denials >= permission_denials
                    || breaker.no_progress >= no_progress
                    || (*from == Closed && breaker.same_error >= same_error);
                prop_assert_eq!(*to == Open, over && !(breaker.permission_denials < permission_denials && *from == HalfOpen && breaker.no_progress == 0), "{:?}", record);
            }
            prop_assert_eq!(breaker.total_opens, opens);
            prop_assert_eq!(breaker.opened_at.is_some(), breaker.state == Open);
            if let Event::Iteration(Observation { progress: Progress::None, .. }) = event && before.state != Open {
                prop_assert_eq!(breaker.no_progress, before.no_progress + 1);
                let over = breaker.no_progress >= no_progress;
                prop_assert!(!over || breaker.state == Open, "it must open");
            }
        }
    }
}
