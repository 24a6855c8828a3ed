//! Interrupts, the stop ladder, and what is left behind: nothing.

use crate::agent_run::{Run, id};
use crate::messages_stub::Reply;
use programmator::adapters::agent::stop::Ladder;
use programmator::adapters::agent::{AgentEvent, orphans};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits until a tool has made the file.
async fn exists(path: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < until, "{} was not made", path.display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_turn_and_the_process_goes_on() {
    let mut run =
        Run::start([Reply::text(&"word ".repeat(10_000)).slowly(5, Duration::from_millis(10)), Reply::text("again")])
            .await;
    run.place.stub.wait_for(1);
    run.wait("init", |event| matches!(event, AgentEvent::Ready { .. }).then_some(())).await;
    run.agent.interrupt().await.unwrap();
    let result = run.result().await;
    assert!(result.is_error);
    assert_eq!(result.subtype, "error_during_execution");
    run.agent.send_user("8c7e2a64-3f0b-4f57-9a4e-52b2a3a4f001", "go on").await.unwrap();
    assert_eq!(run.result().await.text, "again");
    assert_eq!(run.finish().await.code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_an_interrupt_makes_needless_is_cancelled() {
    let mut run = Run::start([Reply::tool("Bash", json!({"command": "touch never"}))]).await;
    let tool = run.asked().await;
    run.agent
        .answer_callback(&tool.request.id, &programmator::adapters::agent::CallbackAnswer::Ask { reason: "r".into() })
        .await
        .unwrap();
    let second = run.asked().await;
    run.agent.interrupt().await.unwrap();
    run.wait("the cancellation", |event| {
        let cancelled = AgentEvent::AskCancelled { request_id: second.request.id.clone() };
        (*event == cancelled).then_some(())
    })
    .await;
    assert!(run.result().await.is_error);
    run.finish().await;
    assert!(!run.place.folder().join("never").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ladder_leaves_nobody_behind() {
    let command = "setsid sh -c 'trap \"\" TERM INT HUP; touch grandchild; while :; do sleep 1; done' & \
                   trap '' TERM INT; touch child; while :; do sleep 1; done";
    let mut run = Run::start([Reply::tool("Bash", json!({"command": command}))]).await;
    run.allow_next().await;
    exists(&run.place.folder().join("child")).await;
    exists(&run.place.folder().join("grandchild")).await;

    let begun = Instant::now();
    let exit = run.agent.stop(&Ladder::DEFAULT).await;
    assert!(begun.elapsed() < Duration::from_secs(14), "{:?}", begun.elapsed());
    assert_eq!(exit, run.exit().await);
    assert_eq!(orphans::sweep(&[run.marker.clone()]), 0, "somebody survived");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_queued_when_claude_is_stopped_never_has_its_turn() {
    let command = json!({"command": "touch running; tail -s 600 -f /dev/null"});
    let mut run = Run::start([Reply::tool("Bash", command), Reply::text("it had its turn")]).await;
    run.allow_next().await;
    exists(&run.place.folder().join("running")).await;
    run.agent.send_user(&id(), "QUEUED WORDS").await.unwrap();
    let exit = run.agent.stop(&Ladder::DEFAULT).await;
    assert_eq!((exit.signal, run.place.stub.requests().len()), (None, 1), "{exit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_the_background_does_not_hold_up_a_stop() {
    let command = json!({"command": "touch running; tail -s 600 -f /dev/null", "run_in_background": true});
    let mut run = Run::start([Reply::tool("Bash", command), Reply::text("it runs")]).await;
    run.allow_next().await;
    run.result().await;
    exists(&run.place.folder().join("running")).await;
    let exit = run.agent.stop(&Ladder { close: Duration::from_secs(20), ..Ladder::DEFAULT }).await;
    assert_eq!(exit.signal, None, "it ended by itself: {exit:?}");
    assert_eq!(orphans::sweep(&[run.marker.clone()]), 0, "somebody survived");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_outlives_a_normal_end_is_swept_too() {
    let mut run = Run::start([
        Reply::tool("Bash", json!({"command": "nohup setsid sleep 600 > /dev/null 2>&1 & echo started"})),
        Reply::text("done"),
    ])
    .await;
    run.allow_next().await;
    run.result().await;
    let exit = run.finish().await;
    assert_eq!(exit.code, Some(0));
    assert!(exit.swept >= 1, "{exit:?}");
    assert_eq!(orphans::sweep(&[run.marker.clone()]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claude_that_waits_for_the_service_is_stopped() {
    let mut run = Run::start([Reply::hang()]).await;
    run.place.stub.wait_for(1);
    let exit = run.agent.stop(&Ladder::DEFAULT).await;
    assert_eq!(exit.swept, 0);
    assert_eq!(exit, run.exit().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_agent_ends_everything() {
    let mut run = Run::start([Reply::tool("Bash", json!({"command": "touch running; sleep 600"}))]).await;
    run.allow_next().await;
    exists(&run.place.folder().join("running")).await;
    let marker = run.marker.clone();
    let exit = run.abandon().await;
    assert_eq!(exit.signal, Some(9), "{exit:?}");
    assert!(exit.swept >= 1, "{exit:?}");
    assert_eq!(orphans::sweep(&[marker]), 0, "somebody survived");
}
