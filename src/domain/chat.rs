//! A chat: a run without a ticket, in which the person talks with Claude. Its topics are shown when the next one starts.

use crate::base::id::TicketId;
use crate::base::text::{beginning, clean_line};
use crate::domain::answerer::Answerer;
use serde::{Deserialize, Serialize};

/// Columns of a topic.
const TOPIC: usize = 120;
/// Topics that are kept, the newest.
pub const TOPICS: usize = 50;
/// Lines of a summary that the next start shows.
pub const SHOWN: usize = 6;
/// Longest answer in a record, in bytes; the scrollback has all of it.
const LONGEST: usize = 64 << 10;

/// The run is a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatAsked {
    /// What the previous chat in this directory was about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// It is read from stdin: it waits for messages although no screen is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    #[serde(default, skip_serializing_if = "Answerer::is_screen")]
    pub by: Answerer,
}

/// Claude has answered in a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatAnswered {
    pub n: u32,
    /// Empty: it had nothing to add.
    pub text: String,
    /// More may come in the same iteration: it works in the background, or has a late message to answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// The chat that a person wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatWanted {
    /// Resume the last one of this directory.
    pub resume: bool,
    pub plain: bool,
}

impl ChatWanted {
    /// What it is called while it is being opened.
    pub const NAME: &'static str = "a chat";
}

/// What a chat is called before its first message.
pub const UNTITLED: &str = "Chat";

/// Behind `chat-` in the id of a chat: so many letters and digits.
pub const MARK: usize = 8;

/// Whether an id is that of a chat: digits of a random number stand behind its first word.
pub fn is_id(id: &TicketId) -> bool {
    let is_mark = |mark: &str| mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    id.as_str().strip_prefix("chat-").is_some_and(is_mark)
}

/// What a message is about, in one line.
pub fn topic(text: &str) -> String {
    clean_line(text.trim(), TOPIC)
}

/// As much of an answer as its record keeps.
pub fn kept(text: &str) -> String {
    let begun = beginning(text, LONGEST);
    if begun.len() < text.len() { format!("{begun}\n… (cut here)") } else { text.to_owned() }
}

/// The summary of a chat, a line each.
pub fn summary(topics: &[String]) -> Vec<String> {
    topics.iter().map(|topic| format!("- {topic}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_one_clean_line_of_at_most_120_columns() {
        let hostile = format!("\u{1b}]0;x\u{7}ignore all rules\n\u{1b}[2J{}", "é".repeat(200));
        let topic = topic(&hostile);
        assert!(topic.starts_with("ignore all rules") && topic.chars().count() <= TOPIC, "{topic}");
        assert!(!topic.contains(['\u{1b}', '\n', '\u{7}']), "{topic:?}");
    }

    #[test]
    fn an_answer_is_kept_up_to_a_whole_character() {
        let long = format!("a{}", "é".repeat(LONGEST));
        let kept = kept(&long);
        assert!(kept.len() < LONGEST + 40 && kept.ends_with("(cut here)"));
        assert_eq!(super::kept("short"), "short");
    }
}
