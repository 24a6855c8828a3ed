//! A chat in words.

use super::line::Weight;
use crate::domain::chat::{ChatAnswered, ChatAsked, SHOWN, summary};
use crate::domain::record::Record;

pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    match record {
        Record::ChatAsked(ChatAsked { by, earlier, .. }) => Some((Weight::Info, started(&by.to_string(), earlier))),
        Record::ChatAnswered(ChatAnswered { text, .. }) if !text.is_empty() => {
            Some((Weight::Info, format!("Claude: {text}")))
        }
        Record::NoteNotSent { .. } => Some((Weight::Warn, NOT_SENT.to_owned())),
        _ => None,
    }
}

const NOT_SENT: &str = "message not sent: it failed twice; send it again with i (↑ brings it back)";

fn started(by: &str, earlier: &[String]) -> String {
    let shown = &summary(earlier)[..earlier.len().min(SHOWN)];
    if shown.is_empty() {
        return format!("chat started by {by}");
    }
    format!("chat started by {by}; last session: {}", shown.join("  "))
}
