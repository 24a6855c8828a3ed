//! What is under way in a run, how it is to go on, and how it ended.

use crate::domain::outcome::ExitReason;

/// What is under way.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Stage {
    /// Nothing yet, or between two steps.
    #[default]
    Idle,
    /// The worktree that the run works in is looked for or made.
    MakingWorktree,
    /// Waiting for the working directory.
    AwaitingTree {
        /// Who holds it, when we know.
        holder: Option<String>,
    },
    /// The tree is being saved.
    Snapshotting,
    Spawning,
    Running,
    /// Claude has answered and is about to end by itself.
    Closing,
    Stopping,
    /// The tree is being compared.
    Comparing,
    Validating,
    /// A box is being ticked or unticked.
    WritingBox,
    /// The ticket's status is being set.
    SettingStatus,
    /// What was done is being committed.
    Committing,
    /// What was done is being brought into its base.
    Merging,
    /// The run waits for a limit.
    Parked,
    /// The run waits for the person.
    Paused,
    Ended,
}

/// What the person wants of the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pace {
    #[default]
    Run,
    PauseNext,
    StopNext,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub reason: ExitReason,
    pub detail: String,
    /// The person has said to leave it so: it waits for nobody.
    pub is_left: bool,
}
