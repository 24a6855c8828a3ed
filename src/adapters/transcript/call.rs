//! What a hook of Claude's looks up in the transcript of its session: whether a call has its result by now, and Claude's last words.
//! Nothing here fails: what cannot be read says nothing.

use super::{Line, Reader, Transcript, open};
use crate::domain::stream::transcript::{Speaker, last_words as words_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A call that Claude asks the person about in its own terminal.
#[derive(Debug)]
pub struct Call {
    transcript: Transcript,
    results: Results,
}

/// The results of calls like it.
#[derive(Debug)]
struct Results {
    tool: String,
    input: Value,
    /// Calls like it that have no result yet.
    open: BTreeSet<String>,
    /// What is behind this was written since.
    since: u64,
    is_settled: bool,
}

impl Call {
    pub fn new(transcript: &Path, tool: &str, input: &Value) -> Self {
        let since = open(transcript).ok().flatten().map_or(0, |(_, data)| data.len());
        let (tool, input) = (tool.to_owned(), input.clone());
        let results = Results { tool, input, open: BTreeSet::new(), since, is_settled: false };
        Self { transcript: Transcript::new(transcript), results }
    }

    /// It has a result by now: the person has answered there. Reads what is new.
    pub fn is_settled(&mut self) -> bool {
        let _ = self.transcript.look(&mut self.results);
        self.results.is_settled
    }
}

impl Reader for Results {
    fn line(&mut self, line: &Line<'_>) {
        let is_settled = self.is_settled_by(line.text);
        self.is_settled |= is_settled && line.range.end >= self.since;
    }
}

impl Results {
    fn is_settled_by(&mut self, line: &[u8]) -> bool {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return false };
        let mut is_settled = false;
        for part in line["message"]["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("tool_use") if part["name"] == self.tool.as_str() && part["input"] == self.input => {
                    self.open.extend(part["id"].as_str().map(str::to_owned));
                }
                Some("tool_result") => {
                    is_settled |= part["tool_use_id"].as_str().is_some_and(|id| self.open.remove(id));
                }
                _ => {}
            }
        }
        is_settled
    }
}

/// Claude's last words.
pub fn last_words(transcript: &Path) -> Option<String> {
    read(transcript)?.claude
}

/// Claude's last words; where there are none, the person's.
pub fn last_said(transcript: &Path) -> Option<(Speaker, String)> {
    let last = read(transcript)?;
    let person = || last.person.map(|words| (Speaker::Person, words));
    last.claude.map(|words| (Speaker::Claude, words)).or_else(person)
}

fn read(transcript: &Path) -> Option<LastWords> {
    let mut last = LastWords::default();
    Transcript::new(transcript).look(&mut last).ok()?;
    Some(last)
}

#[derive(Default)]
struct LastWords {
    claude: Option<String>,
    person: Option<String>,
}

impl Reader for LastWords {
    fn line(&mut self, line: &Line<'_>) {
        // Most lines are results of tools, which are long.
        let has = |word: &[u8]| memchr::memmem::find(line.text, word).is_some();
        if has(b"\"assistant\"") || (has(b"\"user\"") && !has(b"\"tool_result\"")) {
            match words_of(line.text, line.size()) {
                Some((Speaker::Claude, words)) => self.claude = Some(words),
                Some((Speaker::Person, words)) => self.person = Some(words),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs::File;
    use std::io::Write;

    fn used(id: &str, command: &str) -> String {
        let part = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "I look"}, part]}}).to_string()
    }

    fn result(id: &str) -> String {
        let part = json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
        json!({"type": "user", "message": {"content": [part]}}).to_string()
    }

    #[test]
    fn a_call_is_settled_by_its_own_result_and_by_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut file = File::create(&path).unwrap();
        let mut write = |text: &str| file.write_all(text.as_bytes()).unwrap();
        write(&format!("{}\n{}\nnot JSON\n{}\n", used("t1", "ls"), result("t1"), used("t2", "pwd")));
        let mut call = Call::new(&path, "Bash", &json!({"command": "ls"}));
        assert!(!call.is_settled(), "the same call of before has its result");
        // It may be written down after it was asked about.
        write(&used("t3", "ls"));
        assert!(!call.is_settled());
        write(&format!("\n{}\n", result("t2")));
        assert!(!call.is_settled());
        let text = result("t3");
        write(&text[..30]);
        assert!(!call.is_settled(), "half a line");
        write(&format!("{}\n", &text[30..]));
        assert!(call.is_settled());
    }

    #[test]
    fn what_is_long_broken_or_no_file_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut call = Call::new(&path, "Bash", &json!({}));
        assert!(!call.is_settled() && last_words(&path).is_none());
        assert!(!Call::new(folder.path(), "Bash", &json!({})).is_settled() && last_words(folder.path()).is_none());
        std::fs::write(&path, vec![b'x'; 9 << 20]).unwrap();
        assert!(!call.is_settled() && last_words(&path).is_none());
        std::fs::write(&path, format!("{}\n{}\n{{\"type\":\"assistant\"", used("t1", "ls"), result("t1"))).unwrap();
        assert_eq!(last_words(&path).as_deref(), Some("I look"));
    }

    #[test]
    fn where_claude_has_said_nothing_the_persons_last_message_stands_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let user = |content: Value| json!({"type": "user", "message": {"content": content}}).to_string();
        let no_words = [
            json!({"type": "user", "isMeta": true, "message": {"content": "a reminder"}}),
            json!({"type": "user", "isSidechain": true, "message": {"content": "a subagent's task"}}),
            json!({"type": "user", "isCompactSummary": true, "message": {"content": "what was said so far"}}),
            json!({"type": "user", "message": {"content": "<local-command-stdout>x</local-command-stdout>"}}),
        ];
        let added: String = no_words.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
        let typed = [user("first".into()), user(json!([{"type": "text", "text": "second"}])), result("t1")].join("\n");
        std::fs::write(&path, format!("{typed}\n{added}")).unwrap();
        assert_eq!(last_said(&path), Some((Speaker::Person, "second".to_owned())));
        std::fs::write(&path, format!("{}\n{typed}\n", used("t1", "ls"))).unwrap();
        assert_eq!(last_said(&path), Some((Speaker::Claude, "I look".to_owned())));
    }
}
