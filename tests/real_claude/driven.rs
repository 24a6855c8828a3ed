//! A Claude that the person drives: what becomes of a call when the hook that is to decide about it does not.

use crate::messages_stub::Reply;
use crate::real_cli::{RealCli, claude};
use programmator::adapters::agent::launch::{Launch, Options, interactive};
use programmator::adapters::agent::probe;
use serde_json::json;
use std::process::{Command, Stdio};

/// What came of reading a file of the folder's, in the words that Claude was told, with this hook.
async fn read_with(hook: &str) -> String {
    let place = RealCli::new([]);
    std::fs::write(place.folder().join("note.txt"), "WORDS-OF-THE-FILE").unwrap();
    let path = place.folder().join("note.txt").display().to_string();
    place.stub.push([Reply::tool("Read", json!({"file_path": path})), Reply::text("so be it")]);
    let folder = place.folder().to_owned();
    let mut launch = Launch { command: vec![claude()], env: place.env(), folder: folder.clone(), ..Launch::default() };
    launch.options = Options { features: probe::ask(&launch).await.unwrap().features, ..Options::default() };
    // Its prompts have nobody to answer them with `-p`: what would be asked is refused.
    let args = interactive(&launch, Some(hook)).into_iter().map(|arg| arg.replace("\"timeout\":60", "\"timeout\":1"));
    let output = Command::new(claude())
        .args(["-p", "read it"])
        .args(args)
        .env_clear()
        .envs(place.env())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let requests = place.stub.requests();
    requests.last().unwrap()["messages"].as_array().unwrap().last().unwrap()["content"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_is_killed_stopped_or_too_slow_lets_nothing_through() {
    for hook in ["kill -KILL $$", "kill -STOP $$; sleep 60", "exec sleep 60", "exit 1", "/nowhere/programmator hook"] {
        let told = read_with(hook).await;
        assert!(told.contains("tool_result") && told.contains("\"is_error\":true"), "{hook}: {told}");
        assert!(!told.contains("WORDS-OF-THE-FILE"), "{hook}: {told}");
    }
}
