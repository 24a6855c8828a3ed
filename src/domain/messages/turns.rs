//! Words about what Claude has in the background, and about turns that no message of ours began.

use crate::domain::background::{BackgroundTask, TaskKind};

pub(super) fn background_words(tasks: &[BackgroundTask]) -> String {
    let name = |task: &BackgroundTask| {
        let kind = match task.kind {
            TaskKind::Agent => "a subagent",
            TaskKind::Shell => "a command",
        };
        if task.what.is_empty() { kind.to_owned() } else { format!("{kind} (“{}”)", task.what) }
    };
    if tasks.is_empty() {
        return "no background tasks left".to_owned();
    }
    format!("background tasks: {}", tasks.iter().map(name).collect::<Vec<_>>().join(", "))
}

/// Somebody else's words in a turn of Claude's.
pub fn foreign_words(wakes: bool) -> String {
    let who = if wakes { "a wake-up set by Claude" } else { "another program, such as a second Claude session," };
    format!("{who} started a turn: stopped; no tool runs in it, and its output is ignored")
}
