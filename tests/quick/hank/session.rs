//! Claude's sessions: what is resumed, for how long, and what gives one up.

use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{Presence, Ruling};
use programmator::domain::command::UserCommand;
use programmator::domain::limits::admission::{Facts, admit};
use programmator::domain::outcome::{ExitReason, IterationOutcome};
use programmator::domain::phase::PhaseId;
use programmator::domain::record::{ApiRetried, FORMAT, OfPhase, PhaseSeed, Record, Stored, WriteOutcome};
use programmator::domain::session::{HISTORY, SessionEvent, Sessions, Told};
use programmator::domain::settings::Settings;
use programmator::domain::step::StepName;
use programmator::domain::tool_call::{ControlRequest, ToolCall, Via};
use programmator::domain::turn::TurnResult;
use programmator::domain::verdict::Verdict;
use programmator::domain::workspace::Workspace;
use programmator::orchestrator::apply::apply;
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::effect::{Effect, Timer};
use programmator::orchestrator::input::{Input, Start};
use programmator::orchestrator::state::State;
use std::sync::Arc;
use std::time::Duration;

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

/// A run without a world: what the core decides is folded and remembered.
struct Loop {
    state: Arc<State>,
    now: Timestamp,
    records: Vec<Record>,
    effects: Vec<Effect>,
}

impl Loop {
    fn start(settings: Settings, sessions: Sessions, now: Timestamp) -> Self {
        let mut all = Self { state: Arc::default(), now, records: vec![], effects: vec![] };
        let phase = |text: &str| PhaseSeed { text: text.into(), done: false };
        all.give(Input::Started(Box::new(Start {
            workspace: Workspace::shared("/w"),
            ticket_path: "/w/t.md".into(),
            title: "T".into(),
            phases: vec![phase("One"), phase("Two")],
            settings,
            sessions,
            ..Start::default()
        })));
        all.give(Input::TreeGranted);
        all
    }

    fn fresh() -> Self {
        Self::start(Settings::default(), Sessions::default(), Timestamp::from_millis(1_795_000_000_000))
    }

    /// The ticket's next run, so much later.
    fn next_run(&self, settings: Settings, later: Duration) -> Self {
        Self::start(settings, self.state.sessions.clone(), self.now.plus(later))
    }

    fn give(&mut self, input: Input) {
        self.now = self.now.plus(Duration::from_millis(1));
        let decision = decide(&self.state, input, self.now);
        self.state = decision.next.unwrap_or_else(|| self.state.clone());
        self.records.extend(decision.records);
        for effect in decision.effects {
            if let Effect::Admit(ask) = &effect {
                // Nobody else calls, and there is room.
                let zone = jiff::tz::TimeZone::UTC;
                let admission = admit(&Facts::default(), ask, RunId(uuid::Uuid::nil()), self.now, &zone);
                let (n, purpose) = (ask.n, ask.purpose);
                self.give(Input::Admitted { n, purpose, admission: Box::new(admission) });
            } else {
                self.effects.push(effect);
            }
        }
    }

    fn n(&self) -> u32 {
        self.state.iterations
    }

    /// Up to the prompt. Gives the session that Claude is asked to go on with.
    fn spawn(&mut self) -> Option<String> {
        let n = self.n();
        self.give(Input::SnapshotTaken { n, id: format!("s{n}") });
        let spawned = self.effects.iter().rev().find_map(|effect| match effect {
            Effect::Spawn(spawn) => Some((spawn.session.clone(), spawn.told.is_some())),
            _ => None,
        });
        self.give(Input::AgentSpawned { n, pid: 7 });
        let (session, told) = spawned.expect("Claude is started");
        assert_eq!(told, session.is_some(), "what Claude was told before is known of its own session alone");
        session
    }

    fn ready(&mut self, session: &str) {
        let (n, session) = (self.n(), session.to_owned());
        self.give(Input::AgentReady {
            n,
            session,
            model: "m".into(),
            version: "2.1.197".into(),
            told: Told::default(),
        });
    }

