//! Lines of stdout, ids and times as records have them.

use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// Stands for an unpaired surrogate until the line is written: JSON text can hold one, a Rust string cannot.
pub const LONE_SURROGATE: char = '\u{f8ff}';

pub fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

pub fn to_line(record: &Value) -> String {
    let mut line = record.to_string();
    if line.contains(LONE_SURROGATE) {
        line = line.replace(LONE_SURROGATE, "\\ud83c");
    }
    line.push('\n');
    line
}

/// The time, as records have it.
pub(super) fn now() -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    crate::base::time::Timestamp::from_millis(millis).to_string()
}
