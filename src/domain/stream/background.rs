//! Which tasks of Claude's work in the background, followed record by record.
//!
//! From some version after 2.1.197 on, `background_tasks_changed` has the whole list each time. Before, what a call
//! brings back says that its work goes on in the background, and `task_notification` that it has ended.

use super::raw::{Raw, flag, object, some_string, string, word};
use crate::base::text::clean_line;
use crate::domain::background::{BackgroundTask, TaskKind};
use memchr::memmem;
use serde::Deserialize;
use std::collections::HashMap;

/// Longest description that is kept, in columns.
const WHAT: usize = 200;

/// Follows the tasks of one process.
#[derive(Debug, Default)]
pub struct Background {
    tasks: Vec<BackgroundTask>,
    /// Claude tells the whole list.
    lists: bool,
    /// What tasks that have begun are about; most of them work in the foreground.
    about: HashMap<String, String>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    tasks: Raw<'a>,
    task_id: Raw<'a>,
    description: Raw<'a>,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    task_id: Raw<'a>,
    task_type: Raw<'a>,
    description: Raw<'a>,
}

/// `tool_use_result` of a call whose work goes on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launched<'a> {
    #[serde(borrow)]
    is_async: Raw<'a>,
    agent_id: Raw<'a>,
    background_task_id: Raw<'a>,
}

impl Background {
    pub fn tasks(&self) -> &[BackgroundTask] {
        &self.tasks
    }

    /// A `system` record, whose whole line this is. `true`: the tasks are others now.
    pub fn system(&mut self, subtype: &str, line: &str) -> bool {
        let fields = || serde_json::from_str::<Fields<'_>>(line).ok();
        match subtype {
            "background_tasks_changed" => {
                let Some(listed) = fields().and_then(|fields| object::<Vec<Listed<'_>>>(fields.tasks)) else {
                    return false;
                };
                self.lists = true;
                let tasks = listed.iter().map(Listed::task).collect();
                let changed = self.tasks != tasks;
                self.tasks = tasks;
                changed
            }
            "task_started" if !self.lists => {
                if let Some(fields) = fields() {
                    self.about.insert(string(fields.task_id), about(fields.description));
                }
                false
            }
            "task_notification" if !self.lists => {
                let Some(id) = fields().map(|fields| string(fields.task_id)) else { return false };
                self.about.remove(&id);
                let before = self.tasks.len();
                self.tasks.retain(|task| task.id != id);
                self.tasks.len() < before
            }
            _ => false,
        }
    }

    /// What a call brought back (`tool_use_result`). `true`: the tasks are others now.
    pub fn came_back(&mut self, result: Raw<'_>) -> bool {
        if self.lists {
            return false;
        }
        // Most results say nothing of it, and some are large.
        let says = |word: &str| result.is_some_and(|raw| memmem::find(raw.get().as_bytes(), word.as_bytes()).is_some());
        if !says("isAsync") && !says("backgroundTaskId") {
            return false;
        }
        let Some(launched) = object::<Launched<'_>>(result) else { return false };
        let agent = some_string(launched.agent_id).filter(|_| flag(launched.is_async) == Some(true));
        let found = agent.map(|id| (id, TaskKind::Agent));
        let found = found.or_else(|| Some((some_string(launched.background_task_id)?, TaskKind::Shell)));
        let Some((id, kind)) = found.filter(|(id, _)| self.tasks.iter().all(|task| task.id != *id)) else {
            return false;
        };
        let what = self.about.remove(&id).unwrap_or_default();
        self.tasks.push(BackgroundTask { id, kind, what });
        true
    }
}

impl Listed<'_> {
    fn task(&self) -> BackgroundTask {
        // A kind that nobody knows yet is waited for like a subagent: its words may be part of the work.
        let kind = if word(self.task_type) == "local_bash" { TaskKind::Shell } else { TaskKind::Agent };
        BackgroundTask { id: string(self.task_id), kind, what: about(self.description) }
    }
}

fn about(description: Raw<'_>) -> String {
    clean_line(&string(description), WHAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(background: &Background) -> Vec<(&str, TaskKind)> {
        background.tasks().iter().map(|task| (task.id.as_str(), task.kind)).collect()
    }

    #[test]
    fn the_list_of_a_new_version_is_taken_whole() {
        let mut background = Background::default();
        let line = r#"{"tasks":[{"task_id":"a1","task_type":"local_agent","description":"a part"},{"task_id":"b1","task_type":"local_bash"},{"task_id":"w1","task_type":"local_workflow"}]}"#;
        assert!(background.system("background_tasks_changed", line));
        assert!(!background.system("background_tasks_changed", line), "told twice");
        let all = [("a1", TaskKind::Agent), ("b1", TaskKind::Shell), ("w1", TaskKind::Agent)];
        assert_eq!((kinds(&background), background.tasks()[0].what.as_str()), (all.to_vec(), "a part"));
        // It alone counts from now on.
        assert!(!background.system("task_notification", r#"{"task_id":"a1","status":"completed"}"#));
        assert!(background.system("background_tasks_changed", r#"{"tasks":[]}"#));
        assert!(background.tasks().is_empty());
        assert!(!background.system("background_tasks_changed", r#"{"tasks":7}"#));
    }

    #[test]
    fn of_an_old_version_only_what_went_to_the_background_is_waited_for() {
        let mut background = Background::default();
        let came_back = |background: &mut Background, json: &str| {
            let raw = serde_json::value::RawValue::from_string(json.to_owned()).unwrap();
            background.came_back(Some(&raw))
        };
        assert!(!background.system("task_started", r#"{"task_id":"a1","description":"in the foreground"}"#));
        assert!(!came_back(&mut background, r#"{"status":"completed","agentId":"a1"}"#));
        assert!(!background.system("task_notification", r#"{"task_id":"a1","status":"completed"}"#));
        assert!(!background.system("task_started", r#"{"task_id":"a2","description":"a part"}"#));
        assert!(came_back(&mut background, r#"{"isAsync":true,"status":"async_launched","agentId":"a2"}"#));
        assert!(came_back(&mut background, r#"{"stdout":"","backgroundTaskId":"b1"}"#));
        assert_eq!(kinds(&background), [("a2", TaskKind::Agent), ("b1", TaskKind::Shell)]);
        assert_eq!(background.tasks()[0].what, "a part");
        assert!(background.system("task_notification", r#"{"task_id":"a2","status":"completed"}"#));
        assert!(!came_back(&mut background, r#""Error: a text""#));
        assert_eq!(kinds(&background), [("b1", TaskKind::Shell)]);
    }
}
