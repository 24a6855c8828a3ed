//! The agent without `-p`, as a person drives it: each line that they type is a Bash call, which the command hooks of its
//! settings decide about first, else the person; a rule that asks about every call asks behind the hooks, too.

use super::settings::Settings;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Reads lines until `exit`.
pub fn drive(session: &str, settings: &Settings, cwd: &Path) -> io::Result<ExitCode> {
    let (mut lines, mut out) = (io::stdin().lock().lines(), io::stdout());
    hooked(settings, "SessionStart", &json!({"session_id": session, "cwd": cwd, "source": "resume"}));
    writeln!(out, "Claude Code, scripted: session {session}")?;
    for n in 1.. {
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = lines.next().transpose()?.filter(|line| line.trim() != "exit") else { break };
        let call = json!({
            "session_id": session, "cwd": cwd, "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": line}, "tool_use_id": format!("toolu_driven_{n}"),
        });
        let output = hooked(settings, "PreToolUse", &call);
        let reason = output["permissionDecisionReason"].as_str().unwrap_or_default();
        match output["permissionDecision"].as_str() {
            Some("deny") => {
                writeln!(out, "denied: {reason}")?;
                continue;
            }
            Some("allow") if !settings.asks("Bash") => {}
            _ => {
                writeln!(out, "{reason}\nDo you want to run this command? (y/n)")?;
                if lines.next().transpose()?.as_deref() != Some("y") {
                    writeln!(out, "not run")?;
                    continue;
                }
            }
        }
        let status = Command::new("/bin/bash").args(["-c", &line]).current_dir(cwd).stdin(Stdio::null()).status()?;
        writeln!(out, "ran {line}: {status}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the hooks for an event say, the last that says something; nothing where they fail.
fn hooked(settings: &Settings, event: &str, question: &Value) -> Value {
    let mut question = question.clone();
    question["hook_event_name"] = event.into();
    let mut said = Value::Null;
    for command in settings.hooks(event) {
        let child = Command::new("/bin/sh").args(["-c", &command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else { continue };
        if let Some(mut stdin) = child.stdin.take() {
            // One that reads nothing has ended.
            let _ = stdin.write_all(question.to_string().as_bytes());
        }
        let Ok(output) = child.wait_with_output() else { continue };
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if output.status.success() && !printed["hookSpecificOutput"].is_null() {
            said = printed["hookSpecificOutput"].clone();
        }
    }
    said
}
