//! The workflow of a run: which of its steps look at finished work before it counts as done.

use crate::domain::evaluation::AddPhases;
use crate::domain::outcome::DoneHow;
use crate::domain::profile::Profile;
use crate::domain::step::StepName;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

worded! {
    /// A workflow, by its name. Where none is named, the configuration's is `auto`; a run that says nothing is of a time
    /// before there were any.
    #[derive(Default)]
    pub enum Workflow {
        /// As `simple` where validation commands checked a claim, as `reviewed` where none did.
        Auto = "auto",
        /// Claude works; validation commands and the working tree check it.
        #[default]
        Simple = "simple",
        /// A critic looks at every phase, too, and what it rejects is fixed.
        Reviewed = "reviewed",
        /// As `reviewed`; and once nothing is left to do, an evaluator says whether the ticket's goal is reached.
        Thorough = "thorough",
    }
}

worded! {
    /// What becomes of minor issues.
    #[derive(Default)]
    pub enum MinorIssues {
        /// They are shown and kept with the run.
        #[default]
        Note = "note",
        /// They are fixed once.
        Fix = "fix",
    }
}

/// What a step has of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepSettings {
    /// `--model`; `None` is the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `--effort`; `None` is Claude's own default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// What one call may cost, in millionths of a USD; `None`: what the budgets leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    /// The gate's profile, where it is stricter than the run's; who only looks may only read whatever is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

/// How finished work is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowSettings {
    pub name: Workflow,
    /// Attempts to fix a phase before it is the person's.
    pub fix_tries: u32,
    pub minor_issues: MinorIssues,
    /// What is looked for in all of a ticket's changes once nothing is left to do, by the names of reviewers; none: they
    /// are not looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub review: Vec<String>,
    /// What single steps have of their own, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<String, StepSettings>,
    /// What becomes of phases that an evaluator proposes.
    pub add_phases: AddPhases,
    /// Phases that a run may have added so.
    pub max_added_phases: u32,
}

impl Default for WorkflowSettings {
    fn default() -> Self {
        Self {
            name: Workflow::default(),
            fix_tries: 3,
            minor_issues: MinorIssues::default(),
            review: Vec::new(),
            steps: BTreeMap::new(),
            add_phases: AddPhases::default(),
            max_added_phases: 5,
        }
    }
}

impl WorkflowSettings {
    /// What the step has of its own.
    pub fn of(&self, step: &StepName) -> StepSettings {
        self.steps.get(step.word()).cloned().unwrap_or_default()
    }

    /// A critic is to look at what was found done on this ground.
    pub fn wants_critique(&self, how: DoneHow) -> bool {
        match self.name {
            Workflow::Simple => false,
            Workflow::Reviewed | Workflow::Thorough => how != DoneHow::TickedByPerson,
            Workflow::Auto => matches!(how, DoneHow::ClaimedUnchecked | DoneHow::ClaimedNoChange),
        }
    }
}
