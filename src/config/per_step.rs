//! What a setting of single steps takes: a value for each step, and which.

use crate::domain::profile::Profile;
use crate::orchestrator::steps::STEPS;

/// Most USD that can be set.
const USD: f64 = 1e6;

/// What the value of a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    Text,
    /// USD that it may cost.
    Usd,
    Profile,
}

impl Each {
    /// There is such a step, and it can have this value.
    pub(super) fn fits(self, step: &str, value: &str) -> bool {
        let is_step = STEPS.iter().any(|known| known.name.word() == step);
        is_step
            && !value.trim().is_empty()
            && match self {
                Self::Text => true,
                Self::Usd => value.parse().ok().and_then(micros).is_some(),
                Self::Profile => Profile::from_word(value).is_some(),
            }
    }

    /// What would be right.
    pub(super) fn takes(self) -> String {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name.word()).collect();
        let what = match self {
            Self::Text => "strings".to_owned(),
            Self::Usd => "amounts in USD above 0".to_owned(),
            Self::Profile => Profile::WORDS.join(" or "),
        };
        format!("a map of steps ({}) to {what}", names.join(", "))
    }
}

/// Millionths of a USD; `None` for what is no amount.
pub(super) fn micros(usd: f64) -> Option<u64> {
    (usd > 0.0 && usd <= USD).then(|| (usd * 1e6).round() as u64).filter(|micros| *micros > 0)
}
