//! A small host for the tests: starts the scripted agent as a child process and talks to it over stdio.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The flags that programmator uses.
pub const FLAGS: &[&str] = &[
    "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-mode",
    "default", "--permission-prompt-tool", "stdio", "--setting-sources", "", "--strict-mcp-config",
];

/// The agent as a child process.
pub struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
}

/// How the process ended.
#[derive(Debug)]
pub struct Exit {
    /// The exit code; `None`: by a signal.
    pub code: Option<i32>,
    /// Records printed since the last look.
    pub rest: Vec<Value>,
    pub stderr: String,
}

impl Agent {
    /// Starts it in `folder` with `flags`; sessions and scenario lie in `folder` too.
    pub fn start(folder: &Path, scenario: &str, flags: &[&str]) -> Self {
        let file = folder.join("scenario.yaml");
        std::fs::write(&file, scenario).unwrap();
        let own = ["--scenario", file.to_str().unwrap(), "--pace", "0"];
        Self::start_with(folder, &[&own, flags].concat())
    }

    /// Starts it in `folder` with exactly `flags` and `--state`.
    pub fn start_with(folder: &Path, flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_programmator"))
            .arg("scripted-agent")
            .args(["--state", folder.join(".state").to_str().unwrap()])
            .args(flags)
            .current_dir(folder)
            .env_remove("CLAUDE_CONFIG_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                if stdout.read_until(b'\n', &mut line).unwrap_or(0) == 0 || sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines }
    }

    pub fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{message}").unwrap();
    }

    /// Sends a message of the person.
    pub fn prompt(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null,
                          "session_id": ""}));
    }

    /// Registers the `PreToolUse` callback and waits for the answer.
    pub fn initialize(&mut self) {
        self.send(&json!({"type": "control_request", "request_id": "init-1", "request": {"subtype": "initialize",
            "hooks": {"PreToolUse": [{"matcher": null, "hookCallbackIds": ["pre"], "timeout": 86400}]}}}));
        assert_eq!(self.next()["response"]["request_id"], "init-1");
    }

    /// Answers the control request `asked` with `answer`.
    pub fn answer(&mut self, asked: &Value, answer: &Value) {
        self.send(&json!({"type": "control_response", "response": {"subtype": "success",
                          "request_id": asked["request_id"], "response": answer}}));
    }

    /// Answers a hook callback with a decision.
    pub fn decide(&mut self, asked: &Value, decision: &str) {
        assert_eq!(asked["request"]["subtype"], "hook_callback", "{asked}");
        self.answer(
            asked,
            &json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
                    "permissionDecisionReason": "because"}}),
        );
    }

    /// The next line's bytes, with the newline if it has one; `None` at the end.
    pub fn next_bytes(&mut self) -> Option<Vec<u8>> {
        let begun = Instant::now();
        let line = self.lines.recv_timeout(PATIENCE).ok();
        assert!(begun.elapsed() < PATIENCE, "the agent says nothing");
        line
    }

    pub fn next(&mut self) -> Value {
        let line = self.next_bytes().expect("another record");
        serde_json::from_slice(&line).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&line)))
    }

    /// Records up to the first of `kind` (`type` or `type/subtype`), that one last. Callbacks are allowed.
    pub fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let record = self.next();
            let found = kind_of(&record).starts_with(kind);
            if !found && record["request"]["subtype"] == "hook_callback" {
                self.decide(&record, "allow");
            }
            seen.push(record);
            if found {
                return seen;
            }
        }
    }

    /// Sends `signal` (`INT`, `TERM`, …).
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([format!("-{signal}"), pid]).status().unwrap().success());
    }

    /// Closes stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Closes stdin and waits for the end.
    pub fn finish(mut self) -> Exit {
        self.close();
        let mut rest = Vec::new();
        while let Some(line) = self.next_bytes() {
            rest.extend(serde_json::from_slice(&line));
        }
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Exit { code: self.child.wait().unwrap().code(), rest, stderr }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `type/subtype`, with the inner subtype for control records and the event's type for partial ones.
pub fn kind_of(record: &Value) -> String {
    let inner =
        [&record["subtype"], &record["request"]["subtype"], &record["response"]["subtype"], &record["event"]["type"]];
    let subtype = inner.into_iter().find_map(Value::as_str).unwrap_or_default();
    format!("{}/{subtype}", record["type"].as_str().unwrap_or_default())
}
