//! The program without a screen, on the scripted agent: sessions that outlive runs, and a Claude that hangs at every
//! point where it can.

use crate::attended::{Attended, by_words};
use crate::project::Project;
use crate::watched::{DILIGENT, json, records};
use programmator::adapters::store::{Append, Store};
use programmator::base::time::Timestamp;
use programmator::domain::approval::{Presence, Ruling};
use programmator::domain::breaker::{Breaker, Circuit};
use programmator::domain::record::Record;
use programmator::domain::session::{Session, Sessions};
use programmator::domain::step::StepName;
use programmator::domain::tool_call::ToolCall;
use programmator::domain::verdict::Verdict;
use programmator::domain::workspace::Workspace;
use programmator::runtime::gate::Gate;
use programmator::runtime::offline::state_of;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn each(records: &[Value], kind: &str, field: &str) -> Vec<Value> {
    records.iter().filter(|record| record["kind"] == kind).map(|record| record[field].clone()).collect()
}

/// A run with so many iterations as arguments say; gives its records.
fn run(project: &Project, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["run", "--json"];
    all.extend(args);
    all.push("tk-1");
    records(&project.run(&all))
}

fn shown(project: &Project) -> Value {
    let all = json(project, &["session", "show", "--json", "tk-1"]);
    assert_eq!(all.as_array().unwrap().len(), 1);
    all[0].clone()
}

/// A project whose first run has done one of three phases.
fn begun() -> (Project, Value) {
    let project = Project::with(&["Alpha", "Beta", "Gamma"], DILIGENT);
    let first = run(&project, &["-n", "1"]);
    assert_eq!(first.last().unwrap()["reason"], "max_iterations");
    let session = each(&first, "agent_ready", "session").remove(0);
    (project, session)
}

#[test]
fn a_session_is_carried_to_the_next_run_and_given_up_at_the_end() {
    let (project, session) = begun();
    let show = shown(&project);
    assert_eq!((&show["sessions"][0]["session"], &show["sessions"][0]["expired"]), (&session, &false.into()), "{show}");

    let second = run(&project, &[]);
    assert_eq!(second.last().unwrap()["reason"], "complete");
    assert_eq!(each(&second, "iteration_started", "session"), [session.clone(), session.clone()]);
    assert_eq!(each(&second, "agent_ready", "session"), [session.clone(), session.clone()]);
    let ways: Vec<Value> =
        shown(&project)["history"].as_array().unwrap().iter().map(|moved| moved["to"].clone()).collect();
    assert_eq!(ways, ["opened", "resumed", "resumed", "reset"]);
    assert_eq!(each(&second, "session_ended", "reason"), ["the ticket is complete"]);
    assert_eq!(shown(&project)["sessions"], serde_json::json!([]));
}

