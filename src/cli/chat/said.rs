//! Claude's words in the turn that is under way: they come before a question about a call, and only once.

use crate::domain::scrollback::{Entry, EntryKind, Scrollback};
use crate::domain::stream::envelope::{Envelope, decode};
use crate::domain::stream::turn::TurnReader;
use std::sync::Arc;

/// What of the turn has been printed. Each record is read once.
#[derive(Default)]
pub(super) struct Said {
    /// What Claude prints in the chat.
    pub(super) scrollback: Option<Arc<dyn Scrollback>>,
    /// The iteration.
    n: u32,
    /// How many of its records were read.
    seen: usize,
    turn: TurnReader,
    printed: String,
}

impl Said {
    /// Another iteration begins.
    pub(super) fn begins(&mut self, n: u32) {
        *self = Self { scrollback: self.scrollback.take(), n, ..Self::default() };
    }

    /// What Claude has said so far and was not printed.
    pub(super) fn so_far(&mut self) -> String {
        self.read();
        let said = self.turn.text().trim().to_owned();
        let new = self.rest_of(&said);
        self.printed = said;
        new
    }

    /// What of the turn's words was not printed.
    pub(super) fn rest_of(&self, text: &str) -> String {
        text.strip_prefix(&self.printed).unwrap_or(text).trim().to_owned()
    }

    /// The turn is over.
    pub(super) fn ends(&mut self) {
        self.printed.clear();
    }

    /// Reads the main agent's words up to now, since the last turn ended.
    fn read(&mut self) {
        let Some(scrollback) = &self.scrollback else { return };
        let mut entries: Vec<Entry> = Vec::new();
        scrollback.entries(self.n, self.seen..scrollback.len(self.n), &mut entries);
        for entry in entries {
            match entry.kind {
                EntryKind::Result => self.turn = TurnReader::default(),
                EntryKind::Assistant => {
                    // It is tried again at the next question.
                    let Ok(line) = scrollback.read(self.n, entry, entry.len()) else { return };
                    if let Some(envelope) = Envelope::parse(&decode(&line)) {
                        self.turn.assistant(&envelope);
                    }
                }
                _ => {}
            }
            self.seen += 1;
        }
    }
}
