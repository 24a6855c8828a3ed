//! Everything that is sent to the phone, and what came back: a log in the state folder, for the person to read.
//!
//! A line of JSON before something is sent, and one after it: what was sent by a program that was killed has only the first.

use crate::adapters::bounded_log::{self, append};
use crate::adapters::telegram::{Bot, BotError, Button};
use crate::base::id::TicketId;
use crate::base::text::Clean;
use crate::base::time::{Clock, Timestamp};
use crate::cli::error::CliError;
use crate::domain::credentials::masked;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uuid::Uuid;

/// Most bytes of the log; what is older is kept once, beside it.
const LOG: u64 = 4 << 20;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    Sent,
    /// A message has other words now.
    Edited,
    /// Words for a moment, at a button.
    Told,
    /// From the person.
    Heard,
}

impl Deed {
    fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Edited => "edited",
            Self::Told => "told",
            Self::Heard => "heard",
        }
    }
}

/// One line of the log. `away log --json`: add, never rename.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    id: Uuid,
    pub time: Timestamp,
    pub what: Deed,
    pub ticket: Option<TicketId>,
    /// Without what looks like a credential.
    pub text: String,
    /// The content of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The message's number, or why there is none; `None`: it is not known.
    #[serde(default)]
    pub came: Option<String>,
}

/// What came of an entry.
#[derive(Serialize, Deserialize)]
struct After {
    id: Uuid,
    came: String,
}

/// The log.
#[derive(Clone)]
pub struct SentLog {
    path: PathBuf,
    clock: Arc<dyn Clock>,
}

impl SentLog {
    pub fn of(state: &Path, clock: Arc<dyn Clock>) -> Self {
        Self { path: state.join("phone.log"), clock }
    }

    /// Notes what the person has said.
    pub fn heard(&self, ticket: Option<&TicketId>, text: &str) {
        self.begin(Deed::Heard, ticket, text, None);
    }

    fn begin(&self, what: Deed, ticket: Option<&TicketId>, text: &str, file: Option<&str>) -> Uuid {
        let (id, time, ticket) = (Uuid::new_v4(), self.clock.now(), ticket.cloned());
        let (text, file) = (masked(text), file.map(masked));
        self.add(&Entry { id, time, what, ticket, text, file, came: None });
        id
    }

    /// Nobody waits in vain because of a full disk: what cannot be noted is sent all the same.
    fn add(&self, line: &impl Serialize) {
        let line = serde_json::to_string(line).unwrap_or_default();
        if let Err(error) = append(&self.path, &format!("{line}\n"), LOG) {
            tracing::warn!(%error, "messages to the phone cannot be logged");
        }
    }

    /// All that is there, the oldest first; lines that are not understood are left out.
    fn read(&self) -> Result<Vec<Entry>, CliError> {
        let bytes = bounded_log::read(&self.path)
            .map_err(|error| CliError::failure(format!("{}: {error}", self.path.display())))?;
        let (mut entries, mut at): (Vec<Entry>, BTreeMap<Uuid, usize>) = (Vec::new(), BTreeMap::new());
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(entry) = serde_json::from_slice::<Entry>(line) {
                at.insert(entry.id, entries.len());
                entries.push(entry);
            } else if let Ok(after) = serde_json::from_slice::<After>(line)
                && let Some(entry) = at.get(&after.id).and_then(|at| entries.get_mut(*at))
            {
                entry.came = Some(after.came);
            }
        }
        Ok(entries)
    }

    /// Prints the last entries, the oldest first.
    pub fn print(&self, out: &mut dyn Write, last: usize, json: bool) -> Result<(), CliError> {
        let all = self.read()?;
        let shown = &all[all.len().saturating_sub(last)..];
        if json {
            return Ok(writeln!(out, "{}", crate::base::json::pretty(&shown)?)?);
        }
        if all.is_empty() {
            writeln!(out, "Nothing has been sent to the phone yet.")?;
        }
        for Entry { time, what, ticket, text, file, came, .. } in shown {
            let ticket = ticket.as_ref().map_or("-", TicketId::as_str);
            let came = match (came, what) {
                (Some(came), _) => format!(": {}", Clean::new(came).as_str()),
                (None, Deed::Heard) => String::new(),
                (None, _) => ": outcome unknown".to_owned(),
            };
            writeln!(out, "{} UTC  {}  {ticket}{came}", time.second(), what.word())?;
            let file = file.iter().flat_map(|file| file.lines().map(|line| ("file", line)));
            for (of, line) in text.lines().map(|line| ("", line)).chain(file) {
                writeln!(out, "    {of}| {}", Clean::new(line).as_str())?;
            }
        }
        Ok(())
    }
}

