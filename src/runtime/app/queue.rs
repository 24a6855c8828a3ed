//! Tickets that wait to be started here. They hold nothing: of what waits when the program ends, nothing is left.

use crate::adapters::tickets::{self, Places};
use crate::domain::request::Reply;
use crate::domain::ticket::TicketKey;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::oneshot;

/// How often is looked whether what others do has let a ticket start.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// The tickets that wait.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) entries: Vec<Entry>,
    /// How many runs may be open at once.
    pub(super) most: Option<usize>,
    pub(super) given: u64,
    /// The files of tickets that others depend on, by folder and id.
    pub(super) files: HashMap<(PathBuf, String), Option<PathBuf>>,
}

pub(super) struct Entry {
    pub(super) ticket: TicketKey,
    pub(super) path: PathBuf,
    pub(super) given: u64,
    /// What the person typed for it.
    pub(super) asked: Option<String>,
    /// Who waits for it; `None`: what comes of it is news.
    pub(super) reply: Option<oneshot::Sender<Reply>>,
    /// Why it waits, as it was told.
    pub(super) told: Option<String>,
}

impl Queue {
    pub(super) fn of(most: Option<usize>) -> Self {
        Self { most, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.entries.iter().any(|entry| entry.path == path)
    }

    pub(super) fn take(&mut self, ticket: &TicketKey) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.ticket == *ticket)?;
        Some(self.entries.remove(at))
    }

    pub(super) fn dep(&mut self, folder: &Path, id: &str) -> Option<PathBuf> {
        let find = || {
            let places = Places { folder: folder.to_owned(), tickets_dir: Some(folder.to_owned()), home: None };
            let path = tickets::find(&format!("{id}.md"), &places).or_else(|_| tickets::find(id, &places)).ok()?;
            // Not one whose id begins so.
            tickets::load(&path).is_ok_and(|ticket| ticket.id.as_str() == id).then_some(path)
        };
        self.files.entry((folder.to_owned(), id.to_owned())).or_insert_with(find).clone()
    }
}
