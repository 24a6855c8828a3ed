//! What a tool call is about, in one line: the target that people look for (path, command, pattern),
//! and the two sides of an edit.

use super::block::{Edit, Tool};
use super::fields::{self, Fields};
use super::todo;

pub(super) fn call(block: &Fields<'_>, cwd: &str) -> Tool {
    let given = block.text("name").unwrap_or_else(|| "?".to_owned());
    let input = block.object("input").unwrap_or_default();
    let (name, target) = named(&given, &input, cwd);
    Tool {
        id: block.text("id").unwrap_or_default(),
        subagent: matches!(given.as_str(), "Task" | "Agent"),
        edit: edit(&given, &input, cwd),
        detail: detail(&given, &input),
        todo: todo::called(&given, &input),
        name,
        target,
    }
}

/// What a call with this input, JSON text, is about.
pub(super) fn target(tool: &str, input: &str, cwd: &str) -> String {
    named(tool, &Fields::read(input).unwrap_or_default(), cwd).1
}

/// The name as people say it, and the target.
fn named(given: &str, input: &Fields<'_>, cwd: &str) -> (String, String) {
    let field = |key: &str| input.text(key).unwrap_or_default();
    let path = |key: &str| relative(&field(key), cwd);
    let name = if given == "ExitPlanMode" { "Plan" } else { given }.to_owned();
    if let Some(raw) = input.object("__unparsedToolInput") {
        return (name, raw.text("raw").unwrap_or_default());
    }
    let target = match given {
        "Read" | "Edit" | "Write" | "MultiEdit" => path("file_path"),
        "NotebookEdit" | "NotebookRead" => path("notebook_path"),
        "LS" => path("path"),
        "Bash" => first_line(&field("command")),
        "BashOutput" => field("bash_id"),
        "KillShell" | "KillBash" => field("shell_id"),
        "Grep" => {
            let mut target = format!("“{}”", field("pattern"));
            for key in ["path", "glob", "type"] {
                if input.raw(key).is_some() {
                    target.push_str("  ");
                    target.push_str(&path(key));
                }
            }
            target
        }
        "Glob" => match input.raw("path") {
            Some(_) => format!("{}  {}", field("pattern"), path("path")),
            None => field("pattern"),
        },
        "Task" | "Agent" => field("description"),
        "AskUserQuestion" => input
            .list("questions")
            .first()
            .and_then(|question| Fields::read(question.get())?.text("question"))
            .map(|question| first_line(&question))
            .unwrap_or_default(),
        "ExitPlanMode" => {
            let plan = field("plan");
            let first = plan.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
            first.unwrap_or_default().to_owned()
        }
        "WebFetch" => field("url"),
        "WebSearch" => field("query"),
        "Skill" => field("skill"),
        "TodoWrite" => {
            let todos = input.list("todos").into_iter().filter_map(|todo| Fields::read(todo.get()));
            let done: Vec<bool> = todos.map(|todo| todo.text("status").as_deref() == Some("completed")).collect();
            format!("{} of {} done", done.iter().filter(|done| **done).count(), done.len())
        }
        "TaskCreate" => field("subject"),
        "TaskUpdate" | "TaskGet" | "TaskStop" | "TaskOutput" => {
            let id = input.text("taskId").or_else(|| input.text("task_id")).unwrap_or_default();
            let subject = input.text("subject").or_else(|| input.text("status")).unwrap_or_default();
            format!("#{id} {subject}").trim_end().to_owned()
        }
        _ => first_text(input),
    };
    if let Some((server, tool)) = given.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        return (format!("{server}·{tool}"), target);
    }
    (name, target)
}

/// What an unfolded call shows besides its line.
fn detail(name: &str, input: &Fields<'_>) -> String {
    match name {
        "Bash" => input.text("command").filter(|command| command.contains('\n') || command.len() > 60),
        "Task" | "Agent" => input.text("prompt"),
        "ExitPlanMode" => input.text("plan"),
        _ => None,
    }
    .unwrap_or_default()
}

