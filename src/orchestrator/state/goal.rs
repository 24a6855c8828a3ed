//! How a run stands with the goal of its ticket, as its records tell it.

use crate::domain::answerer::Answerer;
use crate::domain::critique::Issue;
use crate::domain::evaluation::Proposal;
use crate::domain::ticket::revise::TicketEdit;

/// What is known of the ticket's goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalState {
    /// It is reached, an evaluator or the person says, and nothing was worked on since.
    pub achieved: bool,
    /// The person has said so against an evaluator that wanted more.
    pub declined: bool,
    /// Phases that an evaluator proposes and that are not added yet.
    pub proposal: Option<Proposal>,
    /// Phases that were added so in this run.
    pub added: u32,
    /// All that was changed was reviewed, and nothing was worked on since.
    pub reviewed: bool,
    /// What that review wants fixed, while nobody has looked at it again.
    pub found: Vec<Issue>,
    /// How often that review rejected it, since the run was last resumed.
    pub rejections: u32,
}

impl GoalState {
    /// Work is done on the ticket: what was said of it before no longer counts.
    pub(in crate::orchestrator) fn reopen(&mut self) {
        *self = Self { added: self.added, rejections: self.rejections, ..Self::default() };
    }
}

/// A change of the ticket's text that the run itself wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnEdit {
    pub id: String,
    pub edit: TicketEdit,
    pub by: Answerer,
    /// How often the file was another when it was to be written.
    pub tries: u32,
}
