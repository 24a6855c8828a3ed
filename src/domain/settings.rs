//! The settings of one run, resolved from all config layers; stored with the run so that a resumed
//! run goes on under the rules it began with.

use serde::{Deserialize, Serialize};

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
    /// One iteration at most.
    pub iteration_timeout: u64,
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
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_iterations: 50,
            stagnation_limit: 3,
            repeated_error_limit: 3,
            iteration_timeout: 900,
            idle_timeout: 300,
            post_result_grace: 10,
            validation_timeout: 600,
            model: None,
            session_continuity: true,
        }
    }
}
