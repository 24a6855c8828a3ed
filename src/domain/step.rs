//! What an iteration is for: the name of a step, and what its iterations count for. Which steps there are, and what
//! each does, is `orchestrator::steps`' business.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The name of a step. A journal may name one that this program does not know: that is read all the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepName(Cow<'static, str>);

impl StepName {
    /// Work on the ticket: what every iteration of an old journal was for.
    pub const CODE: Self = Self::new("code");
    /// A look at what was found done.
    pub const CRITIQUE: Self = Self::new("critique");
    /// The drafting of phases for a ticket that has none.
    pub const PLAN: Self = Self::new("plan");
    /// A turn of a chat.
    pub const CHAT: Self = Self::new("chat");
    /// Work on what a critic has rejected.
    pub const FIX: Self = Self::new("fix");

    /// A look at all of a ticket's changes, once nothing in it is left to do, by what reviewers look for.
    pub const REVIEW: Self = Self::new("review");
    /// A second look at what that look wants fixed.
    pub const CHECK: Self = Self::new("check");
    /// The resolving of conflicts with the base.
    pub const RESOLVE: Self = Self::new("resolve");
    /// A look at the whole ticket, once nothing in it is left to do.
    pub const EVALUATE: Self = Self::new("evaluate");

    /// A name: one lower-case word.
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    pub fn word(&self) -> &str {
        &self.0
    }

    /// It looks at work that was found done.
    pub fn reviews(&self) -> bool {
        [Self::CRITIQUE, Self::CHECK, Self::REVIEW, Self::EVALUATE].contains(self)
    }

    /// Where nothing is said of the step, it is this one.
    pub fn is_code(&self) -> bool {
        *self == Self::CODE
    }
}

impl Default for StepName {
    fn default() -> Self {
        Self::CODE
    }
}

impl From<String> for StepName {
    fn from(name: String) -> Self {
        Self(Cow::Owned(name))
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// What the iterations of a step count for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// They are to get the work on: those that do not bring a run to its end.
    #[default]
    Progress,
    /// They only look at the work: neither progress nor its absence, and none of the iterations that a run may have.
    Nothing,
}

impl Counts {
    /// They get the work on, or should.
    pub fn is_progress(&self) -> bool {
        *self == Self::Progress
    }
}

/// The part that an iteration has in the work. In old journals it is always the same: code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Role {
    #[serde(skip_serializing_if = "StepName::is_code")]
    pub step: StepName,
    #[serde(skip_serializing_if = "Counts::is_progress")]
    pub counts: Counts,
    /// The step's own model; `None`: the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}
