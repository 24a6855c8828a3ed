//! The watchdog and the sessions' flags on the real CLI: a service that says nothing, and a run that goes on where
//! another has left off.

use crate::messages_stub::Reply;
use crate::program::{Bench, Told, honest};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn a_silent_service_is_ended_by_the_first_bytes_timer() {
    let bench = Bench::new(&["Do it"]);
    let config = bench.project.read("config/config.yaml");
    let limits = "limits:\n  first_byte_timeout: 3\n  repeated_error: 1\n";
    bench.project.write("config/config.yaml", &format!("{config}{limits}"));
    bench.script([Reply::silent().forever()]);
    let program = bench.start();
    bench.stub.wait_for(1);
    let asked = Instant::now();
    let told = Told::new(&program.wait_with_output().unwrap());
    // What Claude says of itself before it asks the service is no answer.
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!(told.each("watchdog_fired", "timer"), ["first_byte"]);
    assert_eq!(told.of("agent_ready").len(), 1, "Claude itself was well");
    let end = told.ended(4, "timeout");
    assert!(end["detail"].as_str().unwrap().contains("limits.first_byte_timeout"), "{end}");
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}

#[test]
fn an_answer_that_stops_is_ended_by_the_idle_timer_and_its_session_gone_on_with() {
    let bench = Bench::new(&["Do it"]);
    let config = bench.project.read("config/config.yaml");
    bench.project.write("config/config.yaml", &format!("{config}limits:\n  idle_timeout: 3\n"));
    let [write, claim] = honest(&bench, "Do it", "a.txt");
    let drop = "words that come and then do not come any more, ever";
    bench.script([Reply::text(drop).slowly(1, Duration::from_secs(60)), write, claim]);
    let told = bench.run();
    assert_eq!(told.each("watchdog_fired", "timer"), ["idle"]);
    assert_eq!(told.ended(0, "complete")["iterations"], 2);
    let sessions = told.each("agent_ready", "session");
    assert_eq!(told.each("iteration_started", "session"), [Value::Null, sessions[0].clone()]);
    assert_eq!(sessions[0], sessions[1]);
}

#[test]
fn the_next_run_resumes_the_session_by_its_id_and_with_its_model() {
    let bench = Bench::new(&["One", "Two", "Three"]);
    bench.script(honest(&bench, "One", "one.txt"));
    let first = Told::new(&bench.command(&["run", "--json", "-n", "1", "tk-1"]).output().unwrap());
    let session = first.each("agent_ready", "session").remove(0);
    let model = first.each("agent_ready", "model").remove(0);

    // What Claude was started with can be seen while it works.
    let gate = bench.project.gate("go");
    bench.script([Reply::tool("Bash", json!({"command": format!("touch two.txt; {gate}")}))]);
    let [_, claim] = honest(&bench, "Two", "two.txt");
    bench.script([claim]);
    let mut command = bench.command(&["run", "--json", "-n", "1", "tk-1"]);
    let program = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    bench.wait_for_file("two.txt");
    let flags = bench.survivors().into_iter().find(|line| line.contains("stream-json")).expect("Claude runs");
    bench.project.open_gate("go");
    let second = Told::new(&program.wait_with_output().unwrap());
    assert!(flags.contains(&format!("--resume {}", session.as_str().unwrap())), "{flags}");
    assert!(flags.contains(&format!("--model {}", model.as_str().unwrap())), "{flags}");
    for never in ["--continue", "--fork-session", "--session-id"] {
        assert!(!flags.contains(never), "{flags}");
    }
    assert_eq!(
        (second.each("agent_ready", "session"), second.each("agent_ready", "model")),
        (vec![session], vec![model])
    );

    let third = honest(&bench, "Three", "three.txt");
    bench.script(third);
    let third = Told::new(&bench.command(&["run", "--json", "--no-continue", "tk-1"]).output().unwrap());
    third.ended(0, "complete");
    assert_eq!(third.each("iteration_started", "session"), [Value::Null]);
}
