//! The double beside the recordings of the real CLI: the same conversation, record by record, key by key.
//!
//! Each recording is replayed: what the host said is said again where it was said, what Claude said becomes the scenario.
//! The records must come in the same order; over all recordings, the keys of each kind of record lie between those that
//! every recording has and those that any has.

use super::host::{Agent, kind_of};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Kinds whose number depends on the pace of the stream.
const UNCOUNTED: &[&str] = &["stream_event/content_block_delta", "system/thinking_tokens"];

struct Recording {
    argv: Vec<String>,
    exit: i64,
    /// Direction and record.
    lines: Vec<(String, Value)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recorded/transcripts")
}

fn recording(name: &str) -> Recording {
    let text = std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let meta = lines.next().unwrap();
    Recording {
        argv: meta["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect(),
        exit: meta["exit"].as_i64().unwrap(),
        lines: lines.map(|line| (line["dir"].as_str().unwrap().to_owned(), line["msg"].clone())).collect(),
    }
}

/// The scenario that says what the recording's Claude says, in `cwd` instead of its folder.
fn scenario(lines: &[(String, Value)], cwd: &str) -> String {
    let said: String = lines.iter().map(|(_, record)| record.to_string()).collect();
    let mut turns: Vec<Vec<Value>> = Vec::new();
    let mut message = Value::Null;
    for (_, record) in lines.iter().filter(|(dir, _)| dir == "cli->host") {
        if kind_of(record) == "system/init" {
            turns.push(Vec::new());
        }
        if record["type"] != "assistant" {
            continue;
        }
        let block: Value =
            serde_json::from_str(&record["message"]["content"][0].to_string().replace("/home/dev/proj", cwd)).unwrap();
        let input = &block["input"];
        let step = match (block["type"].as_str().unwrap(), block["name"].as_str().unwrap_or_default()) {
            ("text", _) if record["error"].is_string() => {
                let status = lines.iter().find_map(|(_, record)| record["api_error_status"].as_u64());
                json!({"api_error": {"status": status, "kind": record["error"], "text": block["text"]}})
            }
            ("text", _) if said.contains("[Request interrupted by user]") && turns.len() == 1 => {
                json!({"drip": {"text": "word ".repeat(1_000), "every_ms": 5}})
            }
            // The double answers what was said to it mid-turn by itself.
            ("text", _) if said.contains("INJECTED") => continue,
            ("text", _) => json!({"say": block["text"]}),
            ("thinking", _) => json!({"think": block["thinking"]}),
            (_, "Write") => {
                json!({"write": {"path": input["file_path"], "content": input["content"]}})
            }
            (_, "Edit") => {
                json!({"edit": {"path": input["file_path"], "old": input["old_string"], "new": input["new_string"]}})
            }
            (_, "Read") => json!({"read": input["file_path"]}),
            // Well over the three seconds that make a command a task.
            _ => {
                json!({"bash": input["command"].as_str().unwrap().replace("sleep 3;", "sleep 3.5;")})
            }
        };
        let steps = turns.last_mut().unwrap();
        match steps.last_mut() {
            // Calls of one message are made together.
            Some(last) if block["type"] == "tool_use" && message == record["message"]["id"] => {
                *last = json!({"together": [last.clone(), step]});
            }
            _ => steps.push(step),
        }
        message = if block["type"] == "tool_use" { record["message"]["id"].clone() } else { Value::Null };
    }
    let turns: Vec<Value> = turns.into_iter().map(|steps| json!({"steps": steps})).collect();
    json!({"turns": turns}).to_string()
}

/// Replays `recording` up to its end; all the agent printed.
fn replay(name: &str, recording: &Recording) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "hello\nworld\n").unwrap();
    let flags: Vec<&str> = recording.argv.iter().map(String::as_str).collect();
    let mut agent = Agent::start(&root, &scenario(&recording.lines, root.to_str().unwrap()), &flags);
    let (mut printed, mut question): (Vec<Value>, Option<Value>) = (Vec::new(), None);
    let closes_early = ["c20", "c21", "r04", "c27"].contains(&&name[..3]);
    for (at, (dir, recorded)) in recording.lines.iter().enumerate() {
        if dir == "host->cli" {
            let mut message = recorded.clone();
            if at > 0 && UNCOUNTED.contains(&kind_of(&recording.lines[at - 1].1).as_str()) {
                // Said while text streamed: it must stream here too.
                printed.push(agent.next());
            }
            if recorded["type"] == "control_response" {
                let asked = question.take().expect("a question to answer");
                message["response"]["request_id"] = asked["request_id"].clone();
            }
            agent.send(&message);
            continue;
        }
        if UNCOUNTED.contains(&kind_of(recorded).as_str()) {
            continue;
        }
        let mut record = agent.next();
        while UNCOUNTED.contains(&kind_of(&record).as_str()) {
            printed.push(record);
            record = agent.next();
        }
        assert_eq!(kind_of(&record), kind_of(recorded), "{name}, line {}: {record}\nrecorded: {recorded}", at + 2);
        if record["type"] == "control_request" {
            question = Some(record.clone());
        }
        let is_tool = record["message"]["content"][0]["type"] == "tool_use";
        if closes_early && (record["type"] == "control_request" || is_tool && name.starts_with("c27")) {
            agent.close();
        }
        if is_tool && name.starts_with("c28") {
            agent.signal("INT");
        }
        printed.push(record);
    }
    let exit = agent.finish();
    assert_eq!(exit.rest, Vec::<Value>::new(), "{name}: nothing behind the recording's end");
    assert_eq!(exit.code.map(i64::from), Some(recording.exit), "{name}: exit code");
    printed
}

