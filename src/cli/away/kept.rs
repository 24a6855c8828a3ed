//! What the relay has asked on the phone: kept in the state folder, so that a relay that was killed goes on where it was, and
//! with what it has sent, for the person to read.

use crate::adapters::private_file::{self, PrivateFileError};
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::approval::QuestionId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How many messages whose question is closed are remembered, for those who answer late.
const CLOSED: usize = 100;
/// How many ends of runs are remembered.
const ENDS: usize = 1_000;

/// All of it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The first update that has not been heard.
    pub offset: i64,
    /// The questions on the phone, the oldest first.
    pub asked: Vec<Asked>,
    /// The runs whose end was told.
    pub ended: BTreeSet<RunId>,
    /// What the file says.
    #[serde(skip)]
    written: String,
}

/// A question on the phone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// The message that asks.
    pub message: i64,
    pub is_file: bool,
    pub run: RunId,
    pub ticket: TicketId,
    /// The question; `None`: what only a screen answers, in these words.
    pub question: Option<QuestionId>,
    /// What the message says.
    pub text: String,
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
    /// How it came to its end, and whether the message says so.
    pub end: Option<String>,
    pub is_edited: bool,
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

    /// What was kept in this state folder; a file that cannot be understood counts for nothing.
    pub fn read(state: &Path) -> Result<Self, PrivateFileError> {
        let text = private_file::read(&Self::path(state))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
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
        while self.ended.len() > ENDS {
            self.ended.pop_first();
        }
        let text = serde_json::to_string(self).unwrap_or_default();
        if text != self.written {
            private_file::write(&Self::path(state), &text)?;
            self.written = text;
        }
        Ok(())
    }

    /// The questions that wait for an answer.
    pub fn open(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().filter(|asked| asked.is_open())
    }
}
