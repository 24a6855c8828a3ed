//! Calls and tokens per hour, and the provider's limit: a named row for each behaviour.

use programmator::adapters::store::Store;
use programmator::base::id::RunId;
use programmator::base::time::Timestamp;
use programmator::domain::limits::admission::{Ask, Asker, Facts, Place, Purpose, Verdict, Why, admit};
use programmator::domain::limits::{Budget, HourWindow, Limits, Spent};
use programmator::domain::record::{FORMAT, PhaseSeed, Record, Stored};
use programmator::domain::session::Told;
use programmator::domain::stream::envelope::{Line, read};
use programmator::domain::stream::rate_limit::window;
use programmator::domain::stream::turn::TurnReader;
use programmator::orchestrator::apply::apply;
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::effect::{Effect, Timer};
use programmator::orchestrator::input::{Input, Start};
use programmator::orchestrator::state::State;

/// 2026-11-21T14:30:00Z.
const NOW: i64 = 1_795_271_400_000;
const MINUTE: i64 = 60_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(NOW + minutes * MINUTE)
}

fn run_id() -> RunId {
    RunId(uuid::Uuid::nil())
}

fn ask(limits: Limits) -> Ask {
    Ask {
        n: 1,
        purpose: Purpose::Iteration,
        limits,
        spent: Spent::default(),
        forecast: Spent::default(),
        model: None,
        place: Place::PhaseStart,
        asker: Asker::Program,
        lasts: std::time::Duration::from_secs(900),
    }
}

fn hourly(calls: u32, tokens: Option<u64>) -> Limits {
    Limits { calls, tokens, ..Limits::default() }
}

