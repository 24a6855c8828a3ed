//! What a well-behaved conversation looks like: gates, tools, interrupts, sessions.

use super::host::{Agent, FLAGS, kind_of};
use serde_json::{Value, json};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn started(folder: &tempfile::TempDir, steps: &str, flags: &[&str]) -> Agent {
    let mut agent =
        Agent::start(folder.path(), &format!("turns: [{{times: 0, steps: {steps}}}]"), &[FLAGS, flags].concat());
    agent.initialize();
    agent
}

/// The tool results among `records`: text, and whether it is an error.
fn results(records: &[Value]) -> Vec<(String, bool)> {
    let blocks = records.iter().map(|record| &record["message"]["content"][0]);
    blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| (block["content"].as_str().unwrap().to_owned(), block["is_error"] == true))
        .collect()
}

const ALL_TOOLS: &str = r#"[{think: hm}, {say: Hello}, {write: {path: a.txt, content: "one\n"}},
    {edit: {path: a.txt, old: one, new: two}}, {read: a.txt}, {bash: "cat a.txt; touch b"}]"#;

#[test]
fn an_allowed_tool_does_its_work() {
    let folder = folder();
    let mut agent = started(&folder, ALL_TOOLS, &["--include-partial-messages"]);
    agent.prompt("go");
    let records = agent.until("result");
    let said = results(&records);
    assert_eq!(said.len(), 4, "{records:#?}");
    assert_eq!(&said[2..], [("1\ttwo\n2\t".to_owned(), false), ("two".to_owned(), false)]);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "two\n");
    assert!(folder.path().join("b").exists());
    let deltas: String = records.iter().filter_map(|record| record["event"]["delta"]["text"].as_str()).collect();
    assert_eq!(deltas, "Hello");

    let first = records.last().unwrap().clone();
    agent.prompt("again");
    let second = agent.until("result").pop().unwrap();
    assert_eq!(first["result"], "Hello");
    assert_eq!(first["session_id"], second["session_id"]);
    assert!(second["total_cost_usd"].as_f64() > first["total_cost_usd"].as_f64(), "costs add up");
    assert!(first["total_cost_usd"].as_f64() > Some(0.0));
    assert_eq!(agent.finish().code, Some(0));
}

#[test]
fn a_refused_tool_does_nothing() {
    let folder = folder();
    let mut agent = started(&folder, "[{write: {path: a, content: x}}, {bash: touch b}, {say: end}]", &[]);
    agent.prompt("go");
    let asked = agent.until("control_request/hook_callback").pop().unwrap();
    assert_eq!(asked["request"]["input"]["tool_name"], "Write");
    agent.decide(&asked, "deny");
    let asked = agent.until("control_request/hook_callback");
    assert_eq!(results(&asked), [("because".to_owned(), true)]);
    agent.decide(asked.last().unwrap(), "ask");
    let asked = agent.next();
    assert_eq!(asked["request"]["subtype"], "can_use_tool");
    agent.answer(&asked, &json!({"behavior": "deny", "message": "not today"}));
    let rest = agent.until("result");
    assert_eq!(results(&rest), [("not today".to_owned(), true)]);
    assert_eq!(rest.last().unwrap()["permission_denials"].as_array().unwrap().len(), 2);
    assert!(!folder.path().join("a").exists() && !folder.path().join("b").exists());
}

#[test]
fn what_is_asked_may_be_rewritten_and_must_be_answered_whole() {
    let folder = folder();
    let mut agent = started(&folder, "[{bash: touch a}, {bash: touch b}]", &[]);
    agent.prompt("go");
    for (answer, made) in [
        (json!({"behavior": "allow", "updatedInput": {"command": "touch c"}}), true),
        (json!({"behavior": "allow"}), false),
    ] {
        let asked = agent.until("control_request/hook_callback").pop().unwrap();
        agent.decide(&asked, "ask");
        let asked = agent.next();
        agent.answer(&asked, &answer);
        let record = agent.next();
        assert_eq!(results(std::slice::from_ref(&record))[0].1, !made, "{record}");
    }
    agent.until("result");
    let made = |name| folder.path().join(name).exists();
    assert_eq!((made("a"), made("b"), made("c")), (false, false, true));
}

#[test]
fn a_closed_stdin_refuses_the_open_question_and_the_turn_ends() {
    for asking in ["hook_callback", "can_use_tool"] {
        let folder = folder();
        let mut agent = started(&folder, "[{write: {path: a, content: x}}, {say: end}]", &[]);
        agent.prompt("go");
        let asked = agent.until("control_request/hook_callback").pop().unwrap();
        if asking == "can_use_tool" {
            agent.decide(&asked, "ask");
            assert_eq!(agent.next()["request"]["subtype"], asking);
        }
        let exit = agent.finish();
        assert_eq!(exit.code, Some(0), "{exit:?}");
        let said = results(&exit.rest);
        assert!(said[0].0.starts_with("Tool permission request failed: Error: ") && said[0].1, "{said:?}");
        assert!(!folder.path().join("a").exists(), "failed closed at {asking}");
        assert_eq!(kind_of(exit.rest.last().unwrap()), "result/success");
    }
}

