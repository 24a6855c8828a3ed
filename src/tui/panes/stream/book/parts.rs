//! What can be copied of a card: all that it says, whether it is folded or not, its command, its path.

use super::super::layout::one_line;
use super::super::order::Place;
use super::calls::WINDOW;
use super::{Book, FULL};
use crate::domain::messages::{draft_lines, draft_words};
use crate::domain::scrollback::EntryKind;
use crate::domain::stream::show::{Block, Edit, Todo, TodoState, Tool, ToolResult};

/// A part of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it; of a call its result too.
    Block,
    /// What a call of `Bash` runs.
    Command,
    /// The file or directory that a call is about.
    Path,
}

impl Book {
    pub(in super::super) fn part(&mut self, n: u32, place: Place, part: Part) -> Option<String> {
        let Place::Entry(i) = place else {
            let item = self.item(n, place);
            let rows: Vec<String> = (item.gap()..item.height()).map(|row| item.row(row).text()).collect();
            return Some(rows.join("\n")).filter(|text| part == Part::Block && !text.trim().is_empty());
        };
        if part == Part::Block {
            let blocks = self.shown(n, i, FULL).blocks;
            let texts = blocks.iter().flat_map(|block| match block {
                Block::Tool(tool) if tool.todo.is_some() => vec![tasks(&self.tasks(n, i))],
                Block::Tool(tool) => {
                    vec![of_call(tool), self.result(n, i, &tool.id).map_or_else(String::new, of_result)]
                }
                block => vec![of_block(block)],
            });
            let texts: Vec<String> =
                texts.map(|text| text.trim_end().to_owned()).filter(|text| !text.is_empty()).collect();
            return Some(texts.join("\n\n")).filter(|text| !text.is_empty());
        }
        let with = self.folded_with(n, i);
        let call = self.shown(n, with, FULL).blocks.into_iter().find_map(|block| match block {
            Block::Tool(tool) => Some(tool),
            _ => None,
        })?;
        let text = match (part, call.name.as_str()) {
            (Part::Command, "Bash") => command(&call).to_owned(),
            (Part::Path, "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "NotebookRead" | "LS") => {
                call.target
            }
            _ => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// The result of a call in record `i`.
    fn result(&mut self, n: u32, i: usize, id: &str) -> Option<ToolResult> {
        let len = self.journal.get(n).map_or(0, |segment| segment.len);
        let after = i + 1..len.min(i + WINDOW);
        let entries = self.entries(n, after.clone());
        after.zip(entries).filter(|(_, entry)| entry.kind == EntryKind::User).find_map(|(at, _)| {
            let blocks = if self.mentions(n, at, id) { self.shown(n, at, FULL).blocks } else { Vec::new() };
            blocks.into_iter().find_map(|block| match block {
                Block::ToolResult(result) if result.id == id => Some(result),
                _ => None,
            })
        })
    }
}

/// The list of tasks as Markdown.
fn tasks(list: &[Todo]) -> String {
    let line = |todo: &Todo| {
        let mark = if todo.state == TodoState::Done { "x" } else { " " };
        format!("- [{mark}] {}", one_line(&todo.text))
    };
    list.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The whole command of a call of `Bash`.
fn command(call: &Tool) -> &str {
    if call.detail.is_empty() { &call.target } else { &call.detail }
}

fn of_call(call: &Tool) -> String {
    let what = if call.name == "Bash" { command(call) } else { &call.target };
    let more = if call.name == "Bash" { "" } else { &call.detail };
    let edit = call.edit.as_ref().map_or_else(String::new, sides);
    [format!("{} {what}", call.name).as_str(), more, &edit]
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn of_result(result: ToolResult) -> String {
    match result.written {
        Some(edit) => sides(&edit),
        None if result.text.trim().is_empty() => result.summary,
        None => result.text,
    }
}

/// A change, the lines that go before those that come.
fn sides(edit: &Edit) -> String {
    let side = |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}")).collect::<Vec<_>>();
    [side('-', &edit.old), side('+', &edit.new)].concat().join("\n")
}

fn of_block(block: &Block) -> String {
    match block {
        Block::Text(text) | Block::Thinking(text) | Block::Person(text) | Block::Notice { text, .. } => text.clone(),
        Block::Status(claim) => {
            let phase = claim.phase_completed.as_ref().map(|phase| format!("phase: {phase}"));
            let files = (!claim.files_changed.is_empty()).then(|| format!("files: {}", claim.files_changed.join(", ")));
            let error = claim.error.as_ref().map(|error| format!("error: {error}"));
            let summary = Some(claim.summary.clone()).filter(|summary| !summary.is_empty());
            let lines = [Some(format!("status: {}", claim.status.word())), phase, summary, files, error];
            lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
        }
        Block::Critique(critique) => {
            let issues = critique.issues.iter().map(|issue| format!("- {}", issue.words()));
            let head = format!("verdict: {}\n{}", critique.verdict.word(), critique.summary);
            std::iter::once(head.trim_end().to_owned()).chain(issues).collect::<Vec<_>>().join("\n")
        }
        Block::Evaluation(said) => {
            let head = format!("verdict: {}\n{}", said.verdict.word(), said.summary);
            let phases = said.phases.iter().map(|phase| format!("- {phase}"));
            std::iter::once(head.trim_end().to_owned()).chain(phases).collect::<Vec<_>>().join("\n")
        }
        Block::Draft(draft) => {
            std::iter::once(draft_words(draft)).chain(draft_lines(draft)).collect::<Vec<_>>().join("\n")
        }
        Block::Tool(tool) => of_call(tool),
        Block::ToolResult(result) => of_result(result.clone()),
        Block::TurnEnd(end) => format!("{}\n{}", end.how, end.message),
        Block::Progress(_) => String::new(),
    }
}
