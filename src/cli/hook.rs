//! `programmator hook`: what Claude runs before each tool call of a session that the person has opened from the screen.
//! Claude writes the call to stdin, and reads the decision from stdout.
//!
//! Whatever goes wrong, the decision is "ask": Claude asks the person, who sits in front of it.

use super::error::CliError;
use crate::adapters::hook_socket::ask;
use crate::adapters::local_socket::QUESTION;
use crate::base::text::clean_line;
use clap::Args;
use serde_json::{Value, json};
use std::io::{Read, Write, stdin};
use std::path::PathBuf;
use tokio::task::spawn_blocking;

/// Where the gate is.
#[derive(Debug, Args)]
pub struct Hook {
    /// The socket that it listens on.
    #[arg(long, value_name = "FILE")]
    pub socket: PathBuf,
    /// The process that has opened the socket.
    #[arg(long, value_name = "PID")]
    pub program: u32,
}

/// Prints one JSON document, and nothing else. The exit code is always 0: at any other but 2 Claude would go on by its
/// own rules.
pub async fn run(out: &mut dyn Write, wanted: &Hook) -> Result<u8, CliError> {
    let question = spawn_blocking(|| {
        let mut question = Vec::new();
        stdin().lock().take(QUESTION + 1).read_to_end(&mut question).map(|_| question)
    });
    let question = question.await.ok().and_then(Result::ok).unwrap_or_default();
    let is_start =
        serde_json::from_slice::<Value>(&question).is_ok_and(|question| question["hook_event_name"] == "SessionStart");
    let answer = if question.len() as u64 > QUESTION {
        Err("the call is too long".to_owned())
    } else {
        ask(&wanted.socket, wanted.program, &question).await
    };
    let answer = answer.and_then(|answer| match serde_json::from_str::<Value>(&answer) {
        Ok(Value::Object(answer)) => Ok(Value::Object(answer)),
        _ => Err("the gate's answer cannot be read".to_owned()),
    });
    let printed = match answer {
        Ok(answer) => answer,
        Err(_) if is_start => json!({}),
        Err(why) => {
            let reason = format!("programmator: {}; decide yourself", clean_line(&why, 300));
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": reason,
            }})
        }
    };
    writeln!(out, "{printed}")?;
    Ok(0)
}
