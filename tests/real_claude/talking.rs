//! Prompt, tools, answers, notes, sessions.

use crate::agent_run::{Run, id, launch};
use crate::messages_stub::Reply;
use crate::real_cli::RealCli;
use programmator::adapters::agent::launch::Options;
use programmator::adapters::agent::{AgentEvent, CallbackAnswer, ToolAnswer, probe};
use programmator::domain::scrollback::EntryKind;
use programmator::domain::tool_call::Via;
use serde_json::json;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn tools_run_when_they_are_allowed_in_band() {
    let place = Arc::new(RealCli::new([]));
    let file = place.folder().join("new.txt");
    place.stub.push([
        Reply::text("I begin.").and_tool("Write", json!({"file_path": file, "content": "one\n"})),
        Reply::tool("Bash", json!({"command": "echo two >> new.txt", "description": "add"})),
        Reply::text("PROGRAMMATOR_STATUS:").and_text("  status: DONE"),
    ]);
    let mut run = Run::open(place, Options::default()).await.unwrap();
    let prompt = id();
    run.agent.send_user(&prompt, "go").await.unwrap();

    let write = run.allow_next().await;
    assert_eq!((write.tool.as_str(), write.request.via), ("Write", Via::Callback));
    let input: serde_json::Value = serde_json::from_str(&write.input).unwrap();
    assert_eq!(input["content"], "one\n");
    let bash = run.allow_next().await;
    assert_eq!(bash.tool, "Bash");

    let result = run.result().await;
    assert!(!result.is_error, "{result:?}");
    assert_eq!(result.text, "I begin.\nPROGRAMMATOR_STATUS:\n  status: DONE");
    assert_eq!(result.usage.input, 300);
    assert_eq!(result.context, Some(120));
    assert!(result.context_window.is_some() && result.cost_usd > 0.0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");

    let exit = run.finish().await;
    assert_eq!((exit.code, exit.signal, exit.swept), (Some(0), None, 0), "{exit:?}");
    assert!(run.seen.contains(&AgentEvent::Echoed { uuid: prompt }));
    for call in [write.tool_use_id, bash.tool_use_id] {
        let finished = AgentEvent::ToolFinished { tool_use_id: call, is_error: false };
        assert!(run.seen.contains(&finished), "{:#?}", run.seen);
    }
    let kept = run.kept.0.lock().unwrap();
    let shown = |kind| kept.lines.iter().filter(|(_, k)| *k == Some(kind)).count();
    assert_eq!(shown(EntryKind::Result), 1);
    assert_eq!(shown(EntryKind::Assistant), 5);
    assert_eq!(shown(EntryKind::Garbage), 0);
    assert!(kept.live.contains("PROGRAMMATOR_STATUS:"), "{}", kept.live);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_tool_does_not_run_and_claude_reads_why() {
    let mut run = Run::start([Reply::tool("Bash", json!({"command": "touch made"})), Reply::text("I see.")]).await;
    let tool = run.asked().await;
    let reason = "not while \"tests\" fail".to_owned();
    run.agent.answer_callback(&tool.request.id, &CallbackAnswer::Deny { reason: reason.clone() }).await.unwrap();
    let result = run.result().await;
    assert!(!result.is_error);
    assert!(!run.place.folder().join("made").exists());
    assert!(run.request(1).contains("not while \\\"tests\\\" fail"), "{}", run.request(1));
    assert!(run.seen.contains(&AgentEvent::ToolFinished { tool_use_id: tool.tool_use_id, is_error: true }));
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_brings_the_second_question_whose_answer_may_change_the_input() {
    let mut run = Run::start([
        Reply::tool("Bash", json!({"command": "touch asked"})),
        Reply::tool("Bash", json!({"command": "touch refused"})),
        Reply::text("Done."),
    ])
    .await;
    for answer in [
        ToolAnswer::Allow { input: "{\n\"command\": \"touch changed\"}".into() },
        ToolAnswer::Deny { message: "the person says no".into() },
    ] {
        let first = run.asked().await;
        run.agent.answer_callback(&first.request.id, &CallbackAnswer::Ask { reason: "r".into() }).await.unwrap();
        let second = run.asked().await;
        assert_eq!(second.request.via, Via::CanUseTool);
        assert_eq!(second.tool_use_id, first.tool_use_id);
        run.agent.answer_can_use_tool(&second.request.id, &answer).await.unwrap();
    }
    let result = run.result().await;
    let made = |name| run.place.folder().join(name).exists();
    assert_eq!([made("changed"), made("asked"), made("refused")], [true, false, false]);
    assert_eq!(result.denials, ["Bash(touch refused)"]);
    assert!(run.request(2).contains("the person says no"));
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_in_mid_turn_is_echoed_when_claude_takes_it_up() {
    let mut run = Run::start([Reply::tool("Bash", json!({"command": "echo one"})), Reply::text("Seen.")]).await;
    let tool = run.asked().await;
    let note = id();
    run.agent.send_user(&note, "also mind the docs").await.unwrap();
    run.agent.answer_callback(&tool.request.id, &CallbackAnswer::Allow).await.unwrap();
    run.wait("the echo", |event| (*event == AgentEvent::Echoed { uuid: note.clone() }).then_some(())).await;
    assert_eq!(run.result().await.text, "Seen.");
    assert!(run.request(1).contains("also mind the docs"));
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_is_a_second_turn_of_the_same_process() {
    let mut run = Run::start([Reply::text("first"), Reply::text("second")]).await;
    assert_eq!(run.result().await.text, "first");
    run.agent.send_user(&id(), "the block only").await.unwrap();
    let second = run.result().await;
    assert_eq!(second.text, "second");
    assert_eq!(second.usage.input, 100, "tokens of this turn only");
    let sessions: Vec<_> = run
        .seen
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Ready { session, version, .. } => Some((session.clone(), version.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0], sessions[1]);
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_resumed_by_its_id_with_its_model() {
    let place = Arc::new(RealCli::new([Reply::text("remember"), Reply::text("I remember")]));
    let options = Options { model: Some("claude-sonnet-4-6".into()), ..Options::default() };
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let resume = sessions.last().cloned();
        let mut run = Run::open(Arc::clone(&place), Options { resume, ..options.clone() }).await.unwrap();
        run.agent.send_user(&id(), "the word is heron").await.unwrap();
        let session = run
            .wait("init", |event| match event {
                AgentEvent::Ready { session, model, .. } => {
                    assert_eq!(model, "claude-sonnet-4-6");
                    Some(session.clone())
                }
                _ => None,
            })
            .await;
        run.result().await;
        run.finish().await;
        sessions.push(session);
    }
    assert_eq!(sessions[0], sessions[1]);
    let second = place.stub.requests()[1]["messages"].to_string();
    assert!(second.contains("remember") && second.matches("heron").count() == 2, "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_of_ten_megabytes_meets_a_claude_that_talks() {
    let mut run = Run::start([Reply::text(&"word ".repeat(200_000)).slowly(50_000, std::time::Duration::ZERO)]).await;
    assert_eq!(run.result().await.text.len(), 1_000_000);
    // A later version than 2.1.197 shortens the conversation before the turn begins.
    run.place
        .stub
        .push([Reply::text("a summary").when("CRITICAL: Respond with TEXT ONLY").forever(), Reply::text("long")]);
    run.agent.send_user(&id(), &"x".repeat(10 << 20)).await.unwrap();
    assert_eq!(run.result().await.text, "long");
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_reaches_the_system_prompt() {
    let place = Arc::new(RealCli::new([Reply::text("ok")]));
    let file = programmator::adapters::agent::memory::to_file("MEMORY-MARK").unwrap();
    let options = Options { system_prompt_file: Some(file.to_path_buf()), ..Options::default() };
    let mut run = Run::open(place, options).await.unwrap();
    run.agent.send_user(&id(), "go").await.unwrap();
    run.result().await;
    assert!(run.place.stub.requests()[0]["system"].to_string().contains("MEMORY-MARK"));
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_version_is_the_tested_one_or_newer() {
    let place = RealCli::new([]);
    let version = probe::ask(&launch(&place, Options::default(), "probe")).await.unwrap().version;
    assert!(version >= programmator::adapters::agent::version::TESTED[0], "{version}");
}