    fn ends(&mut self, result: TurnResult) {
        self.give(Input::TurnFinished { n: self.n(), result: Box::new(result) });
        self.exits();
    }

    fn exits(&mut self) {
        let n = self.n();
        self.give(Input::AgentExited { n, code: Some(0), signal: None, swept: 0, stderr: String::new() });
        let files = vec!["a.rs".to_owned()];
        self.give(Input::EvidenceGathered { n, iteration_files: files.clone(), phase_files: files, reading: 1 });
    }

    /// A whole iteration that goes well.
    fn works(&mut self, session: &str) -> Option<String> {
        let asked = self.spawn();
        self.ready(session);
        self.ends(claim("null", "CONTINUE"));
        asked
    }

    fn kept(&self) -> Option<&str> {
        self.state.sessions.of(&StepName::CODE).map(|kept| kept.id.as_str())
    }

    fn ways(&self) -> Vec<&str> {
        self.state.sessions.history.iter().map(|moved| moved.to.word()).collect()
    }

    fn last_reason(&self) -> &str {
        &self.state.sessions.history.last().expect("a transition").reason
    }
}

fn claim(phase: &str, status: &str) -> TurnResult {
    let text = format!(
        "PROGRAMMATOR_STATUS:\n  phase_completed: {phase}\n  status: {status}\n  files_changed: [a.rs]\n  summary: s\n"
    );
    TurnResult { subtype: "success".into(), text, ..TurnResult::default() }
}

fn failure(subtype: &str, kind: Option<&str>, status: Option<u16>) -> TurnResult {
    TurnResult {
        subtype: subtype.into(),
        is_error: true,
        api_error_status: status,
        error_kind: kind.map(Into::into),
        message: "API Error".into(),
        ..TurnResult::default()
    }
}

#[test]
fn the_first_loop_opens_a_session_and_the_second_goes_on_with_it() {
    let mut all = Loop::fresh();
    assert_eq!(all.works(FIRST), None);
    assert_eq!(all.works(FIRST).as_deref(), Some(FIRST));
    assert_eq!(all.ways(), ["opened", "resumed"]);
}

#[test]
fn the_id_comes_from_the_system_frame_and_needs_no_result() {
    let mut all = Loop::fresh();
    all.spawn();
    all.ready(FIRST);
    assert_eq!(all.kept(), Some(FIRST), "before any result");
}

#[test]
fn another_id_than_the_one_asked_for_takes_its_place() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    all.works(OTHER);
    assert_eq!((all.kept(), all.ways()), (Some(OTHER), vec!["opened", "opened"]));
}

#[test]
fn a_session_outlives_the_run() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    all.give(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::FinishAndStop });
    all.works(FIRST);
    assert_eq!(all.state.ended.as_ref().map(|ended| ended.reason), Some(ExitReason::UserStopped));
    let mut next = all.next_run(Settings::default(), Duration::from_secs(3_600));
    assert_eq!(next.works(FIRST).as_deref(), Some(FIRST));
}

#[test]
fn age_decides_and_its_limit_is_the_persons() {
    let minute = |minutes: u64| Duration::from_secs(minutes * 60);
    for (name, hours, later, resumed) in [
        ("at once", 24, minute(0), true),
        ("after an hour", 24, minute(60), true),
        ("a minute before a day", 24, minute(24 * 60 - 1), true),
        ("after a day", 24, minute(24 * 60 + 1), false),
        ("after a week", 24, minute(7 * 24 * 60), false),
        ("within an expiry of one hour", 1, minute(59), true),
        ("beyond an expiry of one hour", 1, minute(61), false),
        ("within an expiry of two days", 48, minute(47 * 60), true),
    ] {
        let mut all = Loop::fresh();
        all.works(FIRST);
        let settings = Settings { session_expiry_hours: hours, ..Settings::default() };
        let mut next = all.next_run(settings, later);
        assert_eq!(next.spawn().is_some(), resumed, "{name}");
        let expected = if resumed { "opened" } else { "expired" };
        assert_eq!(next.ways().last(), Some(&expected), "{name}");
    }
}

