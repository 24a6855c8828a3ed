//! Tickets that wait to be started here. They hold nothing: of what waits when the program ends, nothing is left.

use crate::adapters::tickets::{self, Places};
use crate::base::text::clean_line;
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
    /// The files of tickets that others depend on, by folder and id, as far as they are found.
    pub(super) files: HashMap<(PathBuf, String), PathBuf>,
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

    /// The file of a ticket that others in the folder depend on, or what is there instead.
    pub(super) fn dep(&mut self, folder: &Path, id: &str) -> Result<PathBuf, String> {
        let key = (folder.to_owned(), id.to_owned());
        if let Some(path) = self.files.get(&key) {
            return Ok(path.clone());
        }
        let path = file_of(folder, id)?;
        self.files.insert(key, path.clone());
        Ok(path)
    }
}

fn file_of(folder: &Path, id: &str) -> Result<PathBuf, String> {
    let places = Places { folder: folder.to_owned(), tickets_dir: Some(folder.to_owned()), home: None };
    // Not one whose id only begins so.
    let is_it = |path: &PathBuf| tickets::load(path).is_ok_and(|ticket| ticket.id.as_str() == id);
    if let Some(path) = tickets::find(&format!("{id}.md"), &places).ok().filter(is_it) {
        return Ok(path);
    }
    let listed = tickets::list(folder).unwrap_or_default().into_iter();
    let mut named = listed.filter(|one| one.ticket.as_ref().is_ok_and(|ticket| ticket.id.as_str() == id));
    let shown = clean_line(&folder.display().to_string(), 1_000);
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one.path),
        (None, _) => Err(format!("no ticket in {shown}")),
        (Some(_), Some(_)) => Err(format!("the id of several tickets in {shown}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_found_is_looked_for_again_and_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let write = |name: &str, id: &str| std::fs::write(at.join(name), format!("---\nid: {id}\n---\n# T\n")).unwrap();
        let mut queue = Queue::of(None);
        write("tk-10.md", "tk-10");
        assert_eq!(queue.dep(&at, "tk-1"), Err(format!("no ticket in {}", at.display())));
        write("one.md", "tk-1");
        write("two.md", "tk-1");
        assert_eq!(queue.dep(&at, "tk-1"), Err(format!("the id of several tickets in {}", at.display())));
        std::fs::remove_file(at.join("two.md")).unwrap();
        assert_eq!(queue.dep(&at, "tk-1"), Ok(at.join("one.md")));
        assert_eq!(queue.dep(&at, "tk-10"), Ok(at.join("tk-10.md")));
    }
}
