//! What a host asks before any work, of the double and of the real CLI: its version, its flags, its settings.

use super::host::{Agent, FLAGS};
use programmator::adapters::agent::features::{Features, TABLE};
use programmator::adapters::agent::launch::Launch;
use programmator::adapters::agent::probe::{self, Found};
use programmator::adapters::agent::version::TESTED;
use serde_json::{Value, json};
use std::path::Path;

/// The host's lines and Claude's, in turns.
fn recorded(name: &str) -> Vec<Value> {
    let file = format!("{}/tests/fixtures/recorded-2.1.330/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["msg"].clone()).collect()
}

/// The recorded settings were these; in the second recording one of them is wrong.
fn settings(hooks: &Value) -> String {
    let env = json!({"BASH_ENV": "", "CLAUDE_CODE_SIMPLE": ""});
    json!({"crossSessionInbound": "refuse", "disableAllHooks": hooks, "env": env}).to_string()
}

/// Without what differs from start to start; of the answer to `initialize` only the names.
fn plain(mut answer: Value) -> Value {
    let told = &mut answer["response"]["response"];
    if told["commands"].is_array() {
        let mut names: Vec<String> = told.as_object().unwrap().keys().cloned().collect();
        names.sort();
        *told = json!(names);
    }
    if let Some(errors) = told.get_mut("errors").and_then(Value::as_array_mut) {
        for error in errors {
            let file = error["file"].as_str().unwrap();
            error["file"] = json!(file.rsplit_once('-').unwrap().0);
        }
    }
    answer
}

#[test]
fn it_answers_as_the_real_one_did() {
    for (cli, part) in [("2.1.197", "197"), ("2.1.330", "330")] {
        for (name, hooks) in [("22_settings", json!(false)), ("22_settings_invalid", json!("no"))] {
            let folder = tempfile::tempdir().unwrap();
            let given = settings(&hooks);
            let flags = [FLAGS, &["--settings", &given]].concat();
            let mut agent = Agent::start(folder.path(), &format!("cli: {cli}\nturns: [{{}}]"), &flags);
            let lines = recorded(&format!("{name}.{part}"));
            let mut model = Value::Null;
            for pair in lines.chunks(2) {
                agent.send(&pair[0]);
                let answer = agent.next();
                assert_eq!(plain(answer.clone()), plain(pair[1].clone()), "{name} {cli}");
                if answer["response"]["request_id"] == "get_settings" {
                    model = answer["response"]["response"]["applied"]["model"].clone();
                }
            }
            assert_eq!(lines.len(), 8, "{name} {cli}");
            agent.prompt("go");
            let init = agent.until("system/init").pop().unwrap();
            assert_eq!((&init["model"], &init["claude_code_version"]), (&model, &json!(cli)));
        }
    }
}

/// What the product finds out about the double with such a scenario.
async fn found(folder: &Path, cli: &str) -> Found {
    let file = folder.join(format!("{cli}.yaml"));
    std::fs::write(&file, format!("cli: {cli}\n")).unwrap();
    let words = [env!("CARGO_BIN_EXE_programmator"), "scripted-agent", "--scenario", file.to_str().unwrap()];
    let launch = Launch { command: words.map(str::to_owned).into(), folder: folder.to_owned(), ..Launch::default() };
    probe::ask(&launch).await.unwrap()
}

#[tokio::test]
async fn it_is_found_to_be_the_version_that_it_speaks() {
    let folder = tempfile::tempdir().unwrap();
    let [older, newer] = TESTED;
    assert_eq!(found(folder.path(), "2.1.197").await, Found { version: older, features: Features::default() });
    let all = TABLE.iter().map(|row| row.feature);
    assert_eq!(found(folder.path(), "2.1.330").await, Found { version: newer, features: Features::of(all) });
}

#[test]
fn a_flag_of_the_later_version_is_refused_by_the_older_one() {
    let flags = [FLAGS, &["--system-prompt-snapshot", "off"]].concat();
    for (cli, refused) in [("2.1.197", true), ("2.1.330", false)] {
        let folder = tempfile::tempdir().unwrap();
        let exit = Agent::start(folder.path(), &format!("cli: {cli}"), &flags).finish();
        assert_eq!(exit.code, Some(i32::from(refused)), "{cli}: {exit:?}");
        assert_eq!(exit.stderr.contains("unknown option '--system-prompt-snapshot'"), refused, "{cli}: {exit:?}");
    }
}