/// What Claude reads, by what it is sent: its whole first message, or the news alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_continued_session_is_told_what_it_does_not_know() {
    let says = "turns: [{when: {phase: \"\"}, steps: [{write: {path: \"{slug}.prompt\", content: \"{prompt}\"}}, \
                {status: {summary: s}}]}]\n";
    let phases = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta"];
    let project = Project::with_config(&phases, says, "limits: {max_iterations: 1}\n");
    let gate: Gate = Arc::new(|call: &ToolCall| {
        let asks = call.tool == "Bash" && call.input.contains("curl");
        Ruling { verdict: if asks { Verdict::Ask } else { Verdict::Allow }, ..by_words().judge(call) }
    });
    let change = |from: &str, to: &str| {
        project.write("work/.tickets/tk-1.md", &project.ticket_text("tk-1").replace(from, to));
    };
    let (nobody, there) =
        ("Refused, because nobody is there to approve it: network", "Waits for the user's approval: network");
    let (ticket, whole) = ("# Work on tk-1", ["Work on ticket", "## How to work"]);
    let news = ["Continue ticket", "gate rules from your last full prompt still apply"];
    let mut sessions = Vec::new();
    for (phase, presence, head, said, unsaid) in [
        ("alpha", Presence::Nobody, whole, vec![ticket, nobody], vec![]),
        ("beta", Presence::Nobody, news, vec![], vec![ticket, nobody, whole[1]]),
        ("gamma", Presence::Nobody, news, vec!["The ticket has changed", "In UTC."], vec![nobody, whole[1]]),
        ("delta", Presence::Nobody, news, vec![], vec![ticket, nobody, whole[1]]),
        ("epsilon", Presence::Screen, whole, vec![ticket, there], vec![nobody, "has changed"]),
        ("zeta", Presence::Screen, news, vec![], vec![ticket, there, whole[1]]),
        ("eta", Presence::Screen, whole, vec![ticket, there], vec![nobody, "has changed"]),
    ] {
        match phase {
            "gamma" => change("## Design\n", "## Design\n\nIn UTC.\n"),
            "delta" => change("priority: 2", "priority: 3"),
            "eta" => tokio::task::block_in_place(|| forget_the_rules(&project)),
            _ => {}
        }
        let mut run = Attended::open(&project, "tk-1", presence, gate.clone());
        run.until("an iteration", |state| state.iterations == 1).await;
        run.end().await;
        sessions.push(run.state.sessions.history.last().unwrap().session.clone());
        let prompt = project.read(&format!("work/{phase}.prompt"));
        for part in head.into_iter().chain(said) {
            assert!(prompt.contains(part), "{phase}: {part:?} is missing in:\n{prompt}");
        }
        for part in unsaid {
            assert!(!prompt.contains(part), "{phase}: {part:?} in:\n{prompt}");
        }
    }
    sessions.dedup();
    assert_eq!(sessions.len(), 1, "one session all the time");
}

/// The session is that of an earlier program, which did not note what it had told Claude of the gate.
fn forget_the_rules(project: &Project) {
    let store = Store::open(&project.path("state")).unwrap();
    let latest = store.runs().unwrap().remove(0);
    let mut sessions = state_of(&store, latest.run).unwrap().sessions;
    sessions.open.values_mut().for_each(|session| session.told.rules.clear());
    let (run, ticket, time) = (latest.run, latest.ticket.clone(), latest.updated);
    let records = vec![Record::SessionsCarried(sessions)];
    store.append_blocking(Append { run, ticket, time, records, summary: latest }).unwrap();
}

#[test]
fn an_old_session_expires_at_the_next_run() {
    let (project, session) = begun();
    let store = Store::open(&project.path("state")).unwrap();
    let latest = store.runs().unwrap().remove(0);
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let old = Timestamp::from_millis(now - 25 * 3_600_000);
    let mut sessions = Sessions::default();
    let kept = Session::now(session.as_str().unwrap(), &Workspace::shared(project.work()), "m", old);
    sessions.ready(&StepName::CODE, kept, 1);
    let (run_id, ticket) = (latest.run, latest.ticket.clone());
    let records = vec![Record::SessionsCarried(sessions)];
    store.append_blocking(Append { run: run_id, ticket, time: old, records, summary: latest }).unwrap();
    drop(store);
    assert_eq!(shown(&project)["sessions"][0]["expired"], true);

    let next = run(&project, &["-n", "1"]);
    assert_eq!(each(&next, "session_ended", "to"), ["expired"]);
    assert_eq!(each(&next, "iteration_started", "session"), [Value::Null]);
    assert_ne!(each(&next, "agent_ready", "session"), [session]);
}

