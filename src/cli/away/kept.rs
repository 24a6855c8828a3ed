//! What the relay has asked on the phone: kept in the state folder, so that a relay that was killed goes on where it was, and
//! with what it has sent, for the person to read.

use crate::adapters::private_file::{self, PrivateFileError};
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::approval::{ApprovalKind, QuestionId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How many messages whose question is closed are remembered, for those who answer late.
const CLOSED: usize = 100;
/// How many ends of runs are remembered.
const ENDS: usize = 1_000;
/// Bytes from which on less is kept of each message: no private file of more than 1 MiB is read.
const LONG: usize = 800_000;

/// All of it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The bot and the chat: all numbers here are of theirs.
    place: (String, i64),
    /// When the bot's messages were heard last, by the minute; `None`: never.
    pub heard: Option<Timestamp>,
    /// Since when the phone is asked: what ended before is not told.
    pub since: Option<Timestamp>,
    /// Why the relay has stopped by itself.
    pub stopped: Option<String>,
    /// The first update that has not been heard.
    pub offset: i64,
    /// The questions on the phone, the oldest first.
    pub asked: Vec<Asked>,
    /// How many ends of each run are told or need not be.
    pub told_ends: BTreeMap<RunId, u32>,
    /// The same of an earlier version: the runs all of whose ends were told when it ran.
    pub ended: BTreeSet<RunId>,
    /// The messages that told of the last ends, and of which run: a reply to one goes on with it.
    pub ends: Vec<(i64, RunId)>,
    /// What Claude's last words in sessions of the person's own were that were told.
    pub noticed: Vec<Noticed>,
    /// The messages that told of an end that can be answered.
    pub end_messages: Vec<EndMessage>,
    /// The messages that list several questions, as long as one of those waits.
    pub bursts: Vec<Burst>,
    /// What the file says.
    #[serde(skip)]
    written: String,
}

/// Something that Claude has told in a session of the person's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Noticed {
    pub session: TicketId,
    pub words: String,
    pub at: Timestamp,
}

/// A question on the phone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// The message that asks.
    pub message: i64,
    pub is_file: bool,
    pub run: RunId,
    pub ticket: TicketId,
    /// The question of Claude's; `None`: it is the decision of this name.
    pub question: Option<QuestionId>,
    #[serde(default)]
    pub decision: String,
    #[serde(default)]
    pub kind: Option<ApprovalKind>,
    /// What the message says, without how it is answered.
    pub text: String,
    /// When the person was told that no program works on its run.
    #[serde(default)]
    pub orphaned: Option<Timestamp>,
    /// It can be answered with a yes there.
    pub can_allow: bool,
    /// The messages that repeated it.
    #[serde(default)]
    pub repeated: Vec<i64>,
    /// The messages that asked for words of a denial.
    #[serde(default)]
    pub prompts: Vec<i64>,
    pub repeats: u32,
    pub told: Timestamp,
    /// When it was sent.
    #[serde(default)]
    pub sent: Timestamp,
    /// How it came to its end, and whether the message says so.
    pub end: Option<Over>,
    /// When the relay had heard of that.
    #[serde(default)]
    pub ended: Timestamp,
    pub is_edited: bool,
}

/// A message that told of a run's end, and that it can be answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndMessage {
    pub message: i64,
    pub run: RunId,
    /// The end, as the queue calls it.
    pub name: String,
    pub text: String,
    /// When the run had last changed when it was looked at.
    pub updated: Timestamp,
    /// It says what was answered, and its buttons are gone; or it had none.
    #[serde(default)]
    pub is_closed: bool,
}

/// A message that lists several questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Burst {
    pub message: i64,
    /// The messages of the questions, in the order of the list.
    pub parts: Vec<i64>,
    /// What it says.
    pub shown: String,
}

/// How a question came to its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Over {
    pub words: String,
    /// With a yes.
    pub is_agreed: bool,
}

impl Over {
    /// Without a yes.
    pub fn without(words: &str) -> Self {
        Self { words: words.to_owned(), is_agreed: false }
    }

    /// What is told to whoever answers now.
    pub fn too_late(&self) -> String {
        format!("Too late: {}", self.words)
    }
}

impl Asked {
    /// It still waits, as far as is known.
    pub fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// One of its messages.
    pub fn has(&self, message: i64) -> bool {
        self.message == message || self.repeated.contains(&message) || self.prompts.contains(&message)
    }
}

impl Kept {
    fn path(state: &Path) -> PathBuf {
        state.join("away.json")
    }

    /// What was kept in this state folder; a file that cannot be read or understood counts for nothing.
    pub fn read(state: &Path) -> Self {
        let text = private_file::read(&Self::path(state)).unwrap_or_else(|error| {
            tracing::warn!(%error, "the list of questions on the phone was lost");
            None
        });
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// What was kept of this bot and this chat: of others nothing.
    pub fn of(state: &Path, bot: &str, chat: i64) -> Self {
        let place = (bot.to_owned(), chat);
        let kept = Self::read(state);
        if kept.place == place { kept } else { Self { place, ..Self::default() } }
    }

    /// Keeps it, where it has changed.
    pub fn write(&mut self, state: &Path) -> Result<(), PrivateFileError> {
        let mut over = self.asked.iter().filter(|asked| !asked.is_open() && asked.is_edited).count();
        self.asked.retain(|asked| {
            let is_old = !asked.is_open() && asked.is_edited && over > CLOSED;
            over -= usize::from(is_old);
            !is_old
        });
        // Ids of runs grow with time.
        while self.told_ends.len() > ENDS {
            self.told_ends.pop_first();
        }
        self.ends.drain(..self.ends.len().saturating_sub(CLOSED));
        self.noticed.drain(..self.noticed.len().saturating_sub(CLOSED));
        self.end_messages.drain(..self.end_messages.len().saturating_sub(CLOSED));
        self.bursts.drain(..self.bursts.len().saturating_sub(CLOSED));
        let mut text = serde_json::to_string(self).unwrap_or_default();
        if text.len() > LONG {
            // Of so many only the first lines are shown again.
            self.asked
                .iter_mut()
                .for_each(|asked| asked.text.truncate(asked.text.find('\n').unwrap_or(asked.text.len())));
            text = serde_json::to_string(self).unwrap_or_default();
        }
        if text != self.written {
            private_file::write(&Self::path(state), &text)?;
            self.written = text;
        }
        Ok(())
    }

    /// Of those that have come to their end it was heard now, at the latest.
    pub fn date_ends(&mut self, now: Timestamp) {
        let is_new = |asked: &&mut Asked| !asked.is_open() && asked.ended == Timestamp::default();
        self.asked.iter_mut().filter(is_new).for_each(|asked| asked.ended = now);
    }

    /// The questions that wait for an answer.
    pub fn open(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().filter(|asked| asked.is_open())
    }
}
