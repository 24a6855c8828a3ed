//! Tool calls: printed, asked for, done, answered.

use super::gate::{self, Call, HookVerdict};
use super::host::Woke;
use super::line;
use super::scenario::Step;
use super::session::{LastCall, Session};
use super::shell;
use super::tally::End;
use super::tools::{self, Outcome};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A command that runs longer than this is reported as a task, though it is in the foreground.
const LONG: Duration = Duration::from_secs(3);
/// Before a file tool's result at pace 1, in milliseconds.
const TOOL_MS: u32 = 250;
/// What an interrupted command has to end by itself.
const GRACE: Duration = Duration::from_millis(1_500);

/// Whether the host is asked before a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    AsOrdered,
    /// As the host ordered, about all of them at once.
    AtOnce,
    /// Not at all: what a broken gate would look like.
    Never,
}

impl Session {
    /// The tool calls of one message, done one after another.
    pub(super) fn call_tools(&mut self, steps: &[Step], asking: Asking) -> Result<(), End> {
        let calls: Vec<Call> = steps.iter().filter_map(|step| self.call_of(step)).collect();
        if calls.is_empty() {
            return Ok(());
        }
        for call in &calls {
            let name = if call.name == "Agent" { self.host.dialect().agent_tool() } else { call.name };
            self.call_for(&call.id, name, &call.input)?;
        }
        self.close_message("tool_use");
        let mut at_once = match asking {
            Asking::AtOnce => gate::decide_all(&mut self.host, &self.book, &self.prompt_id, &calls).into_iter(),
            Asking::AsOrdered | Asking::Never => Vec::new().into_iter(),
        };
        for call in &calls {
            let verdict = match (asking, at_once.next()) {
                (Asking::Never, _) => HookVerdict::Allowed(call.input.clone(), gate::CONFIG),
                (_, Some(verdict)) => verdict,
                (_, None) => gate::decide(&mut self.host, &self.book, &self.prompt_id, call),
            };
            self.run_call(call, verdict)?;
        }
        self.take_in()
    }

    /// The call that `step` stands for; `None` when it is no tool or its work is done already.
    fn call_of(&mut self, step: &Step) -> Option<Call> {
        let id = format!("toolu_{}", &line::uuid().replace('-', "")[..24]);
        if let Step::Agent(script) = step {
            let input = json!({"description": script.description, "prompt": self.fill(&script.prompt),
                               "subagent_type": "general-purpose"});
            self.scripts.insert(id.clone(), script.clone());
            return Some(Call { id, name: "Agent", input });
        }
        let path = |path: &str| self.book.cwd().join(self.fill(path));
        let (name, input) = match step {
            Step::Write { path: file, content } => {
                ("Write", json!({"file_path": path(file), "content": self.fill(content)}))
            }
            Step::Edit { path: file, old, new, unless } => {
                let before = std::fs::read_to_string(path(file)).unwrap_or_default();
                if before.contains(unless.as_ref().unwrap_or(new)) {
                    return None;
                }
                ("Edit", json!({"replace_all": false, "file_path": path(file), "old_string": old, "new_string": new}))
            }
            Step::Read(file) => ("Read", json!({"file_path": path(file)})),
            Step::Ask(ask) => ("AskUserQuestion", ask.input()),
            Step::Plan(plan) => ("ExitPlanMode", json!({"plan": self.fill(plan)})),
            Step::Bash(command) => ("Bash", json!({"command": self.fill(command)})),
            _ => return None,
        };
        Some(Call { id, name, input })
    }

    fn run_call(&mut self, call: &Call, verdict: HookVerdict) -> Result<(), End> {
        self.last_call =
            if matches!(verdict, HookVerdict::Allowed(..)) { LastCall::Allowed } else { LastCall::Refused };
        let source;
        let outcome = match verdict {
            HookVerdict::Allowed(input, by) => {
                source = ("accept", by);
                let begun = Instant::now();
                let outcome = self.work(call, &input)?;
                self.report(call, &input, &outcome, begun.elapsed());
                outcome
            }
            HookVerdict::Denied(outcome, by) => {
                source = ("reject", by);
                self.deny(call);
                outcome
            }
            HookVerdict::Aborted => {
                self.deny(call);
                return self.reject(call);
            }
        };
        let mut record = self.book.tool_result(&call.id, &outcome);
        if call.name == "Agent" && outcome.is_error.is_none() {
            record["message"]["content"][0]["content"] = json!([{"type": "text", "text": outcome.content}]);
        }
        if self.host.dialect().is_newer() {
            let decision = json!({"decision": source.0, "source": source.1});
            record["tool_result_meta"] = json!([{"id": call.id, "permission_decision": decision}]);
        }
        self.host.emit(&record);
        Ok(())
    }

