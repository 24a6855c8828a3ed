//! A Claude session of the person's own as it is seen from outside: what it is about and how it stands, from what Claude Code
//! writes down of it.
//!
//! Its questions are in a run of its own (`domain::own_session`).

use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::stream::envelope::decode;
use crate::domain::stream::show;
use crate::domain::stream::transcript::classify;
use crate::domain::ticket::TicketKey;
use serde_json::Value;
use std::collections::BTreeMap;

/// Columns of what it is called, and of what it does.
const TITLE: usize = 120;
const DOES: usize = 200;

/// A session that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSeen {
    /// The run of its questions, which need not have begun.
    pub run: RunId,
    /// The directory that Claude was in when its hook saw it last.
    pub folder: String,
    /// Where the person finds it: `terminal pts/3`.
    pub place: String,
    /// What it is called, or the first words in it; empty: not known.
    pub title: String,
    pub stands: Stands,
    /// When it came to stand so.
    pub since: Timestamp,
    /// Its transcript is so long that only the end of it is shown.
    pub is_cut: bool,
}

/// Sessions of one title are told apart by where they are, and those of one place by their ids.
pub fn tell_apart(all: &mut BTreeMap<TicketKey, OwnSeen>) {
    for more in [|_: &TicketKey, own: &OwnSeen| own.place.clone(), |key: &TicketKey, _: &OwnSeen| key.id().to_string()]
    {
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        for own in all.values() {
            *times.entry(own.title.clone()).or_default() += 1;
        }
        for (key, own) in all.iter_mut().filter(|(_, own)| times[&own.title] > 1) {
            own.title = format!("{} · {}", own.title, more(key, own));
        }
    }
}

/// What a session does.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Stands {
    /// Nothing is known of it: it has no transcript yet, or not where it was told to be.
    #[default]
    Unknown,
    Working,
    /// Claude has called a tool, which runs or waits for the person in the session's terminal; in words.
    Calls(String),
    /// Claude has finished, and waits for words.
    YourTurn,
    /// It has ended.
    Ended,
}

impl OwnSeen {
    /// What it does, for people.
    pub fn words(&self) -> String {
        match &self.stands {
            Stands::Unknown => "started; no information yet".to_owned(),
            Stands::Working => "Claude is working".to_owned(),
            Stands::Calls(call) => call.clone(),
            Stands::YourTurn => "waiting for your next message".to_owned(),
            Stands::Ended => "the session has ended".to_owned(),
        }
    }
}

/// What the lines of a transcript say of the session, as far as they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gist {
    /// The title that the person or Claude Code has given it.
    title: String,
    /// The first words of the person's.
    first: String,
    pub stands: Stands,
    /// When it came to stand so; `None`: not known.
    pub since: Option<Timestamp>,
    /// Lines before those that were read are left out.
    pub is_cut: bool,
}

impl Gist {
    /// What the session is called.
    pub fn title(&self) -> &str {
        if self.title.is_empty() { &self.first } else { &self.title }
    }

    /// What was read until now is far behind: takes the first words, where none are known.
    pub fn cut(&mut self, earlier: &Self) {
        self.is_cut = true;
        if self.first.is_empty() {
            self.first.clone_from(&earlier.first);
        }
    }

    /// Takes the next line. `cwd`: paths in it are shown relative to it.
    pub fn fold(&mut self, line: &[u8], cwd: &str) {
        // Most lines are no business of ours.
        let is_title = memchr::memmem::find(line, b"itle\":\"").is_some();
        if !is_title && classify(line, line.len()).is_none() {
            return;
        }
        let text = decode(line);
        let Ok(record) = serde_json::from_str::<Value>(&text) else { return };
        match record["type"].as_str() {
            Some("custom-title") => self.called(&record["customTitle"]),
            Some("ai-title") if self.title.is_empty() => self.called(&record["aiTitle"]),
            Some("user") => {
                if let Some(stands) = self.heard(&record) {
                    self.now(stands, &record);
                }
            }
            Some("assistant") => self.now(does(&record["message"], cwd), &record),
            _ => {}
        }
    }

    fn called(&mut self, title: &Value) {
        let title = clean_line(title.as_str().unwrap_or_default(), TITLE);
        if !title.trim().is_empty() {
            self.title = title;
        }
    }

    fn now(&mut self, stands: Stands, record: &Value) {
        if self.stands != stands {
            self.since = serde_json::from_value(record["timestamp"].clone()).ok();
            self.stands = stands;
        }
    }

    /// What follows from the person's words, or from a tool's result; `None`: nothing, as from a command of Claude Code's own.
    fn heard(&mut self, record: &Value) -> Option<Stands> {
        let content = &record["message"]["content"];
        let parts = content.as_array().into_iter().flatten();
        let text = content.as_str().or_else(|| parts.clone().find_map(|part| part["text"].as_str()));
        let Some(text) = text else {
            return parts.clone().any(|part| part["type"] == "tool_result").then_some(Stands::Working);
        };
        if text.starts_with("[Request interrupted") {
            return Some(Stands::YourTurn);
        }
        if text.trim_start().starts_with('<') {
            return None;
        }
        if self.first.is_empty() {
            self.first = clean_line(text, TITLE);
        }
        Some(Stands::Working)
    }
}