#[test]
fn an_expired_session_says_so_and_a_fresh_one_follows() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    let mut next = all.next_run(Settings::default(), Duration::from_secs(30 * 3_600));
    assert_eq!(next.works(OTHER), None);
    assert_eq!(next.ways(), ["opened", "expired", "opened"]);
    let expired = next.state.sessions.history.iter().find(|moved| moved.to == SessionEvent::Expired).unwrap();
    assert!(expired.reason.contains("30h"), "{}", expired.reason);
}

#[test]
fn a_clock_that_goes_back_expires_nothing() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    let before = Timestamp::from_millis(all.now.millis() - 90 * 86_400_000);
    let mut next = Loop::start(Settings::default(), all.state.sessions.clone(), before);
    assert_eq!(next.spawn().as_deref(), Some(FIRST));
}

#[test]
fn use_renews_the_age() {
    let mut all = Loop::fresh();
    for _ in 0..3 {
        all.works(FIRST);
        all = all.next_run(Settings { max_iterations: 50, ..Settings::default() }, Duration::from_secs(20 * 3_600));
    }
    assert_eq!(all.spawn().as_deref(), Some(FIRST), "sixty hours old, twenty since its last use");
}

#[test]
fn a_result_that_is_an_error_is_not_gone_on_with() {
    for (name, result) in [
        ("a fault of the service", failure("success", Some("server_error"), Some(500))),
        ("no connection", failure("success", Some("unknown"), None)),
        ("the prompt is too long", failure("success", Some("invalid_request"), Some(400))),
        ("no login", failure("success", Some("authentication_failed"), Some(401))),
        ("an error without a kind", failure("success", None, None)),
        ("turns are used up", failure("error_max_turns", None, None)),
        ("an error while working", failure("error_during_execution", None, None)),
    ] {
        let mut all = Loop::fresh();
        all.works(FIRST);
        all.spawn();
        all.ready(FIRST);
        all.ends(result);
        assert_eq!((all.kept(), all.ways().last()), (None, Some(&"reset")), "{name}");
        assert!(all.last_reason().contains("failed"), "{name}: {}", all.last_reason());
    }
}

#[test]
fn a_limit_that_is_waited_out_costs_no_session() {
    for (name, kind, status) in [("a rate limit", "rate_limit", 429), ("an overload", "server_error", 529)] {
        let mut all = Loop::fresh();
        all.works(FIRST);
        all.spawn();
        all.ready(FIRST);
        all.ends(failure("success", Some(kind), Some(status)));
        assert_eq!((all.kept(), all.ways().last()), (Some(FIRST), Some(&"resumed")), "{name}");
    }
}

#[test]
fn an_error_with_exit_code_0_is_an_error() {
    let mut all = Loop::fresh();
    all.spawn();
    all.ready(FIRST);
    all.ends(failure("success", Some("server_error"), Some(500)));
    assert_eq!(all.kept(), None, "the exit code was 0");
}

#[test]
fn a_process_that_is_gone_without_a_result_takes_its_session_along() {
    let mut all = Loop::fresh();
    all.spawn();
    all.ready(FIRST);
    all.exits();
    assert_eq!(all.kept(), None);
    assert!(all.last_reason().contains("ended_without_result"), "{}", all.last_reason());
}

#[test]
fn a_refused_login_resets_at_the_first_retry() {
    for (kind, status) in [("authentication_failed", None), ("unknown", Some(401))] {
        let mut all = Loop::fresh();
        all.spawn();
        all.ready(FIRST);
        let (n, error) = (all.n(), kind.to_owned());
        all.give(Input::ApiRetried(ApiRetried { n, attempt: 1, max_retries: 10, delay_ms: 500, error, status }));
        assert_eq!(all.kept(), None, "{kind} {status:?}");
        assert!(matches!(all.effects.last(), Some(Effect::StopAgent { .. })), "{kind} {status:?}: not tried again");
    }
}

