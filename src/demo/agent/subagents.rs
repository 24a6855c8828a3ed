//! Subagents: in the foreground inside their call, or in the background, where the turn goes on at once, the subagent
//! works when it is over, and its end is a turn of its own. And turns at somebody else's word.

use super::gate::Call;
use super::line;
use super::records::Within;
use super::scenario::Foreign;
use super::session::{Session, Task};
use super::tally::End;
use super::tools::Outcome;
use serde_json::{Value, json};
use std::time::Instant;

impl Session {
    /// The call of a subagent that was let run, to its end or into the background.
    pub(super) fn subagent(&mut self, call: &Call, input: &Value) -> Result<Outcome, End> {
        let Some(script) = self.scripts.remove(&call.id) else { return Ok(Outcome::error("no such subagent")) };
        let newer = self.host.dialect().is_newer();
        let background = input["run_in_background"].as_bool().unwrap_or(newer);
        let id = &line::uuid().replace('-', "")[..16];
        let within = Within {
            call: call.id.clone(),
            agent: format!("a{id}"),
            about: script.description.clone(),
            background,
            newer,
        };
        let task = Task { script, within, run: format!("0m{}-{}", &id[..7], &id[8..]), begun: Instant::now() };
        if background {
            self.list_background(&[&task]);
        }
        let mut fields = json!({"tool_use_id": call.id, "description": task.script.description,
                                "subagent_type": "general-purpose", "task_type": "local_agent", "prompt": task.script.prompt});
        if newer {
            fields["is_backgrounded"] = json!(background);
            fields["spawn_depth"] = json!(1);
        }
        self.tell_task("task_started", &task, &fields);
        if background {
            let outcome = launched(&task, &self.host.model);
            self.background.push_back(task);
            return Ok(outcome);
        }
        let said = self.work_as(&task)?;
        Ok(came_back(&task, &said, &self.host.model))
    }

    /// Lets what works in the background work, one after another, each with the turn that its end gives to Claude.
    pub(super) fn serve_background(&mut self) {
        while let Some(task) = self.background.pop_front() {
            self.host.begin_turn();
            let done = self.work_as(&task);
            self.host.end_turn();
            if self.host.dialect().is_newer() {
                self.list_background(&self.background.iter().collect::<Vec<_>>());
            }
            if done.is_ok() {
                let mut origin = json!({"kind": "task-notification"});
                if self.host.dialect().is_newer() {
                    origin["producer"] = json!("session-task");
                    origin["runId"] = json!(task.run);
                }
                self.turn(&task.script.then, Some(origin));
            }
        }
    }

    /// A turn that somebody else began.
    pub(super) fn foreign(&mut self, foreign: &Foreign) {
        let uuid = json!(line::uuid());
        let mut started = json!({"type": "command_lifecycle", "command_uuid": uuid, "state": "started",
                                 "uuid": line::uuid(), "session_id": self.book.session()});
        if foreign.wakes {
            started["wakeup_source"] = json!("schedule_wakeup");
        }
        self.host.emit(&started);
        let origin = (!foreign.wakes).then(|| json!({"kind": "peer", "body": "words", "name": "proj-48"}));
        self.turn(&foreign.steps, origin);
        self.host.follow(&uuid, "completed");
    }

    /// Its steps, told as its own; its last words.
    fn work_as(&mut self, task: &Task) -> Result<String, End> {
        let main = std::mem::take(&mut self.book.tally().last_text);
        self.book.within = Some(task.within.clone());
        if !task.within.background {
            let prompt = json!([{"type": "text", "text": task.script.prompt}]);
            self.host.emit(&self.book.user(&prompt));
        }
        let done = task.script.steps.iter().try_for_each(|step| self.perform(step));
        self.close_message("end_turn");
        self.book.within = None;
        let said = std::mem::replace(&mut self.book.tally().last_text, main);
        let (patch, status) = if done.is_ok() { ("completed", "completed") } else { ("killed", "stopped") };
        let end = json!({"patch": {"status": patch, "end_time": line::now()}});
        self.tell_task("task_updated", task, &end);
        let mut fields = json!({"tool_use_id": task.within.call, "status": status, "output_file": "", "summary": said});
        if task.within.newer && task.within.background {
            fields["summary_is_report"] = json!(true);
        }
        if done.is_ok() {
            fields["usage"] = json!({"total_tokens": 120, "tool_uses": 1,
                                     "duration_ms": task.begun.elapsed().as_millis() as u64});
        }
        self.tell_task("task_notification", task, &fields);
        done.map(|()| said)
    }

    fn tell_task(&self, subtype: &str, task: &Task, fields: &Value) {
        let mut record = json!({"task_id": task.within.agent});
        if self.host.dialect().is_newer() {
            record["run_id"] = json!(task.run);
        }
        super::dialect::extend(&mut record, fields);
        self.host.emit(&self.book.system(subtype, record));
    }

    fn list_background(&self, tasks: &[&Task]) {
        if !self.host.dialect().is_newer() {
            return;
        }
        let list: Vec<Value> = tasks
            .iter()
            .map(|task| {
                json!({"task_id": task.within.agent, "run_id": task.run, "task_type": "local_agent",
                       "subagent_type": "general-purpose", "description": task.within.about})
            })
            .collect();
        self.host.emit(&self.book.system("background_tasks_changed", json!({"tasks": list})));
    }
}

/// What the call of a subagent in the background brings back.
fn launched(task: &Task, model: &str) -> Outcome {
    let Within { agent, about, newer, .. } = &task.within;
    let mut result = json!({"isAsync": true, "status": "async_launched", "agentId": agent, "description": about,
                            "resolvedModel": model, "prompt": task.script.prompt, "outputFile": "/tmp/none.output",
                            "canReadOutputFile": true});
    if *newer {
        result["canContinueAgent"] = json!(true);
    }
    Outcome { content: format!("Async agent launched successfully.\nagentId: {agent}"), is_error: None, result }
}

/// What the call of a subagent in the foreground brings back.
fn came_back(task: &Task, said: &str, model: &str) -> Outcome {
    let took = task.begun.elapsed().as_millis() as u64;
    let mut usage = super::tally::usage(100, 20);
    let mut result = json!({"status": "completed", "prompt": task.script.prompt, "agentId": task.within.agent,
        "agentType": "general-purpose", "content": [{"type": "text", "text": said}], "resolvedModel": model,
        "totalDurationMs": took, "totalTokens": 120, "totalToolUseCount": 1,
        "toolStats": {"readCount": 0, "searchCount": 0, "bashCount": 1, "editFileCount": 0, "linesAdded": 0,
                      "linesRemoved": 0, "otherToolCount": 0}});
    if task.within.newer {
        let more = json!({"fallback_credit": null, "output_tokens_details": {"thinking_tokens": 0}});
        super::dialect::extend(&mut usage, &more);
        let more = json!({"toolsUsed": ["Bash"], "harnessNoteCount": 0, "harnessTailCount": 0,
                          "harnessSectionHash": "0", "canContinueAgent": true});
        super::dialect::extend(&mut result, &more);
    }
    result["usage"] = usage;
    Outcome { content: said.to_owned(), is_error: None, result }
}
