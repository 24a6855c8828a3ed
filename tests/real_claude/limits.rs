//! The real CLI at the provider's limits: what it says at once, what it tries again, and the wait that outlives a kill.

use crate::messages_stub::Reply;
use crate::program::{Bench, TICKET, Told, honest};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The program in the background until it says a record of this kind.
fn until(mut command: Command, kind: &str) -> (Child, Value) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = lines
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|record| record["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind}"));
    (child, found)
}

fn end(mut child: Child, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
    child.wait().unwrap();
}

#[test]
fn a_long_retry_after_fails_at_once_and_parks_until_the_provider_answers() {
    let bench = Bench::new(&["Do it"]);
    bench.script([Reply::status(429).header("retry-after", "3600")]);
    bench.script(honest(&bench, "Do it", "a.txt"));
    let told = bench.run();
    let end = told.ended(0, "complete");
    assert_eq!(end["iterations"], 1, "the refused iteration is none");
    assert!(told.of("api_retried").is_empty(), "a long limit is not waited out by Claude itself");
    let hit = told.of("limit_hit")[0];
    assert_eq!((&hit["cause"], &hit["reset"], &hit["tries"]), (&json!("limit"), &json!("unknown"), &json!(1)));
    assert_eq!(told.each("parked", "why"), ["provider"]);
    assert_eq!(told.each("iteration_ended", "outcome"), ["parked", "claimed"]);
    assert!(told.of("breaker_counted").is_empty());
}

#[test]
fn an_overloaded_provider_is_tried_as_often_as_it_is_bounded_and_then_waited_for() {
    let bench = Bench::new(&["Do it"]);
    let config = bench.project.read("config/config.yaml");
    bench.project.write("config/config.yaml", &format!("{config}  max_retries: 1\n"));
    bench.script([Reply::status(529).times(2)]);
    bench.script(honest(&bench, "Do it", "a.txt"));
    let told = bench.run();
    assert_eq!(told.ended(0, "complete")["iterations"], 1);
    assert_eq!(told.each("api_retried", "error"), ["overloaded"]);
    assert_eq!(told.each("limit_hit", "cause"), ["overloaded"]);
    let receipts = told.of("receipt");
    assert_eq!((&receipts[0]["tries"], &receipts[1]["tries"]), (&json!(1), &json!(0)));
}

#[test]
fn a_run_that_is_killed_while_parked_goes_on_waiting_and_calls_nobody() {
    let bench = Bench::new(&["Do it"]);
    bench.script([Reply::status(429).header("retry-after", "3600").forever()]);
    // Waits double: the fifth is long enough to look at.
    let mut command = bench.command(&["run", "--json", TICKET]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let parked = lines
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .filter(|record| record["kind"] == "parked")
        .nth(4)
        .unwrap();
    let requests = bench.stub.wait_for(5).len();
    end(child, Signal::KILL);
    let (resumed, again) = until(bench.command(&["resume", TICKET, "--json"]), "parked");
    assert_eq!((&again["until"], &again["why"]), (&parked["until"], &json!("provider")), "the same countdown");
    end(resumed, Signal::TERM);
    assert_eq!(bench.stub.wait_for(5).len(), requests, "nobody was called");
    let shown = bench.command(&["status", TICKET, "--json"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["reason"], &shown["iterations"]), (&json!("user_stopped"), &json!(0)), "{shown}");
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}

#[test]
fn what_is_left_of_the_budget_is_handed_down_and_ends_the_run_resumably() {
    let bench = Bench::new(&["Do it"]);
    let config = bench.project.read("config/config.yaml");
    bench.project.write("config/config.yaml", &format!("{config}budget:\n  run_usd: 0.002\n"));
    bench.script([Reply::tool("Bash", json!({"command": "true"})).times(9)]);
    let told: Told = bench.run();
    let end = told.ended(4, "budget");
    assert!(end["detail"].as_str().unwrap().contains("resume"), "{end}");
    assert_eq!(told.each("turn_failed", "error"), ["error_max_budget_usd"]);
}