#[test]
fn calls_and_tokens_against_their_limits() {
    /// Name; calls made and their limit; tokens used and their limit; which limit parks.
    type Row = (&'static str, usize, u32, u64, Option<u64>, Option<Why>);
    let rows: [Row; 14] = [
        ("no call yet", 0, 100, 0, None, None),
        ("one call", 1, 100, 0, None, None),
        ("one under the limit", 99, 100, 0, None, None),
        ("at the limit", 100, 100, 0, None, Some(Why::Calls)),
        ("over the limit", 150, 100, 0, None, Some(Why::Calls)),
        ("a limit of one, unused", 0, 1, 0, None, None),
        ("a limit of one, used", 1, 1, 0, None, Some(Why::Calls)),
        ("the limit was raised", 100, 101, 0, None, None),
        ("tokens without a limit", 0, 100, u64::MAX / 4, None, None),
        ("no tokens yet", 0, 100, 0, Some(1_000), None),
        ("tokens one under", 0, 100, 999, Some(1_000), None),
        ("tokens at the limit", 0, 100, 1_000, Some(1_000), Some(Why::Tokens)),
        ("tokens over the limit", 0, 100, 5_000, Some(1_000), Some(Why::Tokens)),
        ("calls are free, tokens are not", 5, 100, 1_000, Some(1_000), Some(Why::Tokens)),
    ];
    for (name, calls, most, tokens, most_tokens, expected) in rows {
        let tokens = if tokens == 0 { vec![] } else { vec![(at(-2), tokens)] };
        let facts = Facts { calls: vec![(at(-1), 1); calls], tokens, ..Facts::default() };
        let verdict = admit(&facts, &ask(hourly(most, most_tokens)), run_id(), at(0), &jiff::tz::TimeZone::UTC).verdict;
        let why = match verdict {
            Verdict::Park(parking) => {
                assert_eq!(parking.until, at(30), "{name}: to the full hour");
                Some(parking.why)
            }
            _ => None,
        };
        assert_eq!(why, expected, "{name}");
    }
}

fn store(folder: &std::path::Path) -> Store {
    let store = Store::open(&folder.join("state")).expect("the store");
    let (_, records) = decided(&mut State::default(), start());
    let mut state = State::default();
    fold(&mut state, &records, 0);
    let summary = programmator::orchestrator::summary::summary(&state).expect("a summary");
    let ticket = summary.ticket.clone();
    let append = programmator::adapters::store::Append { run: run_id(), ticket, time: at(0), records, summary };
    store.append_blocking(append).expect("stored");
    store
}

#[test]
fn the_count_is_raised_before_the_call_and_lasts() {
    let go = |store: &Store, n: u32, minute: i64| {
        let sliding = Limits { calls: 3, window: HourWindow::Sliding, ..Limits::default() };
        let admission = store.admit(run_id(), &Ask { n, ..ask(sliding) }, at(minute)).expect("an answer");
        (matches!(admission.verdict, Verdict::Go { .. }), admission.ledger.calls)
    };
    let temp = tempfile::tempdir().expect("a folder");
    let store = store(temp.path());
    assert_eq!(go(&store, 1, 0), (true, 1), "a missing count begins at nothing, and is raised before the call");
    assert_eq!(go(&store, 2, 1), (true, 2), "each call raises it by one");
    assert_eq!(go(&store, 2, 1), (true, 2), "a call that was not made yet is not counted again");
    assert_eq!(go(&store, 3, 2), (true, 3), "the last one under the limit");
    assert_eq!(go(&store, 4, 3), (false, 3), "a refused call does not raise it");
    drop(store);
    let store = Store::open(&temp.path().join("state")).expect("the store");
    assert_eq!(go(&store, 4, 4), (false, 3), "it lasts over a restart");
    assert_eq!(go(&store, 4, 61), (true, 2), "what is an hour old has left");
}

#[test]
fn an_hour_of_the_clock_begins_anew() {
    let rows = [
        ("within the hour", -29, false, 30),
        ("in the hour before", -31, true, 0),
        ("at the full hour itself", -30, false, 30),
        ("yesterday", -1_440, true, 0),
    ];
    for (name, minute, goes, until) in rows {
        // The store gives what counts for the present hour.
        let begins = programmator::domain::limits::hour::start(at(0), HourWindow::Clock, &jiff::tz::TimeZone::UTC);
        let calls: Vec<_> = [(at(minute), 1)].into_iter().filter(|(time, _)| *time >= begins).collect();
        let facts = Facts { calls, ..Facts::default() };
        match admit(&facts, &ask(hourly(1, None)), run_id(), at(0), &jiff::tz::TimeZone::UTC).verdict {
            Verdict::Go { .. } => assert!(goes, "{name}"),
            Verdict::Park(parking) => assert_eq!((goes, parking.until), (false, at(until)), "{name}"),
            Verdict::Stop(why) => panic!("{name}: {why}"),
        }
    }
}

fn start() -> Input {
    Input::Started(Box::new(Start {
        ticket_path: "/w/t.md".into(),
        title: "T".into(),
        phases: vec![PhaseSeed { text: "Do it".into(), done: false }],
        ..Start::default()
    }))
}

fn fold(state: &mut State, records: &[Record], minutes: i64) {
    for record in records {
        let stored = Stored {
            v: FORMAT,
            seq: state.seq + 1,
            time: at(minutes),
            run: run_id(),
            ticket: serde_json::from_str("\"t\"").expect("an id"),
            record: record.clone(),
        };
        apply(state, &stored);
    }
}

fn decided(state: &mut State, input: Input) -> (Vec<Effect>, Vec<Record>) {
    let decision = decide(state, input, at(0));
    fold(state, &decision.records, 0);
    (decision.effects, decision.records)
}

/// A run under these limits that has asked for its Claude, and what that may spend.
fn spawned(limits: Limits, facts: &Facts) -> (State, Option<f64>) {
    let mut state = State::default();
    decided(&mut state, start());
    fold(&mut state, &[Record::LimitsChanged(Box::new(limits))], 0);
    let (effects, _) = decided(&mut state, Input::TreeGranted);
    let Some(Effect::Admit(ask)) = effects.last() else { panic!("no call was asked for: {effects:?}") };
    let admission = admit(facts, ask, run_id(), at(0), &jiff::tz::TimeZone::UTC);
    decided(&mut state, Input::Admitted { n: 1, purpose: Purpose::Iteration, admission: Box::new(admission) });
    let (effects, _) = decided(&mut state, Input::SnapshotTaken { n: 1, id: "s".into() });
    let Some(Effect::Spawn(spawn)) = effects.into_iter().find(|effect| matches!(effect, Effect::Spawn(_))) else {
        panic!("Claude is not started")
    };
    (state, spawn.max_budget_usd)
}

#[test]
fn claude_may_spend_what_is_left_of_the_tightest_budget() {
    let usd = |usd: u64| Budget { micro_usd: Some(usd * 1_000_000), tokens: None };
    let spent = |usd| Spent { usd, tokens: 0 };
    let limits = Limits { run: usd(5), ticket: usd(3), day: usd(9), ..Limits::default() };
    for (ticket, day, left) in [(0.0, 0.0, 3.0), (2.0, 0.0, 1.0), (2.0, 8.5, 0.5)] {
        let facts = Facts { ticket: spent(ticket), day: spent(day), ..Facts::default() };
        assert_eq!(spawned(limits.clone(), &facts).1, Some(left), "{ticket} of the ticket's, {day} of the day's");
    }
}

/// A run whose Claude is at work in iteration 1.
fn at_work() -> State {
    let (mut state, _) = spawned(Limits::default(), &Facts::default());
    for input in [
        Input::AgentSpawned { n: 1, pid: 7 },
        Input::AgentReady { n: 1, session: "s".into(), model: "m".into(), version: "v".into(), told: Told::default() },
    ] {
        decided(&mut state, input);
    }
    state
}

/// What the lines of a Claude come to: windows it told of, and its result.
fn told(lines: &[&str]) -> Vec<Input> {
    fn take(line: &str, reader: &mut TurnReader, inputs: &mut Vec<Input>) {
        use programmator::domain::stream::envelope::Kind;
        match read(line) {
            Line::Record(envelope) => match envelope.kind() {
                Kind::Assistant => drop(reader.assistant(&envelope)),
                Kind::Result => {
                    let result = Box::new(reader.finish(&envelope, line));
                    inputs.push(Input::TurnFinished { n: 1, result });
                }
                Kind::RateLimit => {
                    let told = envelope.rate_limit_info.and_then(|info| window(info.get()));
                    inputs.extend(told.map(|window| Input::LimitSeen { n: 1, window }));
                }
                _ => {}
            },
            Line::Several(parts) => parts.iter().for_each(|part| take(part, reader, inputs)),
            _ => {}
        }
    }
    let (mut reader, mut inputs) = (TurnReader::default(), vec![]);
    for line in lines {
        take(line, &mut reader, &mut inputs);
    }
    inputs
}

const REJECTED: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795280400,"rateLimitType":"five_hour"}}"#;
const ALLOWED: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1795280400,"rateLimitType":"five_hour"}}"#;
const FAILED: &str = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"}"#;
const FAILED_OTHERWISE: &str =
    r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":500,"result":"API Error: 500"}"#;
