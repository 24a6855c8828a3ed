//! A ticket: one markdown file with phases. The shapes only; `parse` reads one, `edit` changes one.

pub mod board;
mod boxes;
pub mod card;
pub mod draft;
pub mod edit;
pub mod fork;
mod front;
mod key;
mod lines;
pub mod lint;
mod outline;
pub mod parse;
pub mod part;
mod phase_settings;
mod phases;
pub mod revise;
mod revision;
mod section;
pub mod tree;

pub use boxes::Boxes;
pub(crate) use front::scalars;
pub use key::TicketKey;
pub use phase_settings::PhaseSettings;
pub use revision::Revision;

use crate::base::id::TicketId;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

/// A ticket as read from its file. Reading never fails: what could not be read is in `problems`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Front matter `id`, else the file's stem (tickets) or its name (plans).
    pub id: TicketId,
    /// Front matter `title`, else the first `# ` heading, else the id.
    pub title: String,
    /// Front matter `status`; `None` for a plan without front matter.
    pub status: Option<TicketStatus>,
    /// Ids of tickets that must be closed before this one.
    pub deps: Vec<String>,
    /// Front matter keys that are only shown (`type`, `priority`, `assignee`, `tags`, …), in file order.
    pub extra: Vec<(String, String)>,
    /// The phases in file order.
    pub phases: Vec<Phase>,
    /// How many checkboxes are ticked, phases or not.
    pub boxes: Boxes,
    /// Commands of `## Validation Commands`, in order.
    pub validation: Vec<String>,
    /// What is wrong with the file, in line order.
    pub problems: Vec<Problem>,
    /// The whole text as read (a byte order mark removed, invalid UTF-8 replaced).
    pub text: String,
}

/// The phase of a new ticket, which is to be replaced.
pub const TEMPLATE_PHASE: &str = "Phase 1: what is done first";

impl Ticket {
    /// The front matter could not be read: the ticket is listed, but not run.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Whoever depends on it may begin. A plan has no status: its phases say so.
    pub fn is_closed(&self) -> bool {
        match self.status {
            Some(status) => status == TicketStatus::Closed,
            None => !self.phases.is_empty() && self.phases.iter().all(|phase| phase.done),
        }
    }
}

/// One phase: a top-level checkbox, a `## Phase N` heading or a numbered heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// 1-based position among the phases.
    pub n: usize,
    /// The text without box, bullet and trailing ` [x]`; outer blanks trimmed. Identifies the phase.
    pub text: String,
    pub done: bool,
    /// 1-based line of the box or heading.
    pub line: usize,
    pub form: PhaseForm,
    /// What a comment at it says of the work on it.
    pub settings: PhaseSettings,
    /// Nested checkboxes (or, under a heading form, the section's checkboxes).
    pub tasks: Vec<Task>,
}

impl Phase {
    /// Its text, and behind it what the ticket says of the work on it.
    pub fn typed(&self) -> String {
        self.settings.behind(&self.text)
    }
}

/// The three ways a phase is written in the wild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseForm {
    /// `- [ ] text`
    Checkbox,
    /// `## Phase 2: text` or `## Step 2. text`
    PhaseHeading,
    /// `## 2. text`, at least two in sequence from 1
    NumberedHeading,
}

/// A checkbox inside a phase; it never decides anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub text: String,
    pub done: bool,
}

worded! {
    /// The front matter's `status`, as `tk` writes it.
    pub enum TicketStatus {
        Open = "open",
        InProgress = "in_progress",
        Closed = "closed",
    }
}

/// Something wrong with a ticket file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
    /// What is wrong and how to fix it.
    pub message: String,
    /// Whether the ticket can still run.
    pub severity: Severity,
}

/// How bad a [`Problem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Shown; the ticket runs.
    Warning,
    /// The ticket is broken and does not run.
    Error,
}
