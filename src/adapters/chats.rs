//! Files of chats beside the runs: for each chat one in the place of a ticket, which a run needs, and for each session its
//! log, a JSON object per line, as Clanker keeps it.

use crate::adapters::clock::fresh_id;
use crate::adapters::private_file::{self, PrivateFileError, create_private};
use crate::base::time::Timestamp;
use crate::domain::chat::{MARK, UNTITLED};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes of a log. Its last lines, with the topics of the session, have room beyond that.
const LONGEST: u64 = 16 << 20;
const LAST: u64 = 64 << 10;

/// Their folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("chats")
}

/// Whether a ticket's file is that of a chat.
pub fn is_chat(state: &Path, ticket: &Path) -> bool {
    let folder = folder(state);
    let real = std::fs::canonicalize(&folder).unwrap_or(folder);
    ticket.parent() == Some(&real)
}

/// Makes the file of a new chat, and gives its path.
pub fn create(state: &Path) -> Result<PathBuf, PrivateFileError> {
    let mark: String = fresh_id().chars().filter(char::is_ascii_alphanumeric).rev().take(MARK).collect();
    let path = folder(state).join(format!("chat-{mark}.md"));
    private_file::write(&path, &format!("---\nid: chat-{mark}\n---\n# {UNTITLED}\n"))?;
    Ok(std::fs::canonicalize(&path).unwrap_or(path))
}

/// The log of one session of a chat. The file is made with its first line.
#[derive(Debug)]
pub struct ChatLog {
    folder: PathBuf,
    file: Option<File>,
    written: u64,
    /// Writing has failed in the middle of a line.
    torn: bool,
}

impl ChatLog {
    pub fn new(state: &Path) -> Self {
        Self { folder: folder(state), file: None, written: 0, torn: false }
    }

    /// Appends a line; one that has no room is left out. `is_last`: its topics, or its end.
    pub fn write(&mut self, now: Timestamp, line: &Value, is_last: bool) -> io::Result<()> {
        // Half a line stays alone: the next one is whole.
        let text = format!("{}{line}\n", if self.torn { "\n" } else { "" });
        let most = if is_last { LONGEST + LAST } else { LONGEST };
        let len = text.len() as u64;
        if self.written + len > most {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(open(&self.folder, now)?),
        };
        self.torn = true;
        file.write_all(text.as_bytes())?;
        (self.torn, self.written) = (false, self.written + len);
        Ok(())
    }
}

/// `2026-11-24T08-15-00_4242.jsonl`, in UTC; only the person can read it.
fn open(folder: &Path, now: Timestamp) -> io::Result<File> {
    create_private(folder)?;
    let name = now.second().replace(' ', "T").replace(':', "-");
    let own = std::process::id();
    let path = |more: u32| {
        let more = if more == 0 { String::new() } else { format!("-{more}") };
        folder.join(format!("{name}_{own}{more}.jsonl"))
    };
    // Two chats of one program may begin in the same second.
    let mut options = OpenOptions::new();
    options.append(true).create_new(true).mode(0o600);
    let taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    let opened = (0..100).map(|more| options.open(path(more)));
    opened.into_iter().find(|opened| !opened.as_ref().is_err_and(taken)).unwrap_or_else(|| options.open(path(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_log_is_private_named_by_time_and_process_and_bounded() {
        let state = tempfile::tempdir().unwrap();
        let mut log = ChatLog::new(state.path());
        let now = Timestamp::from_millis(1_795_000_000_000);
        let answer = json!({"ev": "llm", "text": "x".repeat(1 << 20)});
        for _ in 0..100 {
            log.write(now, &answer, false).unwrap();
        }
        log.write(now, &json!({"ev": "summary", "topics": ["a"]}), true).unwrap();
        let names: Vec<_> = std::fs::read_dir(folder(state.path())).unwrap().map(|at| at.unwrap().path()).collect();
        let [path] = &names[..] else { panic!("{names:?}") };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(name, format!("2026-11-18T11-06-40_{}.jsonl", std::process::id()));
        let data = path.metadata().unwrap();
        assert_eq!(data.permissions().mode() & 0o777, 0o600);
        assert!(data.len() <= LONGEST + LAST, "{}", data.len());
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.ends_with("{\"ev\":\"summary\",\"topics\":[\"a\"]}\n"), "what it was about has its place");
        ChatLog::new(state.path()).write(now, &json!({}), false).unwrap();
        assert_eq!(std::fs::read_dir(folder(state.path())).unwrap().count(), 2, "another session has another file");
    }

    #[test]
    fn a_chat_has_a_file_of_its_own_in_the_folder_of_chats() {
        let state = tempfile::tempdir().unwrap();
        let [one, other] = [create(state.path()).unwrap(), create(state.path()).unwrap()];
        assert!(one != other && is_chat(state.path(), &one) && !is_chat(state.path(), &state.path().join("tk-1.md")));
        assert_eq!(one.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