/// Paths of keys in `value`; what a record is about (inputs, names of models) is not looked into.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let path = format!("{path}.{key}");
                found.insert(path.clone());
                match key.as_str() {
                    "input" if !inner.as_object().is_some_and(|input| input.contains_key("hook_event_name")) => {}
                    "tool_input"
                    | "tool_response"
                    | "commands"
                    | "agents"
                    | "models"
                    | "permission_suggestions"
                    | "plugins" => {}
                    "modelUsage" | "model_usage_since_last_result" => {
                        inner.as_object().into_iter().flatten().for_each(|(_, usage)| keys(usage, &path, found));
                    }
                    _ => keys(inner, &path, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, path, found)),
        _ => {}
    }
}

/// A record's kind as far as its keys depend on it: also the block, the tool and how a turn ended.
fn shape_of(record: &Value) -> String {
    let block = &record["message"]["content"][0]["type"];
    let result = match &record["tool_use_result"] {
        Value::Object(result) => format!("{:?}", result.keys().next()),
        Value::String(_) => "text".to_owned(),
        _ => String::new(),
    };
    let parts = [
        kind_of(record),
        block.as_str().unwrap_or_default().to_owned(),
        result,
        record["message"]["model"].as_str().is_some_and(|model| model == "<synthetic>").to_string(),
        record["terminal_reason"].as_str().unwrap_or_default().to_owned(),
        record["api_error_status"].is_u64().to_string(),
        record["request"]["input"]["hook_event_name"].as_str().unwrap_or_default().to_owned(),
        record["request"]["decision_reason_type"].as_str().unwrap_or_default().to_owned(),
        record["event"]["delta"]["type"].as_str().unwrap_or_default().to_owned(),
        record["event"]["content_block"]["type"].as_str().unwrap_or_default().to_owned(),
        record["modelUsage"].as_object().is_some_and(serde_json::Map::is_empty).to_string(),
        record["permission_denials"].as_array().is_some_and(Vec::is_empty).to_string(),
        record["response"]["response"].as_object().is_some_and(|answer| answer.contains_key("commands")).to_string(),
        record["isReplay"].to_string(),
    ];
    parts.join(" ")
}

pub type Shapes = BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)>;

/// For each shape the keys that all have and the keys that any has.
pub fn shapes<'a>(records: impl Iterator<Item = &'a Value>) -> Shapes {
    let mut shapes = Shapes::new();
    for record in records {
        let mut found = BTreeSet::new();
        keys(record, "", &mut found);
        match shapes.get_mut(&shape_of(record)) {
            Some((all, any)) => {
                all.retain(|key| found.contains(key));
                any.extend(found);
            }
            None => {
                shapes.insert(shape_of(record), (found.clone(), found));
            }
        }
    }
    shapes
}

const REPLAYED: &[&str] = &[
    "02_tools", "03_partial", "06k_404_model", "07f_resume_unknown", "c01_multiturn", "c02_can_use_tool",
    "c03_deny_interrupt", "c10_interrupt_stream", "c11_interrupt_bash", "c12_inject", "c12b_inject_now",
    "c20_close_pending_cut", "c21_close_pending_hook", "c23_hook_error", "c26_interrupt_pending", "c27_close_early",
    "c28_sigint", "r01_ref_ask_allow", "r02_ref_ask_deny", "r03_ref_cb_error_failclosed", "r04_ref_die_in_callback",
    "r05_ref_empty_cb",
];

#[test]
fn the_double_says_what_the_real_one_said() {
    // Most of the time is spent in the recorded commands' sleeps.
    let printed: Vec<Value> = std::thread::scope(|scope| {
        let replays: Vec<_> = REPLAYED.iter().map(|name| scope.spawn(|| replay(name, &recording(name)))).collect();
        replays.into_iter().flat_map(|replay| replay.join().expect("the replay holds")).collect()
    });
    let all: Vec<Value> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .flat_map(|name| recording(&name).lines)
        .filter(|(dir, _)| dir == "cli->host")
        .map(|(_, record)| record)
        .collect();
    let compared = compare(&shapes(all.iter()), &shapes(printed.iter()));
    assert!(compared >= 20, "{compared} shapes compared");
}

/// Holds what was printed beside what is real; how many shapes there were.
pub fn compare(real: &Shapes, printed: &Shapes) -> usize {
    for (shape, (has_always, has_ever)) in printed {
        let Some((required, allowed)) = real.get(shape) else {
            panic!("the real CLI never printed: {shape}");
        };
        let missing: Vec<_> = required.difference(has_always).collect();
        let extra: Vec<_> = has_ever.difference(allowed).collect();
        assert!(missing.is_empty() && extra.is_empty(), "{shape}\nmissing: {missing:?}\nextra: {extra:?}");
    }
    printed.len()
}
