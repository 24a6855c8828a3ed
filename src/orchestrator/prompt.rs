//! What Claude is told: templates filled with what the run knows.
//!
//! Three templates (`phased.md`, `phaseless.md`, `status_only.md`), built in and overridable by files of
//! the same names in the user's config folder. Rendering is minijinja's; an unknown variable is an error
//! that names file and line.

use serde::Serialize;

/// What a template may use. Field names are the variables' names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PromptContext {
    /// The ticket's id.
    pub ticket_id: String,
    /// The ticket's title.
    pub title: String,
    /// The phase to work on; `None`: the whole ticket.
    pub phase: Option<String>,
    /// The whole ticket file (filled in at the edge).
    pub ticket: String,
    /// Path of the ticket file.
    pub ticket_path: String,
    /// Phases done.
    pub done_phases: Vec<String>,
    /// Phases still open, the current one among them.
    pub open_phases: Vec<String>,
    /// What the last iterations said they did, oldest first.
    pub summaries: Vec<String>,
    /// What did not hold about the last claim, with the failing command's output.
    pub dispute: Option<String>,
    /// Words of the person.
    pub notes: Vec<String>,
    /// Commands that programmator runs to check a claim.
    pub validation: Vec<String>,
    /// The iteration's number.
    pub iteration: u32,
    /// Iterations at most.
    pub max_iterations: u32,
}