#[test]
fn an_interrupt_ends_the_turn_and_the_process_lives() {
    let folder = folder();
    let mut agent = started(&folder, "[{bash: sleep 600 & echo $! > pid; sleep 600}]", &[]);
    let interrupt = json!({"type": "control_request", "request_id": "int-1", "request": {"subtype": "interrupt"}});
    for turn in 0..2 {
        agent.prompt("go");
        let asked = agent.until("control_request/hook_callback").pop().unwrap();
        if turn == 0 {
            agent.decide(&asked, "allow");
            while std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default().is_empty() {
                std::thread::yield_now();
            }
        }
        agent.send(&interrupt);
        let kinds: Vec<String> = agent.until("result").iter().map(kind_of).collect();
        let tail = ["control_response/success", "user/", "user/", "result/error_during_execution"];
        assert_eq!(kinds[kinds.len() - 4..], tail, "turn {turn}");
        assert_eq!(kinds.len() == 5, turn == 1, "an open question is withdrawn first: {kinds:?}");
    }
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    let gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    // A killed process may take a moment to be gone.
    let begun = std::time::Instant::now();
    while !gone() {
        assert!(begun.elapsed().as_secs() < 5, "the command's children live on");
        std::thread::yield_now();
    }
    agent.send(&interrupt);
    assert_eq!(kind_of(&agent.next()), "control_response/success", "idle: answered, no effect");
    assert_eq!(agent.finish().code, Some(1), "the last turn failed");
}

#[test]
fn signals_do_what_they_do_to_the_real_one() {
    let folder = folder();
    let mut agent = started(
        &folder,
        "[{drip: {text: 'abcdefghijklmnopqrstuvwxyz', every_ms: 200}}]",
        &["--include-partial-messages"],
    );
    agent.prompt("go");
    agent.until("stream_event/content_block_delta");
    agent.signal("INT");
    let records = agent.until("result");
    assert_eq!(records.last().unwrap()["terminal_reason"], "aborted_streaming");
    assert!(agent.is_running());
    agent.signal("TERM");
    // Only then: the end of its stdin would end it as well.
    while agent.is_running() {
        std::thread::yield_now();
    }
    assert_eq!(agent.finish().code, Some(143));
}

#[test]
fn what_is_said_mid_turn_arrives_with_the_next_tool_result() {
    let folder = folder();
    let mut agent = started(
        &folder,
        "[{bash: 'while [ ! -e go ]; do sleep 0.01; done'}, {say: done}]",
        &["--replay-user-messages"],
    );
    agent.prompt("first");
    let begun = agent.until("control_request/hook_callback");
    assert!(begun.iter().any(|record| record["isReplay"] == true && record["message"]["content"] == "first"));
    agent.decide(begun.last().unwrap(), "allow");
    agent.send(&json!({"type": "user", "uuid": "22222222-2222-4222-8222-222222222222",
                       "message": {"role": "user", "content": [{"type": "text", "text": "be kind"}]}}));
    std::fs::write(folder.path().join("go"), "").unwrap();
    let rest = agent.until("result");
    let kinds: Vec<String> = rest.iter().map(kind_of).collect();
    assert_eq!(kinds, ["user/", "user/", "assistant/", "assistant/", "result/success"]);
    assert_eq!(
        (&rest[1]["isReplay"], &rest[1]["uuid"]),
        (&json!(true), &json!("22222222-2222-4222-8222-222222222222"))
    );
    assert!(rest[2].to_string().contains("be kind"));
    assert_eq!(agent.finish().rest, Vec::<Value>::new(), "no turn of its own");
}

#[test]
fn sessions_outlive_their_process() {
    let folder = folder();
    let id = "7fd60360-697a-45fa-a3d1-c6282a565d75";
    let scenario = "turns: [{steps: [{say: one}]}, {steps: [{say: two}]}, {steps: [{say: three}]}]";
    let run = |flags: &[&str]| {
        let mut agent = Agent::start(folder.path(), scenario, &[FLAGS, flags].concat());
        if agent.is_running() {
            agent.prompt("go");
        }
        agent.finish()
    };
    let unknown = Agent::start(folder.path(), scenario, &[FLAGS, &["--resume", id]].concat()).finish();
    assert_eq!((unknown.code, unknown.rest.len()), (Some(1), 1));
    assert_eq!(unknown.rest[0]["errors"], json!([format!("No conversation found with session ID: {id}")]));
    assert!(unknown.stderr.contains(id));
    for (flag, said) in [("--session-id", "one"), ("--resume", "two")] {
        let exit = run(&[flag, id]);
        let last = exit.rest.last().unwrap();
        assert_eq!((exit.code, &last["result"], &last["session_id"]), (Some(0), &json!(said), &json!(id)));
    }
    let again = Agent::start(folder.path(), scenario, &[FLAGS, &["--session-id", id]].concat()).finish();
    assert!(again.stderr.contains("already in use") && again.rest.is_empty() && again.code == Some(1));
}

#[test]
#[cfg(target_os = "linux")]
fn bash_leads_its_own_session_and_carries_the_marker() {
    let folder = folder();
    let id = "7fd60360-697a-45fa-a3d1-c6282a565d75";
    let mut agent = started(
        &folder,
        r"[{bash: 'echo $CLAUDE_CODE_SESSION_ID; set -- $(cat /proc/$$/stat); [ $$ = $6 ] && echo leads; [ -t 0 ] || echo no terminal'}]",
        &["--session-id", id],
    );
    agent.prompt("go");
    let said = results(&agent.until("result"));
    assert_eq!(said, [(format!("{id}\nleads\nno terminal"), false)]);
}