fn edit(name: &str, input: &Fields<'_>, cwd: &str) -> Option<Edit> {
    let path = relative(&input.text("file_path")?, cwd);
    match name {
        "Edit" => Some(Edit {
            path,
            old: input.text("old_string").unwrap_or_default(),
            new: input.text("new_string").unwrap_or_default(),
        }),
        "MultiEdit" => {
            let edits: Vec<Fields<'_>> =
                input.list("edits").into_iter().filter_map(|raw| Fields::read(raw.get())).collect();
            let side = |key: &str| edits.iter().filter_map(|edit| edit.text(key)).collect::<Vec<_>>().join("\n");
            Some(Edit { path, old: side("old_string"), new: side("new_string") })
        }
        // What a `Write` changes is told by its result.
        _ => None,
    }
}

/// `path` as seen from `cwd`; unchanged when it lies elsewhere.
pub(super) fn relative(path: &str, cwd: &str) -> String {
    match path.strip_prefix(cwd.trim_end_matches('/')) {
        _ if cwd.is_empty() => path.to_owned(),
        Some("" | "/") => ".".to_owned(),
        Some(rest) => rest.strip_prefix('/').unwrap_or(path).to_owned(),
        None => path.to_owned(),
    }
}

fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default().trim_end();
    match lines.next() {
        Some(_) => format!("{first} …"),
        None => first.to_owned(),
    }
}

/// The first text among the inputs, in the order of their names.
fn first_text(input: &Fields<'_>) -> String {
    input
        .names()
        .filter_map(|name| input.raw(name))
        .find_map(fields::text)
        .map(|text| first_line(&text))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(json: &str) -> String {
        let tool = call(&Fields::read(json).expect("an object"), "/home/dev/proj");
        format!("{} {}", tool.name, tool.target)
    }

    #[test]
    fn each_tool_says_what_it_is_about() {
        let cases = [
            (r#"{"name":"Read","input":{"file_path":"/home/dev/proj/src/a.rs"}}"#, "Read src/a.rs"),
            (r#"{"name":"Read","input":{"file_path":"/home/dev/project/a.rs"}}"#, "Read /home/dev/project/a.rs"),
            (r#"{"name":"Bash","input":{"command":"cargo test\necho two"}}"#, "Bash cargo test …"),
            (r#"{"name":"Grep","input":{"pattern":"layer(","path":"/home/dev/proj/src"}}"#, "Grep “layer(”  src"),
            (r#"{"name":"Glob","input":{"pattern":"**/*.rs"}}"#, "Glob **/*.rs"),
            (r#"{"name":"Task","input":{"description":"explore","prompt":"long"}}"#, "Task explore"),
            (
                r#"{"name":"WebFetch","input":{"url":"https://example.org","prompt":"p"}}"#,
                "WebFetch https://example.org",
            ),
            (r#"{"name":"mcp__github__get_issue","input":{"number":4,"repo":"a/b"}}"#, "github·get_issue a/b"),
            (r#"{"name":"TaskCreate","input":{"subject":"First","description":"d"}}"#, "TaskCreate First"),
            (
                r#"{"name":"AskUserQuestion","input":{"questions":[{"question":"Which?\nOf all","options":[]}]}}"#,
                "AskUserQuestion Which? …",
            ),
            (r#"{"name":"ExitPlanMode","input":{"plan":"\n# Limit logins\n\n1. Count"}}"#, "Plan Limit logins"),
            (r#"{"name":"TaskUpdate","input":{"taskId":"1","status":"in_progress"}}"#, "TaskUpdate #1 in_progress"),
            (r#"{"name":"Bash","input":{"__unparsedToolInput":{"raw":"{\"command","len":9}}}"#, "Bash {\"command"),
            (r#"{"name":"New","input":"odd"}"#, "New "),
            (r#"{"input":{"command":7}}"#, "? "),
        ];
        for (json, expected) in cases {
            assert_eq!(target(json), expected, "{json}");
        }
    }
}
