//! Something that a person should hear of who is not looking at the screen.

use crate::domain::worded::worded;

/// What is told outside of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub urgency: Urgency,
    /// The ticket and what became of it, in a few words; raw.
    pub title: String,
    /// The phase, the call or the reason; raw, may be empty.
    pub text: String,
}

/// How much it wants to be heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A run is complete, or waits for a limit.
    News,
    /// Nothing goes on without the person.
    NeedsYou,
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
    pub fn takes(self, urgency: Urgency) -> bool {
        match self {
            Self::Nothing => false,
            Self::NeedsYou => urgency == Urgency::NeedsYou,
            Self::Everything => true,
        }
    }
}
