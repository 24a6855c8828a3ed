//! Tickets that wait to be started here. They hold nothing: of what waits when the program ends, nothing is left.

use crate::adapters::tickets::{self, Places};
use crate::base::text::clean_line;
use crate::domain::queue::Hold;
use crate::domain::request::Reply;
use crate::domain::ticket::{Severity, Ticket, TicketKey};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How often is looked whether what others do has let a ticket start.
pub(super) const LOOK: Duration = Duration::from_secs(1);
/// How long a file may be unreadable before it is given up: somebody may be writing it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The tickets that wait.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) entries: Vec<Entry>,
    /// How many runs may be open at once.
    pub(super) most: Option<usize>,
    pub(super) given: u64,
    /// The files of tickets that others depend on, by folder and id, as far as they are found.
    pub(super) files: HashMap<(PathBuf, String), PathBuf>,
    /// The files that could not be read at the last look, and since when.
    unread: HashMap<PathBuf, Instant>,
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
        let entry = self.entries.remove(at);
        self.unread.remove(&entry.path);
        Some(entry)
    }

    /// A ticket as its file is now. `before`: it could be read before, so that one that is empty or broken is just being
    /// written, most likely.
    pub(super) fn read(&mut self, path: &Path, before: bool) -> Result<Ticket, Hold> {
        let why = match tickets::load(path) {
            Ok(ticket) => match unfinished(&ticket, path).filter(|_| before && !ticket.is_closed()) {
                None => {
                    self.unread.remove(path);
                    return Ok(ticket);
                }
                Some(why) => why,
            },
            Err(error) if error.is_lasting() => return Err(Hold::Unreadable(error.to_string())),
            Err(error) => error.to_string(),
        };
        let since = *self.unread.entry(path.to_owned()).or_insert_with(Instant::now);
        Err(if since.elapsed() < PATIENCE { Hold::Unread(why) } else { Hold::Unreadable(why) })
    }

    /// Nothing waits any more.
    pub(super) fn rest(&mut self) {
        self.files.clear();
        self.unread.clear();
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

/// What a ticket looks like while it is being written.
fn unfinished(ticket: &Ticket, path: &Path) -> Option<String> {
    let shown = || clean_line(&path.display().to_string(), 300);
    if fs::metadata(path).is_ok_and(|data| data.len() == 0) {
        return Some(format!("{} is empty", shown()));
    }
    let broken = ticket.problems.iter().find(|problem| problem.severity == Severity::Error)?;
    Some(format!("{} is broken at line {}: {}", shown(), broken.line, clean_line(&broken.message, 200)))
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
    fn a_file_that_is_just_being_written_is_waited_for_but_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("tk-1.md");
        let mut queue = Queue::of(None);
        let unread = |held: Result<Ticket, Hold>| match held {
            Err(Hold::Unread(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(unread(queue.read(&path, true)).contains("there is no file"));
        fs::write(&path, "").unwrap();
        assert!(unread(queue.read(&path, true)).ends_with("tk-1.md is empty"));
        assert!(queue.read(&path, false).is_ok(), "whoever opens it says what is wrong with it");
        fs::write(&path, "---\nid: tk-1\ndeps: [tk-").unwrap();
        assert!(unread(queue.read(&path, true)).contains("is broken at line"));
        queue.unread.insert(path.clone(), Instant::now().checked_sub(PATIENCE).unwrap());
        assert!(matches!(queue.read(&path, true), Err(Hold::Unreadable(_))));
        fs::write(&path, "---\nid: tk-1\ndeps: [tk-2]\n---\n# T\n").unwrap();
        assert_eq!(queue.read(&path, true).unwrap().deps, ["tk-2"]);
        assert!(queue.unread.is_empty(), "the next time begins anew");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(queue.read(&path, true), Err(Hold::Unreadable(_))), "that will not pass");
    }

    #[test]
    fn a_ticket_that_is_taken_out_is_waited_for_anew_the_next_time() {
        let path = PathBuf::from("/nowhere/tk-1.md");
        let mut queue = Queue::of(None);
        let ticket = TicketKey::new(crate::base::id::TicketId::parse("tk-1").unwrap(), &path);
        let (asked, reply, told) = Default::default();
        queue.entries.push(Entry { ticket: ticket.clone(), path: path.clone(), given: 0, asked, reply, told });
        queue.unread.insert(path, Instant::now());
        queue.take(&ticket).unwrap();
        assert!(queue.unread.is_empty());
    }

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
