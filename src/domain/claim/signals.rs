//! The optional keys of a status block, and the names of the blocks that have them. What they lead to is the
//! orchestrator's (`orchestrator::exit`).

use super::status::ClaimStatus;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

/// Whose status block it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    #[default]
    Ours,
    /// `HANK_STATUS` or `RALPH_STATUS`: said to another program, so never more than a sign.
    Hank,
}

impl Source {
    pub(super) const NAMES: [(&'static str, Self); 3] =
        [("PROGRAMMATOR_STATUS", Self::Ours), ("HANK_STATUS", Self::Hank), ("RALPH_STATUS", Self::Hank)];

    /// What the journal leaves out.
    pub fn is_ours(&self) -> bool {
        *self == Self::Ours
    }

    /// The status that `word` stands for in such a block, in any case.
    pub fn status(self, word: &str) -> Option<ClaimStatus> {
        use ClaimStatus::{Blocked, Continue, Done};
        let ours = [("CONTINUE", Continue), ("DONE", Done), ("BLOCKED", Blocked)];
        let hanks = [("IN_PROGRESS", Continue), ("COMPLETE", Done)];
        let hanks = hanks.iter().filter(|_| self == Self::Hank);
        let mut words = ours.iter().chain(hanks);
        words.find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, status)| *status)
    }
}

/// The optional keys, as far as they could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// `true`: all of the work is done. `false`: it is not, and that beats every other sign.
    pub exit_signal: Option<bool>,
    pub work_type: Option<WorkType>,
    pub tests_status: Option<TestsStatus>,
    /// Tasks finished in this iteration.
    pub tasks_completed: Option<u32>,
    /// What should be done next, in Claude's words.
    pub recommendation: Option<String>,
    /// Number of files changed, where a block counts them and names none.
    pub files_modified: Option<u32>,
}

impl Signals {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes from `other` what is missing here.
    pub fn fill(&mut self, other: Self) {
        self.exit_signal = self.exit_signal.or(other.exit_signal);
        self.work_type = self.work_type.or(other.work_type);
        self.tests_status = self.tests_status.or(other.tests_status);
        self.tasks_completed = self.tasks_completed.or(other.tasks_completed);
        self.recommendation = self.recommendation.take().or(other.recommendation);
        self.files_modified = self.files_modified.or(other.files_modified);
    }
}

worded! {
    /// `work_type`.
    pub enum WorkType {
        Implementation = "IMPLEMENTATION",
        /// Tests and nothing else.
        Testing = "TESTING",
        Documentation = "DOCUMENTATION",
        /// The same in a better form.
        Refactoring = "REFACTORING",
        Debugging = "DEBUGGING",
    }
}

impl WorkType {
    /// Reads the word, in any case; `TEST_ONLY` is Hank's other word for [`Testing`](Self::Testing).
    pub fn said(word: &str) -> Option<Self> {
        match word.to_ascii_uppercase().as_str() {
            "TEST_ONLY" => Some(Self::Testing),
            word => Self::from_word(word),
        }
    }
}

worded! {
    /// `tests_status`.
    pub enum TestsStatus {
        Passing = "PASSING",
        Failing = "FAILING",
        NotRun = "NOT_RUN",
    }
}
