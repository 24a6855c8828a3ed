//! Claude's list of what is to be done: written whole (`TodoWrite`), or task by task (`TaskCreate`, `TaskUpdate`).

use super::fields::Fields;

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TodoState {
    #[default]
    Open,
    Running,
    Done,
}

/// A task of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Todo {
    /// Empty until it is told, and in a list that is written whole.
    pub id: String,
    pub text: String,
    pub state: TodoState,
}

/// What a call, or its result, says of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoChange {
    All(Vec<Todo>),
    Added(Todo),
    /// Another text or state, where there is one; `gone`: it is taken off the list.
    Changed {
        id: String,
        text: Option<String>,
        state: Option<TodoState>,
        gone: bool,
    },
}

/// Folds a change into the list.
pub fn change(list: &mut Vec<Todo>, change: TodoChange) {
    match change {
        TodoChange::All(all) => *list = all,
        // The result of a call that was seen tells its id.
        TodoChange::Added(todo) => match list.iter_mut().find(|old| old.id.is_empty() && old.text == todo.text) {
            Some(old) if !todo.id.is_empty() => *old = todo,
            _ => list.push(todo),
        },
        TodoChange::Changed { id, gone: true, .. } => list.retain(|todo| todo.id != id),
        TodoChange::Changed { id, text, state, .. } => {
            let at = list.iter().position(|todo| todo.id == id).unwrap_or_else(|| {
                list.push(Todo { text: format!("#{id}"), id, state: TodoState::Open });
                list.len() - 1
            });
            let todo = &mut list[at];
            todo.text = text.unwrap_or(std::mem::take(&mut todo.text));
            todo.state = state.unwrap_or(todo.state);
        }
    }
}

/// What a call says of it.
pub(super) fn called(tool: &str, input: &Fields<'_>) -> Option<TodoChange> {
    Some(match tool {
        "TodoWrite" => TodoChange::All(todos(input, "todos", "content")),
        "TaskCreate" => TodoChange::Added(Todo { text: input.text("subject")?, ..Todo::default() }),
        "TaskUpdate" => {
            let status = input.text("status");
            TodoChange::Changed {
                id: input.text("taskId")?,
                text: input.text("subject"),
                state: status.as_deref().map(state),
                gone: status.as_deref() == Some("deleted"),
            }
        }
        _ => return None,
    })
}

/// What the shape of a result says of it.
pub(super) fn told(shape: &Fields<'_>) -> Option<TodoChange> {
    if shape.raw("tasks").is_some() {
        return Some(TodoChange::All(todos(shape, "tasks", "subject")));
    }
    let task = shape.object("task")?;
    Some(TodoChange::Added(Todo { id: task.text("id")?, text: task.text("subject")?, state: TodoState::Open }))
}

fn todos(of: &Fields<'_>, key: &str, text: &str) -> Vec<Todo> {
    let each = of.list(key).into_iter().filter_map(|raw| Fields::read(raw.get()));
    each.map(|todo| Todo {
        id: todo.text("id").unwrap_or_default(),
        text: todo.text(text).unwrap_or_default(),
        state: state(&todo.text("status").unwrap_or_default()),
    })
    .collect()
}

fn state(word: &str) -> TodoState {
    match word {
        "completed" => TodoState::Done,
        "in_progress" => TodoState::Running,
        _ => TodoState::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::stream::show::decode;

    #[test]
    fn a_recorded_session_makes_a_list() {
        let lines = include_str!("../../../../tests/fixtures/stream/tasks.jsonl");
        let mut list = Vec::new();
        let mut seen = Vec::new();
        for line in lines.lines() {
            for block in decode(line.as_bytes(), line.len(), "").blocks {
                let said = block.todo();
                if let Some(said) = said {
                    change(&mut list, said);
                    seen.push(list.clone());
                }
            }
        }
        let first = |id: &str, state| vec![Todo { id: id.into(), text: "First".into(), state }];
        let (open, running) = (first("1", TodoState::Open), first("1", TodoState::Running));
        let written = vec![Todo { text: "a".into(), ..Todo::default() }];
        assert_eq!(seen, [first("", TodoState::Open), open, running.clone(), running, written]);
    }

    #[test]
    fn a_task_of_which_only_an_update_was_seen_is_named_by_its_number() {
        let mut list = Vec::new();
        let update = |text: Option<&str>, gone| TodoChange::Changed {
            id: "7".into(),
            text: text.map(str::to_owned),
            state: Some(TodoState::Done),
            gone,
        };
        change(&mut list, update(None, false));
        assert_eq!((list[0].text.as_str(), list[0].state), ("#7", TodoState::Done));
        change(&mut list, update(Some("Docs"), false));
        assert_eq!(list[0].text, "Docs");
        change(&mut list, update(None, true));
        assert!(list.is_empty());
    }
}
