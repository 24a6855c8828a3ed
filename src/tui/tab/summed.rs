//! How a run stands that has no tab: by its summary.

use super::TabStatus;
use crate::domain::outcome::ExitReason;
use crate::domain::summary::{RunState, RunSummary};

impl TabStatus {
    /// How a run without a tab stands, by its summary.
    pub fn of(run: &RunSummary) -> Self {
        match run.state {
            RunState::Ended => match run.reason.as_deref().and_then(ExitReason::from_word) {
                Some(ExitReason::Complete) if run.unverified => Self::Unverified,
                Some(ExitReason::Complete) => Self::Complete,
                Some(ExitReason::UserStopped | ExitReason::TerminalClosed) => Self::Stopped,
                Some(ExitReason::Planned | ExitReason::NotPlanned) if run.needs.is_none() => Self::NotStarted,
                // The person has said to leave it so.
                _ if run.needs.is_none() => Self::Stopped,
                _ => Self::Halted,
            },
            _ if run.needs.is_some() && run.state != RunState::Interrupted => Self::NeedsYou,
            RunState::Interrupted if run.left_waiting().is_some() => Self::NeedsYou,
            RunState::Running => Self::Running,
            RunState::Waiting => Self::Waiting,
            RunState::Paused => Self::Paused,
            RunState::Parked => Self::Parked,
            RunState::Interrupted => Self::Stopped,
        }
    }
}
