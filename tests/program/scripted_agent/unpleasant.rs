//! The unpleasant parts: each step does to its host what its name says.

use super::host::{Agent, FLAGS, kind_of};
use serde_json::Value;

struct Seen {
    folder: tempfile::TempDir,
    agent: Agent,
}

/// Starts an agent with one turn, written in YAML, and sends a prompt.
fn turn(yaml: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(folder.path(), &format!("turns:\n  - {yaml}"), FLAGS);
    agent.prompt("go");
    Seen { folder, agent }
}

fn kinds(records: &[Value]) -> Vec<String> {
    records.iter().map(kind_of).collect()
}

#[test]
fn bytes_that_are_no_records_come_verbatim() {
    let mut seen =
        turn(r#"steps: [{raw: "\e[2Jnot json\n"}, {raw_hex: "ff 00 0a"}, {surrogate: "cut"}, {huge: 3000000}]"#);
    let mut lines: Vec<Vec<u8>> = (0..6).map(|_| seen.agent.next_bytes().unwrap()).collect();
    let result = lines.pop().unwrap();
    assert_eq!(lines[1], b"\x1b[2Jnot json\n");
    assert_eq!(lines[2], [0xff, 0, b'\n']);
    assert!(String::from_utf8_lossy(&lines[3]).contains(r#""text":"cut\ud83c""#));
    assert!(serde_json::from_slice::<Value>(&lines[3]).is_err(), "an unpaired surrogate is no JSON to serde");
    assert!(lines[4].len() > 3_000_000);
    assert!(String::from_utf8_lossy(&result[..60]).contains("result"));
}

#[test]
fn the_stream_may_be_cut_in_a_record() {
    let seen = turn("steps: [partial, {stderr: oops}, {exit: 3}]");
    let mut agent = seen.agent;
    assert_eq!(kind_of(&agent.next()), "system/init");
    let half = agent.next_bytes().unwrap();
    assert!(half.starts_with(b"{\"type\":\"assistant\"") && !half.ends_with(b"\n"));
    let exit = agent.finish();
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(3), "oops"));
}

#[test]
fn it_may_die_by_a_signal() {
    for signal in ["KILL", "SEGV", "ABRT"] {
        let exit = turn(&format!("steps: [{{die: {signal}}}]")).agent.finish();
        assert_eq!((exit.code, exit.rest.len()), (None, 1), "{signal}");
    }
}

#[test]
fn the_api_may_fail() {
    let mut seen = turn(
        "steps: [{api_retry: {attempt: 2, status: 401, error: authentication_failed}}, {rate_limit_event: {status: rejected, resets_at: 5}}, {api_error: {status: 529, kind: server_error}}, {say: never}]",
    );
    let records = seen.agent.until("result");
    assert_eq!(kinds(&records)[1..], ["system/api_retry", "rate_limit_event/", "assistant/", "result/success"]);
    let result = records.last().unwrap();
    assert_eq!((&result["is_error"], &result["api_error_status"]), (&Value::from(true), &Value::from(529)));
    assert_eq!(records[3]["error"], "server_error");
    assert_eq!(records[1]["error_status"], 401);
    assert_eq!(seen.agent.finish().code, Some(1));
}

#[test]
fn results_may_be_missing_doubled_or_followed() {
    let mut seen = turn("{steps: [{say: a}], after: [second_result, {say: late}]}");
    let records = seen.agent.until("result");
    assert_eq!(records.len(), 3);
    assert_eq!(kinds(&seen.agent.finish().rest), ["result/success", "assistant/"]);
    let exit = turn("steps: [{say: a}, no_result]").agent.finish();
    assert_eq!(kinds(&exit.rest), ["system/init", "assistant/"]);
}

#[test]
fn it_may_hang_in_every_way() {
    // In a turn an interrupt still helps.
    let mut seen = turn("steps: [{say: a}, {hang: {}}]");
    seen.agent.until("assistant");
    seen.agent.signal("INT");
    assert_eq!(seen.agent.until("result").last().unwrap()["terminal_reason"], "aborted_streaming");
    // After the result the end of stdin does not, but TERM does.
    let mut seen = turn("{steps: [{say: a}], after: [{hang: {}}]}");
    seen.agent.until("result");
    seen.agent.close();
    seen.agent.signal("INT");
    seen.agent.signal("TERM");
    assert_eq!(seen.agent.finish().code, Some(143));
    // Deaf, nothing helps but KILL.
    let mut seen = turn("steps: [deaf, {say: a}, {sleep_ms: 100}, {say: b}]");
    seen.agent.until("assistant");
    seen.agent.close();
    seen.agent.signal("INT");
    seen.agent.signal("TERM");
    seen.agent.until("result");
    assert!(seen.agent.is_running());
    seen.agent.signal("KILL");
    assert_eq!(seen.agent.finish().code, None);
    // Before anything is read, `initialize` stays unanswered.
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(folder.path(), "start: [{raw: \"up\\n\"}, {hang: {}}]", FLAGS);
    assert_eq!(agent.next_bytes().unwrap(), b"up\n");
    agent.signal("TERM");
    assert_eq!(agent.finish().code, Some(143));
}

#[test]
fn term_may_be_ignored() {
    let mut seen = turn("{steps: [ignore_term, {say: a}]}");
    seen.agent.until("assistant");
    seen.agent.signal("TERM");
    seen.agent.until("result");
    assert_eq!(seen.agent.finish().code, Some(0), "stdin's end still counts");
}

#[test]
fn a_tool_may_run_without_asking() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent =
        Agent::start(folder.path(), "turns: [{steps: [{tool_without_asking: {write: {path: a, content: x}}}]}]", FLAGS);
    agent.initialize();
    agent.prompt("go");
    let records = agent.until("result");
    assert_eq!(kinds(&records), ["system/init", "assistant/", "user/", "result/success"]);
    assert!(folder.path().join("a").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn children_may_be_left_behind() {
    let mut seen = turn("steps: [{spawn_child: {ignore_term: true, setsid: true, seconds: 7161}}, {say: a}]");
    let id = seen.agent.until("result").pop().unwrap()["session_id"].as_str().unwrap().to_owned();
    let marked = || -> Vec<i32> {
        let pids =
            std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(|pid: &i32| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environ).contains(&format!("CLAUDE_CODE_SESSION_ID={id}"))
        })
        .collect()
    };
    assert_eq!(seen.agent.finish().code, Some(0), "it does not wait for its child");
    let left = marked();
    assert!(!left.is_empty(), "the child outlives the agent and carries the marker");
    for pid in left {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    drop(seen.folder);
}

#[test]
fn what_no_turn_fits_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(folder.path(), "turns: [{when: {prompt: xyz}, steps: [{say: a}]}]", FLAGS);
    agent.prompt("other");
    let result = agent.until("result").pop().unwrap();
    assert_eq!(result["result"], "No turn of the scenario fits this prompt.");
    agent.prompt("Give me the PROGRAMMATOR_STATUS block only");
    let result = agent.until("result").pop().unwrap();
    assert!(result["result"].as_str().unwrap().starts_with("```yaml\nPROGRAMMATOR_STATUS:\n"));
}

#[test]
fn a_scenario_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let exit = Agent::start(folder.path(), "turns: [{steps: [{sya: a}]}]", FLAGS).finish();
    assert_eq!(exit.code, Some(1));
    assert!(exit.stderr.contains("scenario.yaml") && exit.stderr.contains("sya"), "{}", exit.stderr);
}