const ENDED: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#;
const ECHO: &str = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"You've hit your session limit · resets 3pm. 5-hour limit reached. Claude AI usage limit reached|1795280400. out of extra usage"}]},"parent_tool_use_id":null}"#;
const TOOL_ECHO: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"usage limit reached, try back later"}]}}"#;
const SYNTHETIC: &str = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"You're out of extra usage · resets 4pm (UTC)"}]},"parent_tool_use_id":null,"error":"unknown"}"#;
const ECHOED_ERROR: &str = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"result":"You've hit your session limit · resets 3pm. 5-hour limit reached. Claude AI usage limit reached|1795280400. out of extra usage"}"#;
const PLAIN_ERROR: &str = r#"{"type":"result","subtype":"success","is_error":true,"result":"You've hit your weekly limit · resets Nov 24, 3pm (UTC)"}"#;

#[test]
fn what_is_a_limit_of_the_provider_and_what_only_sounds_like_one() {
    let glued = format!("{}{REJECTED}{}", &FAILED[..40], &FAILED[40..]);
    let rows: [(&str, &[&str], bool); 16] = [
        ("a rejected window and an error", &[REJECTED, FAILED_OTHERWISE], true),
        ("a rejected window and a status 429", &[REJECTED, FAILED], true),
        ("a rejected window glued into the result", &[&glued], true),
        ("a status 429 without any event", &[FAILED], true),
        ("an error although the process exits with 0", &[FAILED], true),
        ("the words of the CLI itself", &[SYNTHETIC, FAILED_OTHERWISE], true),
        ("the words of the CLI in a result that is no error", &[SYNTHETIC, ENDED], true),
        ("the words in the error result", &[PLAIN_ERROR], true),
        ("an allowed window and an error", &[ALLOWED, FAILED_OTHERWISE], false),
        ("an allowed window and an echo of the words", &[ALLOWED, ECHO, ENDED], false),
        ("an echo of the words, and an error of another kind", &[ECHO, FAILED_OTHERWISE], false),
        ("an echo that comes back as the error result", &[ECHO, ECHOED_ERROR], false),
        ("the words in a file that a tool read", &[TOOL_ECHO, FAILED_OTHERWISE], false),
        ("a rejected window, opened again since", &[REJECTED, ALLOWED, FAILED_OTHERWISE], false),
        ("a rejected window and a turn that went well", &[REJECTED, ENDED], false),
        ("an error of the service", &[FAILED_OTHERWISE], false),
    ];
    for (name, lines, limited) in rows {
        let mut state = at_work();
        for input in told(lines) {
            decided(&mut state, input);
        }
        let hit = state.iteration.as_ref().and_then(|iteration| iteration.limited.as_ref());
        assert_eq!(hit.is_some(), limited, "{name}: {hit:?}");
    }
}

#[test]
fn a_window_that_is_told_again_is_no_news() {
    let mut state = at_work();
    let news = told(&[REJECTED, REJECTED]).into_iter().map(|input| decided(&mut state, input).1.len());
    assert_eq!(news.collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_timeout_that_echoes_the_words_is_no_limit() {
    let mut state = at_work();
    for input in told(&[REJECTED, ECHO]) {
        decided(&mut state, input);
    }
    decided(&mut state, Input::TimerFired { timer: Timer::Iteration(1), last_byte: at(0) });
    decided(
        &mut state,
        Input::AgentExited { n: 1, code: Some(124), signal: None, swept: 0, stderr: "usage limit reached".into() },
    );
    let iteration = state.iteration.expect("an iteration");
    assert_eq!(iteration.limited, None);
    assert_eq!(iteration.cut, Some(programmator::domain::outcome::IterationOutcome::TimedOut));
}

#[test]
fn a_claude_that_dies_after_a_rejected_window_met_the_limit() {
    let mut state = at_work();
    for input in told(&[REJECTED]) {
        decided(&mut state, input);
    }
    let exited = Input::AgentExited { n: 1, code: Some(1), signal: None, swept: 0, stderr: String::new() };
    decided(&mut state, exited);
    let hit = state.iteration.and_then(|iteration| iteration.limited).expect("a limit");
    assert!(
        hit.until > Timestamp::from_millis(1_795_280_400_000),
        "to the reset that was told, not a flat hour: {hit:?}"
    );
}
