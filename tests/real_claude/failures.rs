//! What goes wrong at the service, in the output and with sessions.

use crate::agent_run::{Run, id};
use crate::messages_stub::Reply;
use crate::real_cli::RealCli;
use programmator::adapters::agent::launch::Options;
use programmator::adapters::agent::stop::Ladder;
use programmator::adapters::agent::{AgentError, AgentEvent};
use programmator::domain::stream::api_error::fatal_api_error;
use serde_json::json;
use std::sync::Arc;

fn retry(event: &AgentEvent) -> Option<(Option<u16>, String)> {
    match event {
        AgentEvent::ApiRetried(retry) => {
            assert!(retry.attempt >= 1);
            Some((retry.status, retry.error.clone()))
        }
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_passes_and_the_turn_succeeds() {
    let mut run = Run::start([Reply::status(429).header("retry-after", "0"), Reply::text("through")]).await;
    assert_eq!(run.wait("a retry", retry).await, (Some(429), "rate_limit".into()));
    let result = run.result().await;
    assert_eq!((result.is_error, result.text.as_str()), (false, "through"));
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_is_fatal_from_the_first_retry() {
    let mut run = Run::start([Reply::status(401).forever()]).await;
    let (status, error) = run.wait("a retry", retry).await;
    assert_eq!((status, error.as_str()), (Some(401), "authentication_failed"));
    assert!(fatal_api_error(&error).unwrap().contains("/login"));
    let exit = run.agent.stop(&Ladder::DEFAULT).await;
    assert_eq!(exit, run.exit().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_model_and_an_empty_account_say_their_kind() {
    for (reply, kind) in
        [(Reply::status(404).forever(), "model_not_found"), (Reply::status(403).forever(), "authentication_failed")]
    {
        let mut run = Run::start([reply]).await;
        let result = run.result().await;
        assert!(result.is_error);
        assert_eq!(result.error_kind.as_deref(), Some(kind), "{result:?}");
        assert_eq!(result.text, "", "what the CLI says is not the model's text");
        assert!(!result.message.is_empty());
        run.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overloaded_service_is_tried_again() {
    let mut run = Run::start([Reply::status(529), Reply::dropped(), Reply::text("at last")]).await;
    assert_eq!(run.wait("a retry", retry).await.0, Some(529));
    assert_eq!(run.wait("a retry", retry).await.0, None);
    assert_eq!(run.result().await.text, "at last");
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_a_lost_attempt_are_taken_back() {
    let mut run = Run::start([
        Reply::dropped_in("LOST WORDS that never become a record").slowly(5, std::time::Duration::from_millis(50)),
        Reply::text("whole"),
    ])
    .await;
    let result = run.result().await;
    assert_eq!((result.is_error, result.text.as_str()), (false, "whole"));
    // 2.1.197 counts only the attempt that came through; later versions count the lost one, too.
    assert!([100, 200].contains(&result.usage.input), "{:?}", result.usage);
    let live = run.kept.0.lock().unwrap().live.clone();
    assert!(live.contains("LOST"), "{live}");
    assert!(live.ends_with('|'), "{live}");
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_output_of_bash_comes_through() {
    let mut run = Run::start([
        Reply::tool("Bash", json!({"command": "head -c 25000000 /dev/zero | tr '\\0' 'x'"})),
        Reply::text("that was much"),
    ])
    .await;
    run.allow_next().await;
    assert_eq!(run.result().await.text, "that was much");
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_an_emoji_in_the_result_costs_nothing() {
    let mut run = Run::start([Reply::text_json(r#""cut \ud83c here""#)]).await;
    let result = run.result().await;
    assert!(!result.is_error);
    assert_eq!(result.text, "cut \u{fffd} here");
    run.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_session_says_so() {
    let place = Arc::new(RealCli::new([Reply::text("never")]));
    let resume = Some(id());
    let options = Options { resume: resume.clone(), ..Options::default() };
    match Run::open(place, options).await.map(|_| ()) {
        Err(AgentError::UnknownSession { session }) => assert_eq!(Some(session), resume),
        other => panic!("{other:?}"),
    }
}
