//! How the person is asked on the phone.

use crate::domain::quiet_hours::QuietHours;
use std::time::Duration;

/// How the person is asked on the phone: their own, never a project's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwayConfig {
    /// A question that nobody has answered is told again after so long, so many times.
    pub repeat_after: Duration,
    pub repeats: u32,
    /// Messages make no sound then.
    pub quiet: Option<QuietHours>,
    /// Tools whose calls can be allowed all at once.
    pub bulk_tools: Vec<String>,
    /// A yes or no that replies to nothing is for the only question that waits.
    pub bare_answers: bool,
    /// Whatever asks from elsewhere begins to ask on the phone, without `away on`.
    pub always_on: bool,
}
