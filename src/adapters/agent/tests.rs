//! The adapter against small shell scripts that speak as much of the protocol as each test needs.
//! What the real CLI does with it is held by `tests/real_claude`.

use super::launch::{Additions, environment};
use super::*;
use crate::domain::scrollback::EntryKind;
use std::io;
use std::sync::Mutex;
use tokio::time::timeout;

mod long_lines;

/// Answers `initialize`, and `get_settings` like a version that has none, then resumes what is added.
const POLITE: &str = r#"read -r line; read -r line
echo '{"type":"control_response","response":{"subtype":"success","request_id":"initialize","response":{}}}'
echo '{"type":"control_response","response":{"subtype":"error","request_id":"settings","error":"Unsupported control request subtype: get_settings"}}'
"#;

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_000)
    }
}

type Lines = Arc<Mutex<Vec<(String, Option<EntryKind>)>>>;

#[derive(Default)]
struct Memory {
    lines: Lines,
    full_after: Option<usize>,
}

impl Sink for Memory {
    fn line(&mut self, line: &[u8], kind: Option<EntryKind>) -> io::Result<()> {
        let mut lines = self.lines.lock().unwrap();
        if self.full_after == Some(lines.len()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        lines.push((String::from_utf8_lossy(line).into_owned(), kind));
        Ok(())
    }

    fn live(&mut self, _: crate::domain::scrollback::LiveChange<'_>) {}

    fn burst_ended(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn launch(script: &str) -> Launch {
    let marker = format!("test-{}", uuid::Uuid::new_v4());
    let additions = Additions { marker: marker.clone(), ..Additions::default() };
    Launch {
        command: ["/bin/sh", "-c", script, "claude"].map(str::to_owned).into(),
        env: environment(std::env::vars_os(), &additions),
        folder: std::env::temp_dir(),
        marker,
        patience: Some(Duration::from_secs(5)),
        ..Launch::default()
    }
}

async fn spawn_into(launch: Launch, sink: Memory) -> Result<(Agent, mpsc::Receiver<AgentEvent>), AgentError> {
    let (sender, events) = mpsc::channel(8);
    let agent = Agent::spawn(launch, Arc::new(Still), Box::new(sink), sender).await?;
    Ok((agent, events))
}

async fn spawn(script: &str) -> Result<(Agent, mpsc::Receiver<AgentEvent>), AgentError> {
    spawn_into(launch(script), Memory::default()).await
}

async fn rest(events: &mut mpsc::Receiver<AgentEvent>) -> Vec<AgentEvent> {
    let mut seen = Vec::new();
    loop {
        let event = timeout(Duration::from_secs(30), events.recv()).await;
        let event = event.unwrap_or_else(|_| panic!("no more came after {seen:#?}"));
        let Some(event) = event else { return seen };
        seen.push(event);
        if matches!(seen.last(), Some(AgentEvent::Exited(_))) {
            return seen;
        }
    }
}

fn exit(seen: &[AgentEvent]) -> &Exit {
    match seen.last() {
        Some(AgentEvent::Exited(exit)) => exit,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_missing_program_names_the_path_and_the_cure() {
    let mut launch = launch("");
    launch.command = vec!["no-such-claude".into()];
    launch.env.retain(|(key, _)| key != "PATH");
    launch.env.push(("PATH".into(), "/nowhere/bin".into()));
    let told = spawn_into(launch, Memory::default()).await.map(|_| ()).unwrap_err().to_string();
    for part in ["no-such-claude", "/nowhere/bin", "npm install", "PROGRAMMATOR_CLAUDE"] {
        assert!(told.contains(part), "{told}");
    }
}

#[tokio::test]
async fn a_missing_folder_is_not_a_missing_program() {
    let mut launch = launch("");
    launch.folder = "/nowhere/at/all".into();
    let error = spawn_into(launch, Memory::default()).await.map(|_| ()).unwrap_err();
    assert!(matches!(error, AgentError::NoFolder(_)), "{error}");
}

#[tokio::test]
async fn who_ends_before_answering_is_quoted() {
    let cases = [
        ("echo 'bad flag: --x' >&2; exit 1", "exit code 1", "bad flag: --x"),
        ("exec no-such-interpreter", "exit code 127", "not found"),
        ("kill -9 $$", "signal 9", ""),
        ("exec 1>&-; read -r a; read -r b", "", ""),
    ];
    for (script, how, words) in cases {
        let error = spawn(script).await.map(|_| ()).unwrap_err();
        let told = error.to_string();
        assert!(matches!(error, AgentError::EndedEarly { .. }), "{script}: {told}");
        assert!(told.contains(how) && told.contains(words), "{script}: {told}");
    }
}

#[tokio::test]
async fn who_never_answers_does_not_speak_the_protocol() {
    let scripts = [
        "while read -r line; do :; done",
        "trap '' TERM; while :; do sleep 1; done",
        r#"read -r l; echo '{"type":"control_response","response":{"subtype":"error","request_id":"initialize","error":"what?"}}'; read -r l"#,
    ];
    for answer in futures_util::future::join_all(scripts.map(spawn)).await {
        let error = answer.map(|_| ()).unwrap_err();
        assert!(matches!(error, AgentError::NoProtocol { .. }), "{error}");
        assert!(error.to_string().contains("npm install"), "{error}");
    }
}

#[tokio::test]
async fn who_does_not_use_the_settings_it_was_given_is_stopped_before_the_first_message() {
    let script = r#"read -r line; read -r line
echo '{"type":"control_response","response":{"subtype":"success","request_id":"settings","response":{"effective":{}}}}'
echo '{"type":"control_response","response":{"subtype":"success","request_id":"initialize","response":{}}}'
read -r line"#;
    let error = spawn(script).await.map(|_| ()).unwrap_err();
    assert!(matches!(error, AgentError::Settings { .. }), "{error}");
    assert!(error.to_string().contains("disableAllHooks is not set"), "{error}");
}

#[tokio::test]
async fn settings_are_not_stored() {
    let script = r#"read -r line; read -r line
echo '{"type":"control_response","response":{"subtype":"success","request_id":"initialize","response":{"pid":1}}}'
echo '{"type":"control_response","response":{"subtype":"success","request_id":"settings","response":{"errors":[{"message":"SECRET"}]}}}'
read -r line"#;
    let sink = Memory::default();
    let lines = Arc::clone(&sink.lines);
    let error = spawn_into(launch(script), sink).await.map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("SECRET"), "{error}");
    let lines = lines.lock().unwrap();
    assert!(lines.len() == 1 && lines[0].0.contains("pid"), "{lines:?}");
}

#[tokio::test]
async fn every_end_is_told_once_with_its_code_or_signal() {
    for (end, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 1", Some(1), None),
        ("exit 130", Some(130), None),
        ("kill -TERM $$", None, Some(15)),
        ("kill -KILL $$", None, Some(9)),
    ] {
        let (_agent, mut events) = spawn(&format!("{POLITE} echo why >&2; {end}")).await.unwrap();
        let seen = rest(&mut events).await;
        let exit = exit(&seen);
        assert_eq!((exit.code, exit.signal), (code, signal), "{end}");
        assert_eq!(exit.stderr_tail, "why\n", "{end}");
        assert!(timeout(Duration::from_secs(9), events.recv()).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn records_after_the_result_garbage_and_a_cut_line_are_kept() {
    let script = format!(
        r#"{POLITE}
echo 'npm warn deprecated'
echo '{{"type":"result","subtype":"success","is_error":false,"result":"r"}}'
echo '{{"type":"system","subtype":"task_notification"}}'
printf '{{"type":"result","subtype":"succ'"#
    );
    let sink = Memory::default();
    let lines = Arc::clone(&sink.lines);
    let (_agent, mut events) = spawn_into(launch(&script), sink).await.unwrap();
    let seen = rest(&mut events).await;
    let results = seen.iter().filter(|e| matches!(e, AgentEvent::TurnFinished(_))).count();
    assert_eq!(results, 1, "{seen:#?}");
    let kinds: Vec<_> = lines.lock().unwrap().iter().map(|(_, kind)| *kind).collect();
    assert_eq!(
        kinds,
        [None, Some(EntryKind::Garbage), Some(EntryKind::Result), Some(EntryKind::System), Some(EntryKind::Garbage)]
    );
}

#[tokio::test]
async fn unknown_requests_are_refused_and_unreadable_tools_denied() {
    let script = format!(
        r#"{POLITE}
echo '{{"type":"control_request","request_id":"r1","request":{{"subtype":"mcp_message"}}}}'
read -r line; echo "$line" >&2
echo '{{"type":"control_request","request_id":"r2","request":{{"subtype":"can_use_tool"}}}}'
read -r line; echo "$line" >&2"#
    );
    let (_agent, mut events) = spawn(&script).await.unwrap();
    let seen = rest(&mut events).await;
    let told = &exit(&seen).stderr_tail;
    assert!(told.contains("Unsupported control request subtype: mcp_message"), "{told}");
    assert!(told.contains(r#""behavior":"deny""#), "{told}");
    assert!(!seen.iter().any(|e| matches!(e, AgentEvent::ToolAsked(_))));
}

#[tokio::test]
async fn neither_a_flood_nor_a_slow_owner_stops_the_drain() {
    // Far more than any pipe holds, both ways at once, while nobody takes events.
    let script = format!(
        r#"{POLITE}
i=0; while [ $i -lt 40 ]; do
echo '{{"type":"user","isReplay":true,"uuid":"u"}}'
head -c 200000 /dev/zero | tr '\0' 'x'; echo
i=$((i+1)); done
cat | wc -c >&2"#
    );
    let (agent, mut events) = spawn(&script).await.unwrap();
    agent.send_user("u-1", &"y".repeat(10 << 20)).await.unwrap();
    agent.close_input().await;
    let exit_seen = timeout(Duration::from_secs(30), agent.exited()).await.unwrap();
    let seen = rest(&mut events).await;
    assert_eq!(exit(&seen), &exit_seen);
    let echoes = seen.iter().filter(|e| matches!(e, AgentEvent::Echoed { .. })).count();
    assert_eq!(echoes, 40);
    let taken: usize = exit_seen.stderr_tail.trim().parse().unwrap();
    assert!(taken > 10 << 20, "{taken}");
}

#[tokio::test]
async fn writing_to_one_who_does_not_read_is_an_error_and_no_panic() {
    let (agent, mut events) = spawn(&format!("{POLITE} exec 0<&-; sleep 0.2")).await.unwrap();
    // The first may still be taken by the channel; the pipe is broken all the same.
    agent.send_user("u", &"x".repeat(1 << 20)).await.ok();
    rest(&mut events).await;
    let error = agent.interrupt().await.unwrap_err();
    assert!(matches!(error, AgentError::Gone), "{error}");
    assert_eq!(agent.stop(&stop::Ladder::DEFAULT).await.code, Some(0));
}

#[tokio::test]
async fn a_full_disk_is_told_once_and_the_stream_goes_on() {
    let script = format!(
        r#"{POLITE}
echo one; echo two; echo three
echo '{{"type":"result","subtype":"success","is_error":false,"result":"r"}}'"#
    );
    let sink = Memory { full_after: Some(1), ..Memory::default() };
    let (_agent, mut events) = spawn_into(launch(&script), sink).await.unwrap();
    let seen = rest(&mut events).await;
    let failed = seen.iter().filter(|e| matches!(e, AgentEvent::SinkFailed { .. })).count();
    assert_eq!(failed, 1, "{seen:#?}");
    assert!(seen.iter().any(|e| matches!(e, AgentEvent::TurnFinished(_))));
}

#[tokio::test]
async fn one_who_clears_his_environment_and_holds_the_output_does_not_hold_us() {
    let script = format!("{POLITE} env -i setsid sleep 20 & exit 0");
    let (_agent, mut events) = spawn(&script).await.unwrap();
    let seen = timeout(Duration::from_secs(15), rest(&mut events)).await.unwrap();
    assert_eq!(exit(&seen).code, Some(0));
}

#[tokio::test]
async fn last_byte_comes_from_the_clock() {
    let (agent, _events) = spawn(&format!("{POLITE} read -r line")).await.unwrap();
    assert_eq!(agent.last_byte(), Timestamp::from_millis(1_000));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn it_is_interrupted_when_the_starting_thread_ends_and_leads_a_group() {
    let (agent, _events) = spawn(&format!("{POLITE} read -r line")).await.unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", agent.pid())).unwrap();
    let group = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(2).unwrap();
    assert_eq!(group, agent.pid().to_string());
}

/// Answers one request with `answer`, the inside of its `response`.
fn answering(answer: &str) -> String {
    format!(
        r#"{POLITE}read -r line
id=$(printf %s "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
echo "{{\"type\":\"control_response\",\"response\":{{\"request_id\":\"$id\",{}}}}}"
cat > /dev/null
"#,
        answer.replace('"', "\\\"")
    )
}

#[tokio::test]
async fn the_plan_is_asked_for_and_none_is_made_up() {
    for (answer, plan) in [
        (r#""subtype":"success","response":{"exists":true,"content":"First this","path":"/p.md"}"#, Some("First this")),
        (r#""subtype":"success","response":{"exists":false}"#, None),
        (r#""subtype":"error","error":"Unsupported control request subtype: get_plan""#, None),
    ] {
        let (agent, _events) = spawn(&answering(answer)).await.unwrap();
        assert_eq!(agent.plan().await.as_deref(), plan, "{answer}");
        agent.stop(&stop::Ladder::KILL).await;
    }
}

#[tokio::test]
async fn who_began_a_turn_and_what_is_left_in_the_background_are_told() {
    let script = format!(
        "{POLITE}read -r line\n{}",
        r#"uuid=$(printf %s "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
echo "{\"type\":\"command_lifecycle\",\"command_uuid\":\"$uuid\",\"state\":\"started\"}"
echo '{"type":"result","subtype":"success"}'
echo '{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a1","task_type":"local_agent","description":"a part"}]}'
echo '{"type":"command_lifecycle","command_uuid":"of-somebody","state":"started","wakeup_source":"loop_wakeup"}'
echo '{"type":"result","subtype":"success"}'
echo '{"type":"system","subtype":"background_tasks_changed","tasks":[]}'
"#
    );
    let (agent, mut events) = spawn(&script).await.unwrap();
    agent.send_user("ours", "go").await.unwrap();
    let told: Vec<String> = rest(&mut events)
        .await
        .iter()
        .filter_map(|event| match event {
            AgentEvent::TurnFinished(result) => Some(format!("{:?}", result.origin)),
            AgentEvent::BackgroundChanged { tasks } => Some(format!("{} in the background", tasks.len())),
            AgentEvent::ForeignTurn { wakes } => Some(format!("foreign, wakes: {wakes}")),
            _ => None,
        })
        .collect();
    let expected = ["Ours", "1 in the background", "foreign, wakes: true", "Foreign", "0 in the background"];
    assert_eq!(told, expected);
}