/// A bot of which all is noted that it sends.
pub struct Sender<'a> {
    pub bot: &'a Bot,
    pub log: &'a SentLog,
    /// What it is about.
    pub ticket: Option<TicketId>,
}

impl Sender<'_> {
    /// As [`Bot::send`].
    pub fn send(&self, chat: i64, text: &str, buttons: &[Vec<Button>], answers: Option<i64>) -> Result<i64, BotError> {
        self.noted(Deed::Sent, text, None, || self.bot.send(chat, text, buttons, answers), |message| number(*message))
    }

    /// As [`Bot::ask_for_words`].
    pub fn ask_for_words(&self, chat: i64, text: &str) -> Result<i64, BotError> {
        self.noted(Deed::Sent, text, None, || self.bot.ask_for_words(chat, text), |message| number(*message))
    }

    /// As [`Bot::send_file`]; `caption` is its text.
    pub fn send_file(
        &self,
        chat: i64,
        (name, file): (&str, &str),
        caption: &str,
        buttons: &[Vec<Button>],
    ) -> Result<i64, BotError> {
        let send = || self.bot.send_file(chat, name, file, caption, buttons);
        self.noted(Deed::Sent, caption, Some(file), send, |message| number(*message))
    }

    /// As [`Bot::edit`].
    pub fn edit(&self, chat: i64, message: i64, text: &str, is_file: bool) -> Result<(), BotError> {
        let edit = || self.bot.edit(chat, message, text, is_file);
        self.noted(Deed::Edited, text, None, edit, |()| number(message))
    }

    /// As [`Bot::acknowledge`].
    pub fn acknowledge(&self, press: &str, words: &str) -> Result<(), BotError> {
        if words.is_empty() {
            return self.bot.acknowledge(press, words);
        }
        self.noted(Deed::Told, words, None, || self.bot.acknowledge(press, words), |()| "shown".to_owned())
    }

    fn noted<T>(
        &self,
        what: Deed,
        text: &str,
        file: Option<&str>,
        send: impl FnOnce() -> Result<T, BotError>,
        words: impl FnOnce(&T) -> String,
    ) -> Result<T, BotError> {
        let id = self.log.begin(what, self.ticket.as_ref(), text, file);
        let done = send();
        let came = match &done {
            Ok(said) => words(said),
            Err(error) => error.to_string(),
        };
        self.log.add(&After { id, came });
        done
    }
}

fn number(message: i64) -> String {
    format!("message {message}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::clock::SystemClock;

    #[test]
    fn it_is_the_owners_without_credentials_and_half_a_line_hides_no_other() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let log = SentLog::of(folder.path(), Arc::new(SystemClock));
        let id = log.begin(
            Deed::Sent,
            Some(&TicketId::parse("tk-1").unwrap()),
            "key ghp_abcdefghijklmnopqrstuvwx\u{1b}[2J",
            Some("diff"),
        );
        log.add(&After { id, came: "message 7".into() });
        append(&log.path, "{\"id\":", LOG).unwrap();
        log.heard(None, "no");
        let mut text = Vec::new();
        log.print(&mut text, 10, false).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("UTC  sent  tk-1: message 7\n    | key [masked]"), "{text}");
        assert!(text.contains("\n    file| diff\n") && text.ends_with("UTC  heard  -\n    | no\n"), "{text}");
        assert!(!text.contains('\u{1b}') && !std::fs::read_to_string(&log.path).unwrap().contains("ghp_"), "{text}");
        assert_eq!(std::fs::metadata(&log.path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut text = Vec::new();
        log.print(&mut text, 0, false).unwrap();
        assert!(text.is_empty());
        std::fs::remove_file(&log.path).unwrap();
        std::fs::create_dir(&log.path).unwrap();
        assert!(log.print(&mut text, 10, false).is_err() && text.is_empty());
    }
}
