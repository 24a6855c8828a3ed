//! What Claude tells its person in a session of their own beside its questions: that it waits for words, or for an answer that
//! only its terminal takes.
//!
//! Claude Code's side of it: <https://code.claude.com/docs/en/hooks#notification>.

use super::own_session::id;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Most columns of its words.
const WORDS: usize = 500;
/// A question and what is told of it need not come in this order.
pub const SETTLED: Duration = Duration::from_secs(2);
/// So long after its last question Claude may tell that it still waits: it does after a minute.
const STILL: Duration = Duration::from_secs(120);
/// Two hooks for the same event begin at most so long one after the other.
const TWINS: Duration = Duration::from_secs(5);

/// Something that Claude has told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub session: TicketId,
    /// The directory that Claude works in.
    pub folder: String,
    pub about: About,
    pub words: String,
    pub at: Timestamp,
}

/// What it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// Claude asks about a call, or has a question or a plan.
    Permission,
    /// Claude has waited for words for a minute.
    Idle,
    Other,
}

/// The last question that was asked elsewhere of a session.
#[derive(Clone, Copy, Debug)]
pub struct LastQuestion {
    /// It asked what is next, and not about a call.
    pub is_end_of_turn: bool,
    pub asked: Timestamp,
    /// When it came to its end, and whether Claude was given something to do by it.
    pub ended: Option<(Timestamp, bool)>,
}

#[derive(Deserialize)]
struct Told {
    session_id: String,
    cwd: String,
    hook_event_name: String,
    message: String,
    notification_type: Option<String>,
}

/// What Claude has written to a hook's stdin; `None`: it tells nothing.
pub fn read(told: &[u8], now: Timestamp) -> Option<Notice> {
    let told: Told = serde_json::from_slice(told).ok()?;
    let words = clean_line(&told.message, WORDS);
    if told.hook_event_name != "Notification" || words.trim().is_empty() || !told.cwd.starts_with('/') {
        return None;
    }
    let about = match told.notification_type.as_deref() {
        Some("permission_prompt") => About::Permission,
        Some("idle_prompt") => About::Idle,
        // Earlier versions have only the words.
        None if words.contains("waiting for your input") => About::Idle,
        None if words.contains("needs your permission") => About::Permission,
        _ => About::Other,
    };
    Some(Notice { session: id(&told.session_id)?, folder: told.cwd, about, words, at: now })
}

impl Notice {
    /// The person was asked the same on the phone.
    pub fn was_asked(&self, last: Option<LastQuestion>) -> bool {
        let Some(last) = last.filter(|last| last.asked <= self.at.plus(SETTLED)) else { return false };
        match (self.about, last.ended) {
            (About::Other, _) => false,
            (_, None) => true,
            (About::Permission, Some((ended, _))) => !last.is_end_of_turn && self.at <= ended.plus(SETTLED),
            (About::Idle, Some((ended, goes_on))) => last.is_end_of_turn && !goes_on && self.at <= ended.plus(STILL),
        }
    }

    /// It is this one, told by a second hook.
    pub fn is_twin(&self, session: &TicketId, words: &str, at: Timestamp) -> bool {
        self.session == *session && self.words == words && self.at.since(at).max(at.since(self.at)) <= TWINS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn told(more: &Value) -> Option<Notice> {
        let mut told = json!({
            "session_id": "1a2b3c4d-0000-4000-8000-000000000000", "cwd": "/w/shop", "hook_event_name": "Notification",
            "message": "Claude is waiting for your input",
        });
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read(told.to_string().as_bytes(), at(100))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1_000)
    }

    #[test]
    fn what_is_told_is_read_and_nothing_else() {
        assert_eq!(told(&json!({})).unwrap().about, About::Idle);
        for (more, about) in [
            (json!({"notification_type": "idle_prompt", "message": "x"}), About::Idle),
            (json!({"notification_type": "permission_prompt"}), About::Permission),
            (json!({"message": "Claude needs your permission to use Bash"}), About::Permission),
            (json!({"notification_type": "auth_success"}), About::Other),
        ] {
            assert_eq!(told(&more).unwrap().about, about, "{more}");
        }
        let escape = told(&json!({"message": format!("a\u{1b}[2J\n{}", "é".repeat(1 << 20))})).unwrap().words;
        assert!(!escape.contains(char::is_control) && escape.chars().count() <= WORDS, "{escape}");
        for more in [
            json!({"message": " "}),
            json!({"message": 7}),
            json!({"hook_event_name": "Stop"}),
            json!({"session_id": "../x"}),
            json!({"cwd": "shop"}),
        ] {
            assert_eq!(told(&more), None, "{more}");
        }
    }

    #[test]
    fn nothing_is_told_that_was_asked() {
        // Told at 100 s. Of the last question: the end of a turn, asked, ended, and with what to do.
        for (about, end_of_turn, asked, ended, was_asked) in [
            (About::Permission, false, 99, None, true),
            (About::Permission, false, 101, None, true),
            (About::Permission, false, 50, Some((100, true)), true),
            (About::Permission, false, 50, Some((90, true)), false),
            (About::Permission, true, 50, Some((99, true)), false),
            (About::Idle, true, 10, None, true),
            (About::Idle, true, 10, Some((40, false)), true),
            (About::Idle, true, 10, Some((40, true)), false),
            (About::Idle, false, 10, Some((40, true)), false),
            (About::Idle, true, -900, Some((-600, false)), false),
            (About::Other, false, 99, None, false),
            (About::Idle, true, 110, None, false),
        ] {
            let ended = ended.map(|(ended, goes_on)| (at(ended), goes_on));
            let last = LastQuestion { is_end_of_turn: end_of_turn, asked: at(asked), ended };
            let notice = Notice { about, ..told(&json!({})).unwrap() };
            assert_eq!(notice.was_asked(Some(last)), was_asked, "{about:?} {last:?}");
            assert!(!notice.was_asked(None));
        }
        let notice = told(&json!({})).unwrap();
        let is_twin = |second: i64| notice.is_twin(&notice.session, &notice.words, at(second));
        assert_eq!([94, 96, 104, 106].map(is_twin), [false, true, true, false]);
    }
}
