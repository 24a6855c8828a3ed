//! What a record shows, decoded.

use super::todo::TodoChange;
use crate::domain::claim::Claim;
use crate::domain::critique::Critique;
use crate::domain::evaluation::Evaluation;
use crate::domain::record::Level;
use crate::domain::ticket::draft::Draft;

/// A record, decoded for display.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// What it shows, in order. Empty: nothing.
    pub blocks: Vec<Block>,
    /// The call of the subagent that it belongs to; `None` is the main agent.
    pub parent: Option<String>,
    /// Bytes of the line that were not decoded.
    pub missing: u64,
}

impl Shown {
    /// Every text that is shown of it, in brief or in full.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(Block::texts)
    }
}

/// One thing that a record shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Text(String),
    /// The status block, plainly understood.
    Status(Box<Claim>),
    /// A critic's verdict, plainly understood.
    Critique(Box<Critique>),
    /// An evaluator's answer, plainly understood.
    Evaluation(Box<Evaluation>),
    /// A planner's draft, plainly understood.
    Draft(Box<Draft>),
    Thinking(String),
    Tool(Tool),
    /// What came of a tool call.
    ToolResult(ToolResult),
    Progress(Progress),
    /// The person's (or the prompt's) words.
    Person(String),
    TurnEnd(TurnEnd),
    /// Something about Claude's machinery.
    Notice {
        level: Level,
        text: String,
    },
}

impl Block {
    /// What it says of Claude's list of tasks.
    pub fn todo(self) -> Option<TodoChange> {
        match self {
            Self::Tool(tool) => tool.todo,
            Self::ToolResult(result) => result.todo,
            _ => None,
        }
    }

    fn texts(&self) -> Vec<&str> {
        fn sides(edit: Option<&Edit>) -> [&str; 3] {
            edit.map_or([""; 3], |edit| [&edit.path, &edit.old, &edit.new])
        }
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::Person(text) | Self::Notice { text, .. } => vec![text],
            Self::Status(claim) => {
                let more = [&claim.phase_completed, &claim.error].into_iter().flatten();
                let texts = more.chain(&claim.files_changed).chain([&claim.summary]).map(String::as_str);
                texts.chain([claim.status.word()]).collect()
            }
            Self::Critique(critique) => {
                let issues = critique.issues.iter().flat_map(|issue| {
                    [issue.file.as_deref(), Some(issue.text.as_str()), issue.evidence.as_deref()].into_iter().flatten()
                });
                issues.chain([critique.verdict.word(), critique.summary.as_str()]).collect()
            }
            Self::Evaluation(said) => {
                let phases = said.phases.iter().map(String::as_str);
                phases.chain([said.verdict.word(), said.summary.as_str()]).collect()
            }
            Self::Draft(draft) => {
                let lines = draft.phases.iter().chain(&draft.validation);
                lines.chain([&draft.title, &draft.text]).map(String::as_str).collect()
            }
            Self::Tool(tool) => [[tool.name.as_str(), &tool.target, &tool.detail], sides(tool.edit.as_ref())].concat(),
            Self::ToolResult(result) => {
                [[result.text.as_str(), &result.summary, ""], sides(result.written.as_ref())].concat()
            }
            Self::Progress(progress) => vec![&progress.summary],
            Self::TurnEnd(end) => vec![&end.how, &end.message],
        }
    }
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Claude's id of the call.
    pub id: String,
    /// `Bash`, `Edit`, `github·get_issue` …
    pub name: String,
    /// What it is about, in one line.
    pub target: String,
    /// More of its input, where one line does not hold it; else empty.
    pub detail: String,
    /// What it changes in a file.
    pub edit: Option<Edit>,
    /// What it changes in the list of tasks.
    pub todo: Option<TodoChange>,
    pub subagent: bool,
}

/// The two sides of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The file, relative to the working directory where it lies in there.
    pub path: String,
    /// Text that goes; empty for a new file.
    pub old: String,
    pub new: String,
}

/// What came of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolResult {
    /// Claude's id of the call; empty when the line was cut before it.
    pub id: String,
    /// In a few words: "214 lines", "exit 3".
    pub summary: String,
    pub error: bool,
    /// Number of the first changed line, for edits.
    pub first_change: Option<u32>,
    /// What a written file was and is: only the result tells what was there before.
    pub written: Option<Edit>,
    /// What was read of a file.
    pub read: Option<Excerpt>,
    /// What it tells of the list of tasks.
    pub todo: Option<TodoChange>,
    pub text: String,
}

/// Lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    pub path: String,
    /// Number of the first line.
    pub first: u64,
    pub text: String,
}

/// How far a subagent is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The call that started it.
    pub id: String,
    /// "3 tools · 11 s".
    pub summary: String,
}

/// The end of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnEnd {
    pub error: bool,
    /// `success`, `error_during_execution`, … with the reason where there is one.
    pub how: String,
    pub message: String,
    pub ms: f64,
    /// Cost of the process so far in USD.
    pub cost_usd: f64,
}
