//! How Claude is started: its settings, its tools, its system prompt, and who may speak to it.

use crate::agent_run::{Run, id};
use crate::messages_stub::Reply;
use crate::real_cli::{RealCli, claude};
use programmator::adapters::agent::features::Feature;
use programmator::adapters::agent::launch::Options;
use programmator::adapters::agent::{AgentError, AgentEvent, CallbackAnswer, memory};
use programmator::domain::tool_call::Via;
use serde_json::{Value, json};
use std::sync::Arc;

/// The `init` records of a run.
fn inits(run: &Run) -> Vec<Value> {
    let kept = run.kept.0.lock().unwrap();
    let records = kept.lines.iter().filter_map(|(line, _)| serde_json::from_str::<Value>(line).ok());
    records.filter(|record| record["subtype"] == "init").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_session_gets_the_system_prompt_of_now() {
    let place = Arc::new(RealCli::new([Reply::text("one"), Reply::text("two")]));
    let mut session = None;
    for word in ["MEMORY-ONE", "MEMORY-TWO"] {
        let file = memory::to_file(word).unwrap();
        let options = Options { resume: session, system_prompt_file: Some(file.to_path_buf()), ..Options::default() };
        let mut run = Run::open(Arc::clone(&place), options).await.unwrap();
        run.agent.send_user(&id(), "go").await.unwrap();
        session = run
            .wait("init", |event| match event {
                AgentEvent::Ready { session, .. } => Some(Some(session.clone())),
                _ => None,
            })
            .await;
        run.result().await;
        run.finish().await;
    }
    let requests = place.stub.requests();
    let system = requests[1]["system"].to_string();
    assert!(requests[0]["system"].to_string().contains("MEMORY-ONE"));
    assert!(system.contains("MEMORY-TWO") && !system.contains("MEMORY-ONE"), "{system}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_start_turns_by_themselves_are_not_there() {
    let mut run = Run::start([Reply::text("ok")]).await;
    run.result().await;
    let tools = inits(&run)[0]["tools"].to_string();
    assert!(tools.contains("\"Bash\""), "{tools}");
    for tool in ["ScheduleWakeup", "CronCreate", "AskUserQuestion", "ExitPlanMode"] {
        assert!(!tools.contains(&format!("\"{tool}\"")), "{tools}");
    }
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_session_of_the_person_starts_no_turn() {
    let place = Arc::new(RealCli::new([Reply::text("idle").when("WORK-OF-OURS")]));
    let mut ours = Run::open(Arc::clone(&place), Options::default()).await.unwrap();
    ours.agent.send_user(&id(), "WORK-OF-OURS").await.unwrap();
    ours.result().await;

    let mut other = Run::open(Arc::clone(&place), Options::default()).await.unwrap();
    if !other.features.have(Feature::CrossSessionInbound) {
        assert!(inits(&ours)[0]["messaging_socket_path"].is_null(), "sessions of this version can be reached");
        return;
    }
    place.stub.push([Reply::tool("ListAgents", json!({})), Reply::text("seen")]);
    other.agent.send_user(&id(), "who is there?").await.unwrap();
    other.allow_next().await;
    other.result().await;
    let listing = other.request(2);
    let name = listing.split("Peer sessions (1):\\n").nth(1).and_then(|rest| rest.split_whitespace().next());
    let name = name.unwrap_or_else(|| panic!("no peer in {listing}"));
    let message = json!({"to": name, "summary": "s", "message": "WORDS-OF-A-PEER", "type": "message"});
    place.stub.push([Reply::tool("SendMessage", message), Reply::text("sent")]);
    other.agent.send_user(&id(), "tell it").await.unwrap();
    other.allow_next().await;
    other.result().await;
    assert!(other.request(4).contains("\\\"success\\\":true"), "{}", other.request(4));
    other.finish().await;

    // What was delivered would be taken up with the next message at the latest.
    place.stub.push([Reply::text("again").when("WORK-OF-OURS").forever()]);
    ours.agent.send_user(&id(), "go on").await.unwrap();
    assert_eq!(ours.result().await.text, "again");
    ours.finish().await;
    let turns = ours.seen.iter().filter(|event| matches!(event, AgentEvent::TurnFinished(_))).count();
    assert_eq!(turns, 2);
    let requests = place.stub.requests();
    let told = |request: &&Value| {
        let messages = request["messages"].to_string();
        messages.contains("WORK-OF-OURS") && messages.contains("WORDS-OF-A-PEER")
    };
    assert_eq!(requests.iter().filter(told).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_claude_cannot_read_lets_nothing_run() {
    let place = Arc::new(RealCli::new([Reply::tool("Bash", json!({"command": "touch made"})), Reply::text("I see.")]));
    // Somebody between us and Claude spoils our word.
    let spoil = r#"sed -u 's/"permissionDecision":"allow"/"permissionDecision":"nonsense"/' | "$0" "$@""#;
    let command = ["bash", "-c", spoil, &claude()].map(str::to_owned).into();
    let mut run = Run::open_as(Arc::clone(&place), Options::default(), command).await.unwrap();
    run.agent.send_user(&id(), "go").await.unwrap();
    run.allow_next().await;
    if run.features.have(Feature::OnFailure) {
        assert!(!run.result().await.is_error);
        let asked_again = run.seen.iter().any(|event| match event {
            AgentEvent::ToolAsked(tool) => tool.request.via == Via::CanUseTool,
            _ => false,
        });
        assert!(!asked_again, "it is refused at once");
    } else {
        let again = run.asked().await;
        assert_eq!(again.request.via, Via::CanUseTool, "it is asked again");
        run.agent.answer_callback(&again.request.id, &CallbackAnswer::Deny { reason: "no".into() }).await.unwrap();
        run.result().await;
    }
    assert!(!place.folder().join("made").exists());
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claude_that_does_not_use_our_settings_is_not_given_work() {
    let drops = r#"args=(); for arg; do [ "$skip" ] && { skip=; continue; }; [ "$arg" = --settings ] && { skip=1; continue; }
                   args+=("$arg"); done; exec "$0" "${args[@]}""#;
    let replaces = r#"exec "$0" "${@/\"disableAllHooks\":false/\"disableAllHooks\":true}""#;
    let invalid = r#"exec "$0" "${@/\"disableAllHooks\":false/\"disableAllHooks\":\"x\"}""#;
    for (script, part) in [
        (drops, "disableAllHooks is not set"),
        (replaces, "disableAllHooks is true"),
        (invalid, "rejects programmator's settings: disableAllHooks"),
    ] {
        let place = Arc::new(RealCli::new([]));
        let command = ["bash", "-c", script, &claude()].map(str::to_owned).into();
        let error = Run::open_as(place, Options::default(), command).await.map(|_| ()).unwrap_err();
        assert!(matches!(error, AgentError::Settings { .. }) && error.to_string().contains(part), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_settings_file_of_the_persons_that_claude_ignores_is_named() {
    let place = Arc::new(RealCli::new([]));
    std::fs::create_dir(place.home.path().join(".claude")).unwrap();
    std::fs::write(place.home.path().join(".claude/settings.json"), r#"{"permissions": "x"}"#).unwrap();
    let options = Options { setting_sources: vec!["user".into()], ..Options::default() };
    let error = Run::open(place, options).await.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains(".claude/settings.json: permissions: ") && error.contains("Fix that file"), "{error}");
}
