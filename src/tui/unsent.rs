//! What the person typed and has not sent: messages to Claude, messages of commits, new tickets. Kept between starts.
//!
//! Does not own the dialogs in which it is typed, nor the files in which it is kept (`cli::unsent`).

use crate::domain::ticket::TicketKey;
use crate::domain::ticket::draft::Draft;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The texts of one ticket, or of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Texts {
    /// For Claude.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Of a commit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// A new ticket of the directory.
    #[serde(skip_serializing_if = "Draft::is_empty")]
    pub ticket: Draft,
}

impl Texts {
    pub fn is_empty(&self) -> bool {
        self.message.trim().is_empty() && self.commit.trim().is_empty() && self.ticket.is_empty()
    }
}

/// The texts by the file of their ticket, or by the directory.
#[derive(Clone, Debug, Default)]
pub struct Unsent {
    texts: BTreeMap<String, Texts>,
    /// Whose differ from what is kept on the disk.
    changed: BTreeSet<String>,
    /// Whose could not be kept there.
    failed: BTreeSet<String>,
}

impl Unsent {
    /// As they were kept.
    pub fn new(texts: BTreeMap<String, Texts>) -> Self {
        Self { texts, ..Self::default() }
    }

    /// The message to Claude that was begun.
    pub fn message(&self, ticket: &TicketKey) -> &str {
        self.texts.get(ticket.file()).map_or("", |texts| &texts.message)
    }

    pub fn keep_message(&mut self, ticket: &TicketKey, text: String) {
        self.change(ticket.file(), |texts| texts.message = text);
    }

    /// Takes back one that was not sent after all, unless another one has been begun.
    pub fn return_message(&mut self, ticket: &TicketKey, text: &str) {
        if self.message(ticket).trim().is_empty() {
            self.keep_message(ticket, text.to_owned());
        }
    }

    /// The message of a commit that was begun.
    pub fn commit(&self, ticket: &TicketKey) -> &str {
        self.texts.get(ticket.file()).map_or("", |texts| &texts.commit)
    }

    pub fn keep_commit(&mut self, ticket: &TicketKey, text: String) {
        self.change(ticket.file(), |texts| texts.commit = text);
    }

    /// The new ticket that was begun in this directory.
    pub fn ticket(&self, directory: &str) -> Draft {
        self.texts.get(directory).map(|texts| texts.ticket.clone()).unwrap_or_default()
    }

    pub fn keep_ticket(&mut self, directory: &str, draft: Draft) {
        self.change(directory, |texts| texts.ticket = draft);
    }

    /// What has changed since this was last asked, with whose it is.
    pub fn take_changed(&mut self) -> Vec<(String, Texts)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|of| (of.clone(), self.texts.get(&of).cloned().unwrap_or_default())).collect()
    }

    /// The texts of this one could not be written.
    pub fn not_kept(&mut self, of: String) {
        self.failed.insert(of);
    }

    /// What could not be kept has changed still.
    pub fn try_again(&mut self) {
        self.changed.append(&mut self.failed);
    }

    /// The messages to Claude that were not sent, and whether each is kept on the disk.
    pub fn messages(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let begun = self.texts.iter().filter(|(_, texts)| !texts.message.trim().is_empty());
        begun.map(|(of, texts)| (of.as_str(), texts.message.as_str(), !self.failed.contains(of)))
    }

    fn change(&mut self, of: &str, change: impl FnOnce(&mut Texts)) {
        let old = self.texts.remove(of).unwrap_or_default();
        let mut new = old.clone();
        change(&mut new);
        if new != old {
            self.changed.insert(of.to_owned());
        }
        if !new.is_empty() {
            self.texts.insert(of.to_owned(), new);
        }
    }
}
