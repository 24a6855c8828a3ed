//! What was changed of a run's settings, in words.

use crate::base::time::human;
use std::time::Duration;

/// Seconds after which something is done, if ever, and what that is.
const TIMES: [(&str, &str); 2] = [
    ("approval_defer_after", "questions outlast Claude's process after"),
    ("approval_timeout", "questions are denied after"),
];

/// From what the record has: `max_iterations 50 → 5`.
pub(super) fn changed(what: &[String]) -> String {
    what.iter().map(|line| told(line)).collect::<Vec<_>>().join(", ")
}

fn told(line: &str) -> String {
    let (name, values) = line.split_once(' ').unwrap_or((line, ""));
    let Some((_, words)) = TIMES.iter().find(|(known, _)| *known == name) else {
        return format!("{} {values}", name.replace('_', " "));
    };
    let value = |text: &str| match text.parse() {
        Ok(seconds) => human(Duration::from_secs(seconds)),
        Err(_) => "never".to_owned(),
    };
    let values: Vec<String> = values.split(" → ").map(value).collect();
    format!("{words} {}", values.join(" → "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_settings_and_seconds_are_said_as_people_read_them() {
        let what = ["max_iterations 50 → 5", "approval_defer_after 3600 → unset"].map(str::to_owned);
        assert_eq!(changed(&what), "max iterations 50 → 5, questions outlast Claude's process after 1h 00m → never");
    }
}
