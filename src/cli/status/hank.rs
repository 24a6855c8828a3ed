//! The file that `status --watch-file` keeps: our runs, and beside them the fields of Hank's `status.json`, so that what has read
//! that file goes on working. They tell of one run, as Hank knows but one: the newest at work, else the newest.

use crate::base::time::Timestamp;
use crate::domain::limits::{Limits, hour};
use crate::domain::outcome::ExitReason;
use crate::domain::summary::{Owner, RunState, RunSummary};
use jiff::tz::TimeZone;
use serde::Serialize;

/// The file. Add, never rename.
#[derive(Debug, Serialize)]
pub struct StatusFile {
    /// When that run changed last.
    timestamp: Timestamp,
    loop_count: u32,
    calls_made_this_hour: u64,
    max_calls_per_hour: u32,
    last_action: &'static str,
    status: &'static str,
    /// Empty while nothing has ended.
    exit_reason: String,
    /// The local time at which the hour of the calls ends, as `15:00:00`.
    next_reset: String,
    /// All runs, newest first, as `status --json` prints them.
    runs: Vec<RunSummary>,
}

impl StatusFile {
    /// `calls`: those of this hour.
    pub fn new(runs: Vec<RunSummary>, calls: u64, limits: &Limits, now: Timestamp, zone: &TimeZone) -> Self {
        let is_counted = |run: &&RunSummary| !run.is_own_session() && !run.is_review();
        let at_work = |run: &&RunSummary| run.owner() == Owner::Another;
        let run = runs.iter().filter(is_counted).find(at_work).or_else(|| runs.iter().find(is_counted));
        let (last_action, status) = run.map_or(("", "stopped"), words);
        Self {
            timestamp: run.map_or(now, |run| run.updated),
            loop_count: run.map_or(0, |run| run.iterations),
            calls_made_this_hour: calls,
            max_calls_per_hour: limits.calls,
            last_action,
            status,
            exit_reason: run.and_then(exit_reason).unwrap_or_default(),
            next_reset: next_reset(limits, now, zone).clock_time(zone),
            runs,
        }
    }
}

/// When the hour of the calls ends.
pub fn next_reset(limits: &Limits, now: Timestamp, zone: &TimeZone) -> Timestamp {
    hour::leaves(now, limits.window, zone)
}

/// Hank's words for what was done last, and how it stands.
fn words(run: &RunSummary) -> (&'static str, &'static str) {
    match (run.state, run.reason.as_deref().and_then(ExitReason::from_word)) {
        (RunState::Running | RunState::Waiting, _) => ("executing", "running"),
        (RunState::Paused, _) => ("paused", "paused"),
        (RunState::Parked, _) | (_, Some(ExitReason::RateLimited)) => ("api_limit", "paused"),
        (RunState::Interrupted, _) => ("interrupted", "stopped"),
        (_, Some(ExitReason::Complete | ExitReason::Planned)) => ("graceful_exit", "completed"),
        (_, Some(ExitReason::CircuitOpen | ExitReason::Stagnation | ExitReason::RepeatedError)) => {
            ("circuit_breaker_open", "halted")
        }
        (_, Some(ExitReason::UserStopped | ExitReason::TerminalClosed)) => ("user_exit", "stopped"),
        (_, Some(ExitReason::Error | ExitReason::StorageFailed | ExitReason::TicketGone)) => ("failed", "error"),
        (_, _) => ("stopped", "stopped"),
    }
}

/// Hank's word where it has one for the same, else ours.
fn exit_reason(run: &RunSummary) -> Option<String> {
    let word = run.reason.as_deref().filter(|_| run.state == RunState::Ended)?;
    Some(match ExitReason::from_word(word) {
        Some(ExitReason::Complete) => "project_complete".to_owned(),
        Some(ExitReason::CircuitOpen | ExitReason::Stagnation) => "stagnation_detected".to_owned(),
        _ => word.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;
    use serde_json::json;

    #[test]
    fn what_has_read_hanks_file_finds_its_fields() {
        let zone = TimeZone::UTC;
        let now = Timestamp::from_millis(1_000 * 3_600_000 + 60_000);
        let file = |runs: Vec<RunSummary>| {
            serde_json::to_value(StatusFile::new(runs, 7, &Limits::default(), now, &zone)).unwrap()
        };
        let none = file(Vec::new());
        assert_eq!((&none["status"], &none["loop_count"], &none["runs"]), (&json!("stopped"), &json!(0), &json!([])));
        assert_eq!((&none["calls_made_this_hour"], &none["max_calls_per_hour"]), (&json!(7), &json!(100)));
        assert_eq!(none["next_reset"], "17:00:00");
        let of = |state, reason: Option<&str>| {
            let mut run = sample::seen("tk-1", "/w");
            (run.state, run.reason, run.iterations) = (state, reason.map(str::to_owned), 4);
            run
        };
        for (state, reason, words) in [
            (RunState::Running, None, ["executing", "running", ""]),
            (RunState::Parked, None, ["api_limit", "paused", ""]),
            (RunState::Ended, Some("complete"), ["graceful_exit", "completed", "project_complete"]),
            (RunState::Ended, Some("circuit_open"), ["circuit_breaker_open", "halted", "stagnation_detected"]),
            (RunState::Ended, Some("user_stopped"), ["user_exit", "stopped", "user_stopped"]),
            (RunState::Ended, Some("of a newer program"), ["stopped", "stopped", "of a newer program"]),
        ] {
            let told = file(vec![of(state, reason)]);
            assert_eq!(
                ["last_action", "status", "exit_reason"].map(|field| told[field].clone()),
                words.map(|word| json!(word))
            );
            assert_eq!((&told["loop_count"], &told["runs"][0]["ticket"]), (&json!(4), &json!("tk-1")));
        }
        let told = file(vec![of(RunState::Ended, Some("complete")), of(RunState::Running, None)]);
        assert_eq!(told["status"], "running", "what is at work comes first");
    }
}
