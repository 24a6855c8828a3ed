//! What of a run's settings can be changed while it works, one at a time, and how a person writes its value.

use super::Settings;
use serde::{Deserialize, Serialize};

/// Something that can be changed. What it counts for is decided before the next iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Adjustable {
    Iterations,
    Stagnation,
    RepeatedError,
    NoProgress,
    SameError,
    Denials,
    /// What the run may cost.
    Budget,
    Model,
}

/// A change of one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// By so many steps.
    Step(Adjustable, i32),
    /// To this value, as a person writes it.
    Set(Adjustable, String),
}

/// Millionths of a USD in a step.
const DOLLAR: i64 = 1_000_000;
/// Least USD that a budget may be: a millionth.
const LEAST: f64 = 0.000_001;
/// Most USD that a budget may be.
const RICHEST: f64 = 1_000_000.0;

impl Adjustable {
    pub const ALL: [Self; 8] = [
        Self::Iterations,
        Self::Stagnation,
        Self::RepeatedError,
        Self::NoProgress,
        Self::SameError,
        Self::Denials,
        Self::Budget,
        Self::Model,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Stagnation => "iterations without a change",
            Self::RepeatedError => "iterations with one error",
            Self::NoProgress => "breaker: no progress",
            Self::SameError => "breaker: same error",
            Self::Denials => "breaker: denied calls",
            Self::Budget => "budget of the run, USD",
            Self::Model => "model",
        }
    }

    /// Its value; empty: unset.
    pub fn text(self, settings: &Settings) -> String {
        match self {
            Self::Budget => settings.limits.run.micro_usd.map_or_else(String::new, exact),
            Self::Model => settings.model.clone().unwrap_or_default(),
            _ => self.number(settings).to_string(),
        }
    }

    fn number(self, settings: &Settings) -> u32 {
        match self {
            Self::Iterations => settings.max_iterations,
            Self::Stagnation => settings.stagnation_limit,
            Self::RepeatedError => settings.repeated_error_limit,
            Self::NoProgress => settings.breaker.no_progress,
            Self::SameError => settings.breaker.same_error,
            Self::Denials => settings.breaker.permission_denials,
            Self::Budget | Self::Model => 0,
        }
    }

    fn most(self) -> u32 {
        if self == Self::Iterations { 10_000 } else { 1_000 }
    }
}

/// In USD, to the last millionth.
pub fn exact(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    // Cents are always told.
    let zeros = text.bytes().rev().take(4).take_while(|&digit| digit == b'0').count();
    text[..text.len() - zeros].to_owned()
}

impl Settings {
    /// The settings with a change, or why it cannot be; words for the person.
    pub fn with(&self, change: &Change) -> Result<Self, String> {
        let mut settings = self.clone();
        match change {
            Change::Step(Adjustable::Model, _) => return Err("a model has no steps; Enter sets one".into()),
            Change::Step(Adjustable::Budget, by) => {
                let now = self.limits.run.micro_usd.ok_or("no budget set; Enter sets one")?;
                let to = i64::try_from(now).unwrap_or(i64::MAX).saturating_add(i64::from(*by) * DOLLAR);
                let to = u64::try_from(to).ok().filter(|to| *to > 0);
                settings.limits.run.micro_usd = Some(to.ok_or("a budget must be above 0; Enter removes it")?);
            }
            Change::Step(what, by) => {
                let to = what.number(self).saturating_add_signed(*by);
                settings.set(*what, to)?;
            }
            Change::Set(Adjustable::Budget, text) => {
                let text = text.trim().trim_start_matches('$');
                let usd = || text.parse::<f64>().ok().filter(|usd| (LEAST..=RICHEST).contains(usd));
                settings.limits.run.micro_usd = match text {
                    "" => None,
                    _ => {
                        Some((usd().ok_or("expected USD such as 2.50, or nothing for no budget")? * 1e6).round() as u64)
                    }
                };
            }
            Change::Set(Adjustable::Model, text) => {
                let text = text.trim();
                let is_name = !text.starts_with('-') && text.len() <= 100 && text.chars().all(|c| c.is_ascii_graphic());
                if !is_name {
                    return Err("expected a model such as opus, or nothing for Claude's default".into());
                }
                settings.model = (!text.is_empty()).then(|| text.to_owned());
            }
            Change::Set(what, text) => {
                let number = text.trim().parse();
                settings.set(*what, number.map_err(|_| format!("expected a number from 1 to {}", what.most()))?)?;
            }
        }
        Ok(settings)
    }

    fn set(&mut self, what: Adjustable, to: u32) -> Result<(), String> {
        if !(1..=what.most()).contains(&to) {
            return Err(format!("{}: from 1 to {}", what.word(), what.most()));
        }
        *match what {
            Adjustable::Iterations => &mut self.max_iterations,
            Adjustable::Stagnation => &mut self.stagnation_limit,
            Adjustable::RepeatedError => &mut self.repeated_error_limit,
            Adjustable::NoProgress => &mut self.breaker.no_progress,
            Adjustable::SameError => &mut self.breaker.same_error,
            Adjustable::Denials => &mut self.breaker.permission_denials,
            Adjustable::Budget | Adjustable::Model => return Ok(()),
        } = to;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_that_is_shown_can_be_set_again() {
        let mut settings = Settings::default();
        for micros in [125_000, 4_000, 1, 999_999_999_999] {
            settings.limits.run.micro_usd = Some(micros);
            let text = Adjustable::Budget.text(&settings);
            assert_eq!(settings.with(&Change::Set(Adjustable::Budget, text)), Ok(settings.clone()), "{micros}");
        }
        settings.limits.run.micro_usd = Some(2_500_000);
        assert_eq!(Adjustable::Budget.text(&settings), "2.50");
        settings.model = Some("opus".into());
        for what in Adjustable::ALL {
            assert_eq!(settings.with(&Change::Set(what, what.text(&settings))), Ok(settings.clone()), "{what:?}");
            let Ok(more) = settings.with(&Change::Step(what, 1)) else { continue };
            assert_ne!(more, settings, "{what:?}");
            assert_eq!(more.with(&Change::Step(what, -1)), Ok(settings.clone()), "{what:?}");
        }
        let dearer = settings.with(&Change::Step(Adjustable::Budget, 1)).unwrap();
        assert_eq!(dearer.limits.run.micro_usd, Some(3_500_000), "a step is a dollar");
        let set = |text: &str| settings.with(&Change::Set(Adjustable::Budget, text.into())).unwrap().limits.run;
        assert_eq!((set("$3").micro_usd, set("").micro_usd), (Some(3_000_000), None));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let settings = Settings::default();
        for (what, text) in [
            (Adjustable::Iterations, "0"),
            (Adjustable::Iterations, "10001"),
            (Adjustable::NoProgress, "-1"),
            (Adjustable::Budget, "NaN"),
            (Adjustable::Budget, "0"),
            (Adjustable::Budget, "1e300"),
            (Adjustable::Model, "--dangerously-skip-permissions"),
            (Adjustable::Model, "a\u{1b}[2J"),
            (Adjustable::Model, "two words"),
        ] {
            assert!(settings.with(&Change::Set(what, text.into())).is_err(), "{what:?} {text:?}");
        }
        assert!(settings.with(&Change::Step(Adjustable::NoProgress, -99)).is_err());
        assert!(settings.with(&Change::Step(Adjustable::Budget, 1)).is_err(), "there is none to be raised");
    }
}
