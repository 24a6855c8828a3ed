//! Whole runs of the program without a screen: what Hank's users rely on from one start to the next.

use crate::project::Project;
use crate::watched::{DILIGENT, end, of_kind, ran, records, run, signal, start_until, text};
use programmator::adapters::store::{Append, Store};
use programmator::base::time::Timestamp;
use programmator::domain::limits::admission::{Counted, Purpose};
use programmator::domain::record::Record;
use rustix::process::Signal;
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// The counters of the hour, as they stood at each call.
fn calls(records: &[Value]) -> Vec<u64> {
    of_kind(records, "call_counted").iter().map(|call| call["ledger"]["calls"].as_u64().unwrap()).collect()
}

#[test]
fn plan_complete_costs_no_call() {
    let project = Project::new();
    project.write("work/.hank/fix_plan.md", "# Fix plan\n\n- [x] Parse\n- [x] Print\n");
    project.scenario(DILIGENT);
    let records = run(&project, &[".hank/fix_plan.md"]).1;
    assert_eq!(end(&records), ("complete", 0));
    assert!(of_kind(&records, "call_counted").is_empty() && of_kind(&records, "agent_spawned").is_empty());
}

#[test]
fn exit_signals_of_an_earlier_run_do_not_end_the_next() {
    // One sign in each run: two of them in one run would end it.
    let block = "PROGRAMMATOR_STATUS:\n          phase_completed: null\n          status: CONTINUE\n          files_changed: [log.txt]\n          summary: s\n          exit_signal: true";
    let project = Project::with(
        &[],
        &format!(
            "turns:\n  - when: {{prompt: \"\"}}\n    steps:\n      - bash: \"date +%N >> log.txt\"\n      - say: |\n          {block}\n      - no_status\n"
        ),
    );
    for _ in 0..3 {
        assert_eq!(end(&run(&project, &["-n", "1", "tk-1"]).1), ("max_iterations", 1));
    }
    assert_eq!(end(&run(&project, &["tk-1"]).1), ("complete", 2));
}

#[test]
fn the_second_loop_goes_on_with_the_session_of_the_first() {
    let project = Project::with(&["Alpha", "Beta"], DILIGENT);
    let records = run(&project, &["tk-1"]).1;
    let opened = &of_kind(&records, "agent_ready")[0]["session"];
    let asked: Vec<&Value> = of_kind(&records, "iteration_started").iter().map(|begun| &begun["session"]).collect();
    assert_eq!(asked, [&Value::Null, opened]);
}

#[test]
fn the_calls_of_an_hour_that_is_over_are_not_counted() {
    let project = Project::with_config(&["Alpha", "Beta"], DILIGENT, "limits:\n  window: sliding\n");
    assert_eq!(calls(&run(&project, &["-n", "1", "tk-1"]).1), [1]);
    // Fifty calls of two hours ago.
    let store = Store::open(&project.path("state")).unwrap();
    let latest = store.runs().unwrap().remove(0);
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let time = Timestamp::from_millis(now - 2 * 3_600_000);
    let counted = |n| Record::CallCounted(Counted { n, purpose: Purpose::Iteration, ..Counted::default() });
    let (run_id, ticket) = (latest.run, latest.ticket.clone());
    let records = (100..150).map(counted).collect();
    store.append_blocking(Append { run: run_id, ticket, time, records, summary: latest }).unwrap();
    drop(store);
    assert_eq!(calls(&run(&project, &["-n", "1", "tk-1"]).1), [2]);
}

/// Does Alpha, and hangs in Beta.
const HANGS_IN_BETA: &str = "
turns:
  - when: {phase: Alpha}
    steps: [{write: {path: alpha.txt, content: x}}, {status: {summary: did}}]
  - when: {phase: Beta}
    steps: [{write: {path: beta.txt, content: x}}, {hang: {}}]
";

#[test]
fn termination_preserves_counts() {
    let hour = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 3600;
    for how in [Signal::TERM, Signal::KILL] {
        let begun = hour();
        let project = Project::with(&["Alpha", "Beta"], HANGS_IN_BETA);
        let (mut child, seen) = start_until(&project, &["run", "--json", "tk-1"], "tick_settled");
        assert_eq!(calls(&seen), [1]);
        signal(&child, how);
        let code = child.wait().unwrap().code();
        assert_eq!(code, if how == Signal::TERM { Some(143) } else { None }, "{how:?}");
        project.scenario(DILIGENT);
        let resumed = records(&project.run(&["resume", "--json", "tk-1"]));
        let counted = of_kind(&project.journal(), "call_counted").len();
        let iterations = end(&resumed).1;
        assert_eq!(end(&resumed).0, "complete", "{how:?}");
        assert_eq!(counted as u64, iterations, "{how:?}: each iteration was counted once");
        // Calls are counted by the hour of the clock.
        if hour() == begun {
            assert_eq!(calls(&resumed).last(), Some(&iterations), "{how:?}: the hour goes on where it was");
        }
        assert_eq!(project.processes(), Vec::<String>::new(), "{how:?}");
    }
}

#[test]
fn a_ticket_deleted_in_the_middle_ends_the_run_and_is_not_made_again() {
    let project = Project::with(
        &["Alpha", "Beta"],
        "turns: [{when: {phase: \"\"}, steps: [{bash: \"sh clean.sh\"}, {status: {summary: s}}]}]\n",
    );
    // The gate keeps Claude from the ticket; what a script of the project does it cannot see.
    project.write("work/clean.sh", "rm .tickets/tk-1.md\n");
    let output = ran(&project, &["run", "--json", "tk-1"], 1);
    assert_eq!(end(&output), ("ticket_gone", 1));
    assert!(!project.path("work/.tickets/tk-1.md").exists());
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[test]
fn a_ticket_that_is_not_there_and_a_config_that_is_wrong_call_nobody() {
    let project = Project::with_config(&["Alpha"], DILIGENT, "limits:\n  calls: many\n");
    for args in [["run", "tk-9"], ["run", "tk-1"]] {
        let output = project.run(&args);
        assert_ne!(output.status.code(), Some(0), "{}", text(&output));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{}", text(&output));
        assert!(!project.path("work/alpha.txt").exists());
    }
}
