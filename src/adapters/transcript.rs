//! What Claude writes down of a session, as far as it helps. The format is Claude's own and may change: nothing here fails, and
//! what cannot be read says nothing.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that are read of what was written before.
const BEFORE: u64 = 1 << 20;
/// Bytes that are read at once; a longer line is skipped.
const AT_ONCE: u64 = 4 << 20;

/// A call that Claude asks the person about in its own terminal.
#[derive(Debug)]
pub struct Call {
    transcript: PathBuf,
    tool: String,
    input: Value,
    /// Calls like it that have no result yet.
    open: BTreeSet<String>,
    /// What is behind this was written since.
    since: u64,
    /// As far as it was read.
    at: u64,
    /// The beginning of a line.
    rest: Vec<u8>,
}

impl Call {
    pub fn new(transcript: &Path, tool: &str, input: &Value) -> Self {
        let since = open(transcript).map_or(0, |(_, len)| len);
        let at = since.saturating_sub(BEFORE);
        let (transcript, tool, input) = (transcript.to_owned(), tool.to_owned(), input.clone());
        Self { transcript, tool, input, open: BTreeSet::new(), since, at, rest: Vec::new() }
    }

    /// It has a result by now: the person has answered there. Reads what is new.
    pub fn is_settled(&mut self) -> bool {
        while let Some(new) = read(&self.transcript, self.at) {
            let begins = self.at - self.rest.len() as u64;
            self.at += new.len() as u64;
            let mut text = std::mem::take(&mut self.rest);
            text.extend(new);
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let mut end = begins;
            for line in text[..whole].split_inclusive(|byte| *byte == b'\n') {
                end += line.len() as u64;
                if self.is_settled_by(line) && end > self.since {
                    return true;
                }
            }
            self.rest = text.split_off(whole);
            if self.rest.len() as u64 > AT_ONCE {
                self.rest.clear();
            }
        }
        false
    }

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
    let (mut file, len) = open(transcript)?;
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(len.saturating_sub(BEFORE))).ok()?;
    file.take(BEFORE).read_to_end(&mut text).ok()?;
    text.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let parts = line["message"]["content"].as_array().filter(|_| line["type"] == "assistant")?;
        parts.iter().rev().find_map(|part| part["text"].as_str().map(str::to_owned))
    })
}

/// What is behind this place, of at most so many bytes; `None`: nothing.
fn read(path: &Path, at: u64) -> Option<Vec<u8>> {
    let (mut file, len) = open(path).filter(|(_, len)| *len > at)?;
    let mut new = Vec::new();
    file.seek(SeekFrom::Start(at)).ok()?;
    file.by_ref().take(AT_ONCE.min(len - at)).read_to_end(&mut new).ok()?;
    (!new.is_empty()).then_some(new)
}

/// With its length. What is no plain file might be waited for without end.
fn open(path: &Path) -> Option<(File, u64)> {
    let found = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((File::open(path).ok()?, found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
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
        assert!(!call.is_settled() && call.rest.len() as u64 <= AT_ONCE && last_words(&path).is_none());
        std::fs::write(&path, format!("{}\n{}\n{{\"type\":\"assistant\"", used("t1", "ls"), result("t1"))).unwrap();
        assert_eq!(last_words(&path).as_deref(), Some("I look"));
    }
}