#[test]
fn a_stop_by_the_person_resets_and_says_so_a_pause_or_a_skip_keeps_the_session() {
    let skip = UserCommand::SkipPhase { phase: PhaseId(1) };
    for (command, kept) in [(UserCommand::PauseNow, true), (UserCommand::Stop, false), (skip, true)] {
        let mut all = Loop::fresh();
        all.works(FIRST);
        all.spawn();
        all.ready(FIRST);
        all.give(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: command.clone() });
        all.exits();
        if kept {
            assert_eq!(all.kept(), Some(FIRST), "{command:?}");
        } else {
            assert_eq!((all.kept(), all.last_reason()), (None, "stopped by you"), "{command:?}");
        }
    }
}

#[test]
fn a_pause_between_two_loops_interrupts_nothing() {
    let mut all = Loop::fresh();
    all.spawn();
    all.ready(FIRST);
    all.give(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::Pause });
    all.ends(claim("null", "CONTINUE"));
    all.give(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::Resume });
    assert_eq!(all.spawn().as_deref(), Some(FIRST));
}

#[test]
fn completion_resets() {
    let mut all = Loop::fresh();
    for phase in ["One", "Two"] {
        all.spawn();
        all.ready(FIRST);
        all.ends(claim(phase, "CONTINUE"));
        all.give(Input::BoxSettled {
            phase: OfPhase { phase: phase.into(), id: None },
            done: true,
            outcome: WriteOutcome::Written,
            reading: 1,
        });
    }
    assert_eq!(all.state.ended.as_ref().map(|ended| ended.reason), Some(ExitReason::Complete));
    assert_eq!((all.kept(), all.last_reason()), (None, "the ticket is complete"));
}

#[test]
fn an_opening_breaker_resets() {
    let settings = Settings { stagnation_limit: 50, ..Settings::default() };
    let mut all = Loop::start(settings, Sessions::default(), Timestamp::from_millis(1_795_000_000_000));
    for _ in 0..3 {
        all.spawn();
        all.ready(FIRST);
        let n = all.n();
        all.give(Input::TurnFinished { n, result: Box::new(claim("null", "CONTINUE")) });
        all.give(Input::AgentExited { n, code: Some(0), signal: None, swept: 0, stderr: String::new() });
        all.give(Input::EvidenceGathered { n, iteration_files: vec![], phase_files: vec![], reading: 1 });
    }
    assert_eq!(all.state.ended.as_ref().map(|ended| ended.reason), Some(ExitReason::CircuitOpen));
    assert_eq!((all.kept(), all.last_reason()), (None, "the circuit breaker opened"));
}

#[test]
fn a_denial_by_our_own_gate_resets_nothing() {
    let mut all = Loop::fresh();
    all.spawn();
    all.ready(FIRST);
    let (n, tool_use_id) = (all.n(), "tool".to_owned());
    let request = ControlRequest { id: "r".into(), via: Via::Callback };
    let call = ToolCall { request, tool_use_id, tool: "Bash".into(), input: "{}".into(), agent: None, cwd: None };
    let ruling = Ruling {
        verdict: Verdict::Block,
        rule: "rule".into(),
        reason: String::new(),
        target: "rm".into(),
        units: vec![],
        provable: false,
    };
    all.give(Input::Judged { n, call: Box::new(call), ruling: Box::new(ruling), presence: Presence::Screen });
    let result = TurnResult { denials: vec!["Bash".into()], ..claim("null", "CONTINUE") };
    all.ends(result);
    assert_eq!(all.spawn().as_deref(), Some(FIRST));
}

