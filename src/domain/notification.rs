//! Something that a person should hear of who is not looking at the screen.

use crate::domain::worded::worded;

/// What is told outside of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub level: Level,
    /// The ticket that it is about; raw.
    pub ticket: String,
    /// The phase at hand; raw.
    pub phase: Option<String>,
    /// The ticket and what became of it, in a few words; raw.
    pub title: String,
    /// The call or the reason; raw, may be empty.
    pub text: String,
}

worded! {
    /// What it is about.
    pub enum Level {
        /// A run waits for the person's answer.
        NeedsYou = "needs_you",
        /// A run is complete, or its ticket is planned.
        Finished = "finished",
        /// A run waits for a limit, and goes on by itself.
        Parked = "parked",
        /// A run has stopped before its ticket was complete, or could not begin.
        Failed = "failed",
    }
}

impl Level {
    /// Nothing goes on without the person.
    pub fn is_urgent(self) -> bool {
        matches!(self, Self::NeedsYou | Self::Failed)
    }
}

worded! {
    /// What a channel is used for.
    #[derive(Default)]
    pub enum NotifyFor {
        Nothing = "off",
        #[default]
        NeedsYou = "needs_you",
        Everything = "all",
    }
}

impl NotifyFor {
    pub fn takes(self, level: Level) -> bool {
        match self {
            Self::Nothing => false,
            Self::NeedsYou => level.is_urgent(),
            Self::Everything => true,
        }
    }
}