#[test]
fn the_command_gives_a_session_up() {
    let (project, session) = begun();
    let reset = project.run(&["session", "reset", "tk-1"]);
    assert_eq!(reset.status.code(), Some(0), "{}", String::from_utf8_lossy(&reset.stderr));
    let show = shown(&project);
    let last = show["history"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&last["to"], &last["reason"], &last["session"]),
        (&"reset".into(), &"by you (command line)".into(), &session)
    );
    let again = project.run(&["session", "reset", "tk-1"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("no session"));

    let next = run(&project, &["-n", "1"]);
    assert_eq!(each(&next, "iteration_started", "session"), [Value::Null]);
    let words = project.run(&["session", "show"]);
    let words = String::from_utf8_lossy(&words.stdout).into_owned();
    assert!(words.contains("tk-1") && words.contains("expires in") && words.contains("reset: by you"), "{words}");
}

#[test]
fn no_continue_begins_afresh_and_keeps_nothing_from_the_next() {
    let (project, session) = begun();
    let second = run(&project, &["-n", "1", "--no-continue"]);
    assert_eq!(each(&second, "iteration_started", "session"), [Value::Null]);
    let fresh = each(&second, "agent_ready", "session").remove(0);
    assert_ne!(fresh, session);
    let third = run(&project, &["-n", "1"]);
    assert_eq!(each(&third, "iteration_started", "session"), [fresh]);
}

#[test]
fn a_resumed_run_obeys_the_flags_it_is_given() {
    let project = Project::with(
        &["Alpha", "Beta", "Gamma"],
        "turns: [{when: {phase: Alpha}, steps: [{api_error: {status: 401, kind: authentication_failed}}]}]\n",
    );
    let failed = run(&project, &["--model", "sonnet"]);
    assert_eq!(failed.last().unwrap()["reason"], "error");
    project.scenario(DILIGENT);
    let output = project.run(&["resume", "--json", "-n", "3", "--model", "opus", "--no-continue", "tk-1"]);
    let resumed = records(&output);
    let changed = each(&resumed, "settings_changed", "what");
    assert_eq!(
        changed,
        [serde_json::json!(["max_iterations 50 → 3", "model sonnet → opus", "session_continuity true → false"])]
    );
    let end = resumed.last().unwrap();
    assert_eq!((&end["reason"], &end["iterations"]), (&"max_iterations".into(), &3.into()), "{end}");
    assert_eq!(each(&resumed, "iteration_started", "session"), [Value::Null, Value::Null]);
    for model in each(&resumed, "agent_ready", "model") {
        assert!(model.as_str().unwrap().contains("opus"), "{model}");
    }
    let words = project.run(&["logs", "tk-1"]);
    assert!(String::from_utf8_lossy(&words.stdout).contains("settings changed: max iterations 50"));
}