#[test]
fn what_a_timer_cuts_off_is_gone_on_with() {
    for timer in [Timer::Idle(1), Timer::Iteration(1), Timer::FirstByte(1)] {
        let mut all = Loop::fresh();
        all.spawn();
        all.ready(FIRST);
        all.now = all.now.plus(Duration::from_secs(1_000));
        all.give(Input::TimerFired { timer, last_byte: Timestamp::from_millis(0) });
        assert!(all.records.iter().any(|record| matches!(record, Record::WatchdogFired(_))), "{timer:?}");
        all.give(Input::TurnFinished { n: 1, result: Box::new(failure("error_during_execution", None, None)) });
        all.exits();
        assert_eq!(all.spawn().as_deref(), Some(FIRST), "{timer:?}: the error is of our own making");
    }
}

#[test]
fn a_background_turn_brings_no_session_back_that_was_given_up() {
    let mut all = Loop::fresh();
    all.spawn();
    all.ready(FIRST);
    all.give(Input::TurnFinished { n: 1, result: Box::new(failure("error_during_execution", None, None)) });
    assert_eq!(all.kept(), None);
    all.ready(FIRST);
    assert_eq!(all.kept(), None, "a background task of the failed turn began one of its own");
    all.exits();
    assert_eq!(all.spawn(), None);
}

#[test]
fn a_crash_of_ours_loses_no_session() {
    let mut all = Loop::fresh();
    all.spawn();
    all.ready(FIRST);
    let phases =
        all.state.phases.iter().map(|phase| PhaseSeed { text: phase.text.clone(), done: phase.ticked }).collect();
    all.give(Input::Resumed { pid: 9, reading: 1, phases, settings: None });
    assert_eq!(all.kept(), Some(FIRST));
}

#[test]
fn a_session_that_claude_forgot_is_replaced_in_the_same_loop() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    all.spawn();
    let unknown = TurnResult {
        message: "No conversation found with session ID: x".into(),
        ..failure("error_during_execution", None, None)
    };
    all.give(Input::TurnFinished { n: 2, result: Box::new(unknown) });
    all.give(Input::AgentExited { n: 2, code: Some(1), signal: None, swept: 0, stderr: String::new() });
    let Some(Effect::Spawn(again)) = all.effects.iter().rev().find(|effect| matches!(effect, Effect::Spawn(_))) else {
        panic!("Claude is started again");
    };
    assert_eq!((again.n, &again.session, all.kept()), (2, &None, None));
    assert_eq!(all.ways(), ["opened", "lost"]);
}

#[test]
fn without_continuity_every_loop_is_fresh_and_the_ids_are_kept_all_the_same() {
    let settings = Settings { session_continuity: false, ..Settings::default() };
    let mut all = Loop::start(settings, Sessions::default(), Timestamp::from_millis(1_795_000_000_000));
    assert_eq!((all.works(FIRST), all.works(OTHER)), (None, None));
    let mut next = all.next_run(Settings::default(), Duration::ZERO);
    assert_eq!(next.spawn().as_deref(), Some(OTHER), "the next run may go on with the latest");
}

#[test]
fn only_what_is_an_id_is_handed_to_claude() {
    for (name, id) in [
        ("empty", ""),
        ("a blank", " "),
        ("a flag", "--continue"),
        ("words", "not a session"),
        ("a carriage return behind it", "11111111-1111-4111-8111-111111111111\r"),
        ("several lines", "11111111-1111-4111-8111-111111111111\n22222222-2222-4222-8222-222222222222"),
        ("a shell's command", "$(touch pwned)"),
        ("a path", "../../etc/passwd"),
        ("null", "null"),
        ("an object", "{\"session_id\":\"x\"}"),
        ("cut short", "11111111-1111-4111-8111"),
    ] {
        let mut all = Loop::fresh();
        all.works(id);
        assert_eq!(all.spawn(), None, "{name}");
    }
}