/// What Claude does by this message.
fn does(message: &Value, cwd: &str) -> Stands {
    let call = message["content"].as_array().into_iter().flatten().rev().find(|part| part["type"] == "tool_use");
    if let Some(call) = call {
        let tool = call["name"].as_str().unwrap_or_default();
        let target = show::target(tool, &call["input"].to_string(), cwd);
        return Stands::Calls(clean_line(format!("{tool} {target}").trim(), DOES));
    }
    match message["stop_reason"].as_str() {
        Some("end_turn" | "stop_sequence" | "max_tokens" | "refusal") => Stands::YourTurn,
        _ => Stands::Working,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OLD: &[u8] = include_bytes!("../../tests/fixtures/stream/transcript.jsonl");
    const NEW: &[u8] = include_bytes!("../../tests/fixtures/stream/transcript_2.1.330.jsonl");

    /// How it stands after each line, where that has changed.
    fn course(lines: &[u8]) -> (Gist, Vec<Stands>) {
        let (mut gist, mut course) = (Gist::default(), Vec::new());
        for line in lines.split(|byte| *byte == b'\n') {
            let before = gist.stands.clone();
            gist.fold(line, "/home/dev/proj");
            if gist.stands != before {
                course.push(gist.stands.clone());
            }
        }
        (gist, course)
    }

    #[test]
    fn a_recorded_session_stands_as_it_stood() {
        let calls = |words: &str| Stands::Calls(words.to_owned());
        for lines in [OLD, NEW] {
            let (gist, course) = course(lines);
            assert_eq!(gist.title(), "My nice title");
            assert_eq!(gist.first, "begin the work");
            assert_eq!(course[..3], [Stands::Working, calls("Write new.txt"), Stands::Working], "{course:?}");
            assert!(course.contains(&calls("Bash echo out; echo err >&2; exit 3")));
            assert_eq!(gist.stands, Stands::YourTurn, "{course:?}");
            assert!(gist.since.is_some());
        }
    }

    #[test]
    fn two_of_one_title_are_told_apart() {
        let seen = |n: u128, title: &str, place: &str| {
            let key = TicketKey::unknown(&format!("session-0000000{n}"));
            let (title, place, folder) = (title.to_owned(), place.to_owned(), "/w".to_owned());
            let (run, stands, since) = (RunId(uuid::Uuid::from_u128(n)), Stands::Working, Timestamp::from_millis(1));
            (key, OwnSeen { run, folder, place, title, stands, since, is_cut: false })
        };
        let mut all = BTreeMap::from([
            seen(1, "fix it", "terminal pts/1"),
            seen(2, "fix it", "terminal pts/2"),
            seen(3, "fix it", "terminal pts/2"),
            seen(4, "other", "terminal pts/2"),
        ]);
        tell_apart(&mut all);
        let titles: Vec<&str> = all.values().map(|own| own.title.as_str()).collect();
        let of = |id: &str| format!("fix it · terminal pts/2 · {id}");
        assert_eq!(titles, ["fix it · terminal pts/1", &of("session-00000002"), &of("session-00000003"), "other"]);
    }

    #[test]
    fn what_is_odd_says_nothing_and_nothing_of_it_reaches_a_terminal() {
        let mut gist = Gist::default();
        let user =
            |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}}).to_string();
        for line in ["", "x", "[]", r#"{"type":"user"}"#, r#"{"type":"custom-title","customTitle":7}"#] {
            gist.fold(line.as_bytes(), "");
        }
        gist.fold(user(json!("<command-name>/model</command-name>")).as_bytes(), "");
        assert_eq!(gist, Gist::default());
        gist.fold(user(json!([{"type": "text", "text": "\u{1b}]0;x\u{7}fix\n日本\u{202e}"}])).as_bytes(), "");
        assert_eq!((gist.title(), &gist.stands), ("fix 日本", &Stands::Working));
        gist.fold(user(json!("[Request interrupted by user]")).as_bytes(), "");
        assert_eq!(gist.stands, Stands::YourTurn);
        let call = json!({"type": "assistant", "message": {"role": "assistant", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "name": "Bash\u{1b}[2J", "input": {"command": "a\n".repeat(1 << 16)}}]}});
        gist.fold(call.to_string().as_bytes(), "");
        let Stands::Calls(words) = &gist.stands else { panic!("{gist:?}") };
        assert!(!words.contains(char::is_control) && words.len() < 1_000, "{words}");
        let title = json!({"type": "ai-title", "aiTitle": "Made"}).to_string();
        gist.fold(title.as_bytes(), "");
        assert_eq!(gist.title(), "Made");
    }
}