#[test]
fn a_resumed_run_obeys_the_breaker_settings_of_now() {
    let project = Project::with_config(
        &["Alpha", "Beta"],
        "turns: [{when: {phase: Alpha}, steps: [{api_error: {status: 401, kind: authentication_failed}}]}]\n",
        "breaker: {no_progress: 1}\n",
    );
    let failed = run(&project, &[]);
    assert_eq!(failed.last().unwrap()["reason"], "error");
    let store = Store::open(&project.path("state")).unwrap();
    let latest = store.runs().unwrap().remove(0);
    let time = Timestamp::from_millis(latest.updated.millis());
    let breaker = Breaker { state: Circuit::Open, opened_at: Some(time), ..Breaker::default() };
    let carried = vec![Record::BreakerCarried { breaker }];
    let (run_id, ticket) = (latest.run, latest.ticket.clone());
    store.append_blocking(Append { run: run_id, ticket, time, records: carried, summary: latest }).unwrap();
    drop(store);
    let refused = project.run(&["resume", "--json", "tk-1"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("circuit breaker is open"), "{refused:?}");

    project.scenario_with(DILIGENT, "breaker: {no_progress: 7, auto_reset: true}\n");
    let resumed = records(&project.run(&["resume", "--json", "tk-1"]));
    let changed = each(&resumed, "settings_changed", "what");
    assert_eq!(changed, [serde_json::json!(["breaker.auto_reset false → true", "breaker.no_progress 1 → 7"])]);
    assert_eq!(resumed.last().unwrap()["reason"], "complete");
}

#[test]
fn each_timer_ends_what_hangs_and_says_which_and_why() {
    let hang = |steps: &str| format!("turns: [{{when: {{phase: \"\"}}, {steps}}}]\n");
    let said = "{say: \"Let me see.\"}";
    let cases = [
        ("start", "start_timeout", "timed_out", "start: [{hang: {}}]\n".to_owned()),
        ("start", "start_timeout", "timed_out", "start: [deaf, {hang: {}}]\n".to_owned()),
        ("first_byte", "first_byte_timeout", "idle", hang("before: [{hang: {}}]")),
        ("first_byte", "first_byte_timeout", "idle", hang("steps: [{hang: {}}]")),
        ("idle", "idle_timeout", "idle", hang(&format!("steps: [{said}, {{hang: {{}}}}]"))),
        ("total", "iteration_timeout", "timed_out", hang("steps: [{bash: \"sleep 60\"}, {status: {summary: s}}]")),
    ];
    for (timer, key, outcome, scenario) in cases {
        let project =
            Project::with_config(&["Alpha"], &scenario, &format!("limits:\n  {key}: 1\n  repeated_error: 1\n"));
        let began = Instant::now();
        let told = run(&project, &[]);
        assert!(began.elapsed() < Duration::from_secs(40), "{timer}: {:?}", began.elapsed());
        assert_eq!(each(&told, "watchdog_fired", "timer"), [timer], "{scenario}{told:#?}");
        assert_eq!(each(&told, "iteration_ended", "outcome"), [outcome], "{scenario}");
        assert_eq!(each(&told, "iteration_ended", "fingerprint"), [format!("timed out: {timer}")], "{scenario}");
        let end = told.last().unwrap();
        assert_eq!(end["reason"], "timeout", "{scenario}");
        assert!(end["detail"].as_str().unwrap().contains(&format!("limits.{key}")), "{end}");
        assert_eq!(project.processes(), Vec::<String>::new(), "{scenario}");
    }
}

#[test]
fn a_claude_that_does_not_go_after_its_result_is_ended_and_believed() {
    let project = Project::with_config(
        &["Alpha"],
        "turns: [{when: {phase: \"\"}, steps: [{write: {path: a.txt, content: x}}, {status: {summary: s}}], \
         after: [{hang: {}}]}]\n",
        "limits:\n  post_result_grace: 1\n",
    );
    let told = run(&project, &[]);
    assert_eq!(each(&told, "watchdog_fired", "timer"), ["post_result"]);
    assert_eq!(told.last().unwrap()["reason"], "complete");
}

#[test]
fn a_claude_that_thinks_for_longer_than_the_first_byte_may_take_is_left_alone() {
    let project = Project::with_config(
        &["Alpha"],
        "turns: [{when: {phase: \"\"}, steps: [{think: \"hm\"}, {sleep_ms: 2500}, {write: {path: a.txt, content: x}}, \
         {status: {summary: s}}]}]\n",
        "limits:\n  first_byte_timeout: 1\n",
    );
    let told = run(&project, &[]);
    assert_eq!(each(&told, "watchdog_fired", "timer"), Vec::<Value>::new());
    assert_eq!(told.last().unwrap()["reason"], "complete");
}

#[test]
fn retries_are_told_and_bounded() {
    let project = Project::with(
        &["Alpha"],
        "turns: [{when: {phase: \"\"}, steps: [{api_retry: {attempt: 3, status: 529, error: overloaded, delay_ms: 10}}, \
         {bash: \"echo $CLAUDE_CODE_MAX_RETRIES > retries.txt\"}, {status: {summary: s}}]}]\n",
    );
    let told = run(&project, &[]);
    assert_eq!(
        (each(&told, "api_retried", "attempt"), each(&told, "api_retried", "status")),
        (vec![3.into()], vec![529.into()])
    );
    assert_eq!(project.read("work/retries.txt"), "10\n");
}
