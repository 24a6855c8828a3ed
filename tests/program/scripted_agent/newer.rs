//! The double beside recordings of 2.1.197 and 2.1.330 made with one script: subagents in the foreground and in the
//! background, messages that are followed. In the background the subagent's records come among those of the main agent as
//! time has it, so each of the two is compared by itself.

use super::contract::{compare, shapes};
use super::host::{Agent, FLAGS, kind_of};
use serde_json::{Value, json};

/// What Claude printed in a recording, without answers to the host.
fn recorded(name: &str) -> Vec<Value> {
    let file = format!("{}/tests/fixtures/recorded-2.1.330/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["dir"] == "<").map(|line| line["msg"].clone()).filter(told).collect()
}

/// Not an answer, and none of those whose number depends on time.
fn told(record: &Value) -> bool {
    let kind = kind_of(record);
    !["stream_event", "control_response", "system/task_progress"].iter().any(|other| kind.starts_with(other))
}

/// What the double prints to a host that says yes, up to so many results.
fn played(cli: &str, steps: &str, messages: &[Value], results: usize) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!("cli: {cli}\nturns: [{{times: 0, steps: {steps}}}]");
    let mut agent = Agent::start(folder.path(), &scenario, FLAGS);
    agent.initialize();
    let (mut printed, mut messages) = (Vec::new(), messages.iter());
    agent.send(messages.next().unwrap());
    for done in 1..=results {
        loop {
            let record = agent.next();
            match record["request"]["subtype"].as_str() {
                Some("hook_callback") => agent.decide(&record, "ask"),
                Some("can_use_tool") => {
                    let yes = json!({"behavior": "allow", "updatedInput": record["request"]["input"]});
                    agent.answer(&record, &yes);
                }
                _ => {}
            }
            let over = record["type"] == "result";
            printed.push(record);
            if over {
                break;
            }
        }
        if done < results
            && let Some(message) = messages.next()
        {
            agent.send(message);
        }
    }
    printed.extend(agent.finish().rest);
    printed.into_iter().filter(told).collect()
}

fn user(uuid: Option<&str>) -> Value {
    let mut message = json!({"type": "user", "message": {"role": "user", "content": "go"}, "parent_tool_use_id": null,
                             "session_id": ""});
    if let Some(uuid) = uuid {
        message["uuid"] = json!(uuid);
    }
    message
}

fn of_subagent(record: &Value) -> bool {
    let request = &record["request"];
    record["parent_tool_use_id"].is_string()
        || request["agent_id"].is_string()
        || request["input"]["agent_id"].is_string()
}

/// Kinds of the main agent's records in their order, and those of the subagent's.
fn kinds(records: &[Value]) -> (Vec<String>, Vec<String>) {
    let (sub, main): (Vec<&Value>, Vec<&Value>) = records.iter().partition(|record| of_subagent(record));
    let mut sub: Vec<String> = sub.into_iter().map(kind_of).collect();
    // A call and the question about it come in either order.
    sub.sort();
    (main.into_iter().map(kind_of).collect(), sub)
}

const SUBAGENT: &str = r#"{description: a part, prompt: "SUBAGENT: do the part""#;

#[test]
fn a_subagent_in_the_foreground_says_what_the_real_one_said() {
    let steps = format!(
        "[{{agent: {SUBAGENT}, steps: [{{bash: touch sub.txt}}, {{say: The part is done.}}], then: [{{say: main text}}]}}}}]"
    );
    let printed = played("2.1.197", &steps, &[user(None)], 1);
    let real = recorded("04_subagent.197");
    assert_eq!(kinds(&printed), kinds(&real));
    assert!(compare(&shapes(real.iter()), &shapes(printed.iter())) >= 10);
}

#[test]
fn a_subagent_in_the_background_and_followed_messages_say_what_the_real_ones_said() {
    let steps = format!(
        "[{{agent: {SUBAGENT}, steps: [{{bash: touch sub.txt}}, {{bash: touch sub2.txt}}, {{say: The part is done.}}], \
         meanwhile: [{{say: 'main text, waiting'}}], then: [{{say: final text}}]}}}}]"
    );
    let subagent = played("2.1.330", &steps, &[user(None)], 2);
    let real_subagent = recorded("04_subagent_default_background.330");
    assert_eq!(kinds(&subagent), kinds(&real_subagent));

    let uuids = ["11111111-1111-4111-8111-1111111111aa", "11111111-1111-4111-8111-1111111111bb"];
    let followed = played("2.1.330", "[{say: one}]", &uuids.map(|uuid| user(Some(uuid))), 2);
    let real_followed = recorded("19_command_lifecycle.330");
    assert_eq!(kinds(&followed), kinds(&real_followed));
    let states = |records: &[Value]| -> Vec<(Value, Value)> {
        let told = records.iter().filter(|record| record["type"] == "command_lifecycle");
        told.map(|record| (record["command_uuid"].clone(), record["state"].clone())).collect()
    };
    assert_eq!(states(&followed), states(&real_followed));

    let real = shapes(real_subagent.iter().chain(&real_followed));
    assert!(compare(&real, &shapes(subagent.iter().chain(&followed))) >= 10);
}

#[test]
fn either_way_a_call_says_where_it_runs() {
    for (cli, background) in [("2.1.197", true), ("2.1.330", false)] {
        let folder = tempfile::tempdir().unwrap();
        let steps = format!("[{{agent: {SUBAGENT}, steps: [{{say: done}}], then: [{{say: after}}]}}}}]");
        let mut agent = Agent::start(folder.path(), &format!("cli: {cli}\nturns: [{{steps: {steps}}}]"), FLAGS);
        agent.initialize();
        agent.prompt("go");
        let asked = agent.until("control_request/hook_callback").pop().unwrap();
        let mut input = asked["request"]["input"]["tool_input"].clone();
        input["run_in_background"] = json!(background);
        agent.decide(&asked, "ask");
        let asked = agent.next();
        agent.answer(&asked, &json!({"behavior": "allow", "updatedInput": input}));
        let first = agent.until("result");
        let launched = first.iter().any(|record| record["tool_use_result"]["isAsync"] == true);
        assert_eq!(launched, background, "{cli}: {first:#?}");
        if background {
            let second = agent.until("result").pop().unwrap();
            assert_eq!(second["origin"]["kind"], "task-notification");
        }
    }
}

#[test]
fn what_waits_is_taken_back_and_a_session_can_be_ended() {
    for cli in ["2.1.197", "2.1.330"] {
        let folder = tempfile::tempdir().unwrap();
        let scenario = format!("cli: {cli}\nturns: [{{times: 0, steps: [{{say: begun}}, {{sleep_ms: 60000}}]}}]");
        let mut agent = Agent::start(folder.path(), &scenario, FLAGS);
        agent.initialize();
        agent.prompt("go");
        agent.until("assistant");
        agent.send(&user(Some("u-1")));
        for request in
            [json!({"subtype": "cancel_async_message", "message_uuid": "u-1"}), json!({"subtype": "interrupt"})]
        {
            agent.send(&json!({"type": "control_request", "request_id": request["subtype"], "request": request}));
        }
        let stopped = agent.until("result");
        let taken = stopped.iter().find(|record| record["response"]["request_id"] == "cancel_async_message").unwrap();
        assert_eq!(taken["response"]["response"]["cancelled"], true, "{cli}: {taken}");
        agent.send(&json!({"type": "control_request", "request_id": "end", "request": {"subtype": "end_session"}}));
        let exit = agent.finish();
        assert!(!exit.rest.iter().any(|record| record["type"] == "result"), "{cli}: {:?}", exit.rest);
    }
}