#[test]
fn a_journal_of_an_earlier_version_has_its_session() {
    let mut state = State::default();
    for (seq, json) in (1..).zip([
        r#"{"kind":"run_started","folder":"/w","ticket_path":"/t","title":"T","ticket_status":null,"phases":[],"validation":[],"settings":{}}"#,
        r#"{"kind":"iteration_started","n":1,"phase":null,"session":null}"#,
        r#"{"kind":"agent_ready","n":1,"session":"11111111-1111-4111-8111-111111111111","model":"m","version":"v"}"#,
    ]) {
        let record: Record = serde_json::from_str(json).unwrap();
        let (run, ticket) = (RunId(uuid::Uuid::nil()), TicketId::parse("t").unwrap());
        apply(&mut state, &Stored { v: FORMAT, seq, time: Timestamp::from_millis(9), run, ticket, record });
    }
    assert_eq!(
        state.sessions.of(&StepName::CODE).map(|kept| (kept.id.as_str(), kept.folder.as_str())),
        Some((FIRST, "/w"))
    );
}

#[test]
fn what_is_stored_is_read_back_and_gaps_are_no_fault() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    let record = Record::SessionsCarried(all.state.sessions.clone());
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    for (name, json, kept) in [
        ("nothing in it", r#"{"kind":"sessions_carried"}"#, None),
        ("a later version's field", r#"{"kind":"sessions_carried","open":{"code":{"id":"a","new":1}}}"#, Some("a")),
        ("another step only", r#"{"kind":"sessions_carried","open":{"critique":{"id":"b"}}}"#, None),
    ] {
        let Record::SessionsCarried(sessions) = serde_json::from_str(json).unwrap() else { panic!("{name}") };
        assert_eq!(sessions.of(&StepName::CODE).map(|kept| kept.id.as_str()), kept, "{name}");
    }
}

#[test]
fn the_last_fifty_transitions_are_kept_over_all_runs() {
    let mut all = Loop::fresh();
    for _ in 0..30 {
        all.works(FIRST);
        all.works(FIRST);
        all = all.next_run(Settings::default(), Duration::from_secs(60));
    }
    let history = &all.state.sessions.history;
    assert_eq!((history.len(), history[0].to), (HISTORY, SessionEvent::Resumed), "the first is forgotten");
}

#[test]
fn a_session_of_another_folder_is_none_of_this_one() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    let mut sessions = all.state.sessions.clone();
    sessions.open.get_mut(&StepName::CODE).unwrap().folder = "/elsewhere".into();
    let mut next = Loop::start(Settings::default(), sessions, all.now);
    assert_eq!(next.spawn(), None);
    assert!(next.last_reason().contains("/elsewhere"), "{}", next.last_reason());
}

#[test]
fn how_a_cut_loop_counts_does_not_depend_on_its_session() {
    let mut all = Loop::fresh();
    all.works(FIRST);
    all.spawn();
    all.ready(FIRST);
    all.give(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::PauseNow });
    all.exits();
    let ended = all.records.iter().rev().find_map(|record| match record {
        Record::IterationEnded { outcome, .. } => Some(*outcome),
        _ => None,
    });
    assert_eq!(ended, Some(IterationOutcome::Interrupted));
}

#[test]
fn a_resumed_session_is_told_its_model() {
    let model = |all: &Loop| {
        let spawned = all.effects.iter().rev().find_map(|effect| match effect {
            Effect::Spawn(spawn) => Some(spawn.model.clone()),
            _ => None,
        });
        spawned.expect("Claude is started")
    };
    let chosen = |model: Option<&str>| Settings { model: model.map(Into::into), ..Settings::default() };
    for (name, before, now, expected) in [
        ("claude's own choice", None, None, Some("m")),
        ("the person's choice of now", None, Some("opus"), Some("opus")),
        ("the person's choice of then is not that of now", Some("haiku"), None, None),
    ] {
        let mut all = Loop::start(chosen(before), Sessions::default(), Timestamp::from_millis(1_795_000_000_000));
        all.works(FIRST);
        let mut next = all.next_run(chosen(now), Duration::ZERO);
        assert_eq!((next.spawn().as_deref(), model(&next).as_deref()), (Some(FIRST), expected), "{name}");
    }
}
