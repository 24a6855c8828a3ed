//! Limits of calls, tokens and money: what a person sets, and the words all rooms share about them.
//!
//! [`admission`] decides whether a call may be made, [`hour`] knows the hours it is counted in, [`provider`] the
//! provider's own windows and what is done when one is closed, [`reset_text`] reads when it opens again, [`receipt`]
//! says what an iteration cost. All of it is pure: the time is an argument. Where the numbers are kept is the store's.

pub mod admission;
pub mod hour;
pub mod provider;
pub mod receipt;
pub mod reset_text;

pub use admission::{Counted, Parking};
pub use provider::{Hit, Window};
pub use receipt::Receipt;

use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

/// What a person allows. Money is in millionths of a USD, so that it can be compared; hours are those of [`HourWindow`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Calls of Claude in an hour, all tickets and programs together.
    pub calls: u32,
    /// Input and output tokens in an hour, likewise; `None`: no limit.
    pub tokens: Option<u64>,
    pub window: HourWindow,
    /// What to do when the provider warns.
    pub on_warning: OnWarning,
    pub run: Budget,
    /// What all runs of a ticket may cost together.
    pub ticket: Budget,
    /// What everything may cost in a day (the local one).
    pub day: Budget,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 100,
            tokens: None,
            window: HourWindow::Clock,
            on_warning: OnWarning::GoOn,
            run: Budget::default(),
            ticket: Budget::default(),
            day: Budget::default(),
        }
    }
}

/// How much may be spent; what is not set has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Millionths of a USD.
    pub micro_usd: Option<u64>,
    pub tokens: Option<u64>,
}

impl Budget {
    pub fn usd(&self) -> Option<f64> {
        self.micro_usd.map(|micros| micros as f64 / 1e6)
    }
}

worded! {
    /// The hour in which calls and tokens are counted.
    #[derive(Default)]
    pub enum HourWindow {
        /// From one full hour of the local clock to the next, as Hank counts.
        #[default]
        Clock = "clock",
        Sliding = "sliding",
    }
}

worded! {
    /// What to do when the provider warns that a window is nearly used up.
    #[derive(Default)]
    pub enum OnWarning {
        /// Go on until it is closed.
        #[default]
        GoOn = "go_on",
        /// Finish the phase, then park until the window opens anew.
        Park = "park",
    }
}

/// Money in USD and tokens of every kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    pub usd: f64,
    pub tokens: u64,
}

impl Spent {
    /// What was spent since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { usd: (self.usd - earlier.usd).max(0.0), tokens: self.tokens.saturating_sub(earlier.tokens) }
    }
}
