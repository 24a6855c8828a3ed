//! What an evaluator says of a ticket that has nothing left to do: whether its goal is reached, and which phases are
//! missing if it is not. What becomes of them is the core's and the person's to say.

use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// What the evaluator comes to.
    pub enum GoalVerdict {
        Achieved = "ACHIEVED",
        /// More phases are needed.
        MoreWork = "MORE_WORK",
    }
}

worded! {
    /// What becomes of the phases that an evaluator proposes.
    #[derive(Default)]
    pub enum AddPhases {
        /// The person decides; where nobody is there, the run ends and names them.
        #[default]
        Ask = "ask",
        /// They are added and worked on.
        Auto = "auto",
        /// The run ends and names them.
        Never = "never",
    }
}

/// A readable answer of an evaluator's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    pub verdict: GoalVerdict,
    /// With [`MoreWork`](GoalVerdict::MoreWork): what is missing, a phase each, in one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<String>,
    #[serde(default)]
    pub summary: String,
}

/// Phases that wait to be added to the ticket, or not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The iteration whose evaluator proposes them.
    pub n: u32,
    pub phases: Vec<String>,
    /// Phases that it wants beyond those that a run may have added.
    #[serde(default)]
    pub left_out: usize,
    /// Why, in its words.
    pub why: String,
}

impl Proposal {
    /// That the goal is not reached, what is missing, and what to do.
    pub fn unreached(&self) -> String {
        let phases: Vec<String> = self.phases.iter().map(|phase| format!("“{phase}”")).collect();
        format!(
            "the evaluator says the goal is not reached yet; missing: {}. Add phases with `programmator phase add`, and start the ticket again",
            phases.join(", ")
        )
    }
}

/// What is decided about proposed phases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ProposalAnswer {
    /// These are added: as proposed, or as the person has changed them.
    Add { phases: Vec<String> },
    /// The goal is reached without them, for this reason, which may be left out.
    Refuse { words: String },
}
