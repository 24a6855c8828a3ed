//! The settings of one run, resolved from all config layers; stored with the run so that a resumed
//! run goes on under the rules it began with.

mod change;

pub use change::{Adjustable, Change, exact};

use crate::domain::commit::GitSettings;
use crate::domain::limits::Limits;
use crate::domain::watchdog::Watch;
use crate::domain::workflow::WorkflowSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Limits and switches of a run. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Iterations of one run at most.
    pub max_iterations: u32,
    /// Iterations in a row without any change.
    pub stagnation_limit: u32,
    /// Iterations in a row that end with the same masked error.
    pub repeated_error_limit: u32,
    pub iteration_timeout: u64,
    /// From the start of Claude's process until it has agreed on the protocol.
    pub start_timeout: u64,
    /// From the prompt to the first byte of the answer.
    pub first_byte_timeout: u64,
    /// No byte from Claude while no tool runs.
    pub idle_timeout: u64,
    /// From the result record to the end of the process.
    pub post_result_grace: u64,
    /// One validation command at most.
    pub validation_timeout: u64,
    /// `--model` for Claude; `None` is Claude's own default.
    pub model: Option<String>,
    /// Continue Claude's session from iteration to iteration.
    pub session_continuity: bool,
    /// A question to the person is a denial after this time; `None`: it waits while somebody is at the screen.
    pub approval_timeout: Option<u64>,
    /// Seconds after which Claude's process is ended at a question that waits, to go on with the answer; `None`: it is held.
    pub approval_defer_after: Option<u64>,
    pub limits: Box<Limits>,
    pub breaker: BreakerSettings,
    pub exit: ExitSettings,
    /// Tools that Claude's own rules let pass, as the person's flags say (`Bash(npm *)`).
    pub allowed_tools: Vec<String>,
    /// Hours after which an unused session is not continued any more.
    pub session_expiry_hours: u32,
    pub workflow: WorkflowSettings,
    pub git: GitSettings,
}

/// Thresholds of the circuit breaker, in iterations in a row where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BreakerSettings {
    /// Iterations without progress that open it.
    pub no_progress: u32,
    /// Iterations with the same masked error that open it.
    pub same_error: u32,
    /// Iterations with refusals that open it.
    pub permission_denials: u32,
    /// By how many percent the output must fall to half-open it.
    pub output_decline: u32,
    /// Seconds until an open breaker lets one iteration through.
    pub cooldown: u64,
    /// Close it at every start.
    pub auto_reset: bool,
}

/// When the signs of a ticket without phases end its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExitSettings {
    /// Iterations with nothing but tests; 0: any number.
    pub test_loops: u32,
    /// Iterations that call the work complete; 0: any number.
    pub done_signals: u32,
    /// Percent of the iterations, from the tenth on, that may have nothing but tests.
    pub test_percentage: Option<u32>,
}

impl Default for ExitSettings {
    fn default() -> Self {
        Self { test_loops: 3, done_signals: 2, test_percentage: None }
    }
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            no_progress: 3,
            same_error: 5,
            permission_denials: 2,
            output_decline: 70,
            cooldown: 1_800,
            auto_reset: false,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_iterations: 50,
            stagnation_limit: 3,
            repeated_error_limit: 3,
            iteration_timeout: 900,
            start_timeout: 30,
            first_byte_timeout: 180,
            idle_timeout: 300,
            post_result_grace: 10,
            validation_timeout: 600,
            model: None,
            session_continuity: true,
            approval_timeout: None,
            approval_defer_after: None,
            breaker: BreakerSettings::default(),
            exit: ExitSettings::default(),
            allowed_tools: Vec::new(),
            session_expiry_hours: 24,
            limits: Box::default(),
            workflow: WorkflowSettings::default(),
            git: GitSettings::default(),
        }
    }
}

/// Settings that changed in the middle of a run, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsChanged {
    pub settings: Settings,
    /// What differs, for people: `max_iterations 50 → 5`.
    pub what: Vec<String>,
}

impl Settings {
    /// How long a timer of the watchdog is, in seconds.
    pub fn limit_of(&self, watch: Watch) -> u64 {
        match watch {
            Watch::Start => self.start_timeout,
            Watch::FirstByte => self.first_byte_timeout,
            Watch::Idle => self.idle_timeout,
            Watch::PostResult => self.post_result_grace,
            Watch::Total => self.iteration_timeout,
        }
    }

    /// What differs in `other`, one `name before → after` each; in a group, `group.name`.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let fields = |settings: &Self| {
            let mut fields = BTreeMap::new();
            flatten("", serde_json::to_value(settings).unwrap_or_default(), &mut fields);
            fields
        };
        let shown = |value: Option<&Value>| match value {
            None | Some(Value::Null) => "unset".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        let (before, after) = (fields(self), fields(other));
        let changed = after.iter().filter(|(name, value)| before.get(*name) != Some(*value));
        changed.map(|(name, value)| format!("{name} {} → {}", shown(before.get(name)), shown(Some(value)))).collect()
    }
}

/// Puts what is not a group into `fields`, each under its whole name.
fn flatten(name: &str, value: Value, fields: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(group) => {
            for (field, value) in group {
                let name = if name.is_empty() { field } else { format!("{name}.{field}") };
                flatten(&name, value, fields);
            }
        }
        value => {
            fields.insert(name.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_by_name() {
        let before = Settings::default();
        assert_eq!(before.differences(&before), Vec::<String>::new());
        let after = Settings { max_iterations: 5, model: Some("opus".into()), ..Settings::default() };
        assert_eq!(before.differences(&after), ["max_iterations 50 → 5", "model unset → opus"]);
        let breaker = BreakerSettings { cooldown: 60, ..BreakerSettings::default() };
        let after = Settings { breaker, ..Settings::default() };
        assert_eq!(before.differences(&after), ["breaker.cooldown 1800 → 60"]);
    }
}