    fn work(&mut self, call: &Call, input: &Value) -> Result<Outcome, End> {
        if call.name == "Agent" {
            return self.subagent(call, input);
        }
        if call.name == "Bash" {
            return self.bash(call, input["command"].as_str().unwrap_or_default());
        }
        if self.pause(TOOL_MS).is_err() {
            self.reject(call)?;
        }
        let outcome = tools::run(call.name, input, self.book.cwd());
        if call.name == "AskUserQuestion" {
            self.answer = tools::answers(input).into_iter().map(|(_, answer)| answer).collect::<Vec<_>>().join(", ");
        }
        if matches!(call.name, "Write" | "Edit") && outcome.is_error.is_none() {
            let file = tools::touched(input, self.book.cwd()).map(|path| path.display().to_string());
            self.files.extend(file.filter(|file| !self.files.contains(file)));
        }
        Ok(outcome)
    }

    fn bash(&mut self, call: &Call, command: &str) -> Result<Outcome, End> {
        let cwd = self.book.cwd().to_owned();
        let running = match shell::start(&call.id, command, &cwd, self.book.session(), self.host.sender.clone()) {
            Ok(running) => running,
            Err(e) => return Ok(Outcome::error(&e.to_string())),
        };
        let task = format!("b{}", &line::uuid()[..8]);
        let mut long = Some(Instant::now() + LONG);
        loop {
            match self.host.wait(long) {
                Woke::ToolEnded(ended) if ended.call == call.id => {
                    if long.is_none() {
                        self.task(
                            "task_notification",
                            &task,
                            call,
                            &json!({"status": "completed", "output_file": "",
                            "summary": command}),
                        );
                    }
                    let file = self.memory.output(self.book.session(), &call.id);
                    return Ok(tools::ran(&ended, &file));
                }
                Woke::Aborted => {
                    running.signal(Signal::TERM);
                    self.host.begin_turn();
                    let ended = self.ends(call, GRACE);
                    // The command may be gone while its children still ignore TERM.
                    running.signal(Signal::KILL);
                    if !ended {
                        self.ends(call, GRACE);
                    }
                    self.reject(call)?;
                }
                Woke::TimedOut => {
                    long = None;
                    self.task("task_started", &task, call, &json!({"description": command, "task_type": "local_bash"}));
                }
                _ => {}
            }
        }
    }

    /// Waits for the end of `call`, for `patience` at most.
    fn ends(&mut self, call: &Call, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            match self.host.wait(Some(until)) {
                Woke::ToolEnded(ended) if ended.call == call.id => return true,
                Woke::TimedOut => return false,
                Woke::Aborted => self.host.begin_turn(),
                _ => {}
            }
        }
    }

    fn task(&self, subtype: &str, task: &str, call: &Call, fields: &Value) {
        let mut record = json!({"task_id": task, "tool_use_id": call.id});
        if let (Value::Object(record), Value::Object(fields)) = (&mut record, fields) {
            record.extend(fields.clone());
        }
        self.host.emit(&self.book.system(subtype, record));
    }

    fn report(&mut self, call: &Call, input: &Value, outcome: &Outcome, took: Duration) {
        if outcome.is_error != Some(true) {
            let fields = json!({"tool_name": call.name, "tool_input": input, "tool_response": outcome.result,
                                "tool_use_id": call.id, "duration_ms": took.as_millis() as u64});
            gate::tell(&mut self.host, &self.book, &self.prompt_id, "PostToolUse", call.name, &fields);
        }
    }

    fn deny(&mut self, call: &Call) {
        let denied = json!({"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input});
        self.book.tally().denials.push(denied);
    }

    /// Ends the turn at this call.
    fn reject<T>(&self, call: &Call) -> Result<T, End> {
        self.host.emit(&self.book.tool_result(&call.id, &Outcome::rejected()));
        Err(End::AbortedTools)
    }
}
