//! Tickets that wait to be started here. They hold nothing: of what waits when the program ends, nothing is left.

use crate::adapters::store::Store;
use crate::adapters::tickets::{self, Places};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::queue::{self, Dep, Hold, Next, Queued, Rank, Slots};
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
    /// Nothing more is started once a ticket has failed.
    pub(super) halts: bool,
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

/// What the queue asks about other tickets.
pub(super) struct Around<'a> {
    /// The ticket in a file.
    pub(super) ticket: &'a dyn Fn(&Path) -> TicketKey,
    /// Its run is open, in this program or another.
    pub(super) is_at_work: &'a dyn Fn(&TicketKey, &Path) -> bool,
    /// What its last run left behind is still being cleared away.
    pub(super) is_ending: &'a dyn Fn(&TicketKey) -> bool,
}

/// In which order tickets would be started.
#[derive(Debug, Default)]
pub struct Foretold {
    pub order: Vec<Turn>,
    /// Those that would not be, and why.
    pub left: Vec<(TicketKey, PathBuf, String)>,
}

/// A ticket that would be started.
#[derive(Debug)]
pub struct Turn {
    pub ticket: TicketKey,
    pub path: PathBuf,
    /// Those of the order that must be closed before.
    pub after: Vec<TicketKey>,
    /// Why it would wait for something else, whatever becomes of the order.
    pub waits: Option<String>,
}

/// The order in which the tickets in these files would be started, if each is closed when its turn is over.
pub fn foretell(paths: &[PathBuf], store: &Store) -> Foretold {
    let mut queue = Queue::of(None, false);
    let of = |path: &Path| {
        let name = || TicketId::from_file_name(&path.file_stem().unwrap_or_default().to_string_lossy());
        TicketKey::new(tickets::load(path).map_or_else(|_| name(), |ticket| ticket.id), path)
    };
    for path in paths {
        if queue.has(path) {
            continue;
        }
        queue.given += 1;
        let (asked, reply, told) = Default::default();
        let (ticket, path) = (of(path), path.clone());
        queue.entries.push(Entry { ticket, path, given: queue.given, asked, reply, told });
    }
    let mut waiting = queue.looked_at(&Around {
        ticket: &of,
        is_at_work: &|_, path| store.ticket_holder(path).is_ok_and(|who| who.is_some()),
        is_ending: &|_| false,
    });
    let file: HashMap<TicketKey, PathBuf> = queue.entries.into_iter().map(|entry| (entry.ticket, entry.path)).collect();
    let path_of = |ticket: &TicketKey| file.get(ticket).cloned().unwrap_or_default();
    let mut foretold = Foretold::default();
    let free = Slots::default();
    let mut after: HashMap<TicketKey, Vec<TicketKey>> = HashMap::new();
    while let Some(next) = queue::next(&waiting, free) {
        match next {
            Next::Start(ticket) => {
                waiting.retain(|queued| queued.ticket != ticket);
                for queued in &mut waiting {
                    for (dep, how) in queued.deps.iter_mut().filter(|(dep, _)| *dep == ticket) {
                        *how = Dep::Closed;
                        after.entry(queued.ticket.clone()).or_default().push(dep.clone());
                    }
                }
                let (path, after) = (path_of(&ticket), after.remove(&ticket).unwrap_or_default());
                foretold.order.push(Turn { ticket, path, after, waits: None });
            }
            Next::Leave(all) => {
                waiting.retain(|queued| all.iter().all(|(ticket, _)| *ticket != queued.ticket));
                foretold.left.extend(all.into_iter().map(|(ticket, why)| (ticket.clone(), path_of(&ticket), why)));
            }
        }
    }
    foretold.order.extend(waiting.into_iter().map(|queued| {
        let (path, waits) = (path_of(&queued.ticket), Some(queue::reason(&queued, free)));
        let after = after.remove(&queued.ticket).unwrap_or_default();
        Turn { ticket: queued.ticket, path, after, waits }
    }));
    foretold
}

impl Queue {
    pub(super) fn of(most: Option<usize>, halts: bool) -> Self {
        Self { most, halts, ..Self::default() }
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

    /// Every ticket that waits, as its file and its deps are now.
    pub(super) fn looked_at(&mut self, around: &Around<'_>) -> Vec<Queued> {
        let of = |entry: &Entry| (entry.ticket.clone(), entry.path.clone(), entry.given, entry.told.is_some());
        let entries: Vec<_> = self.entries.iter().map(of).collect();
        let look = |(ticket, path, given, has_waited): (TicketKey, PathBuf, u64, bool)| {
            let ending = (around.is_ending)(&ticket).then_some(Hold::Ending);
            match self.read(&path, has_waited) {
                Ok(read) => {
                    let folder = path.parent().unwrap_or(Path::new("/"));
                    let deps = read.deps.iter().map(|id| match self.dep(folder, id) {
                        Ok(path) => self.stands(&path, around),
                        Err(what) => (TicketKey::unknown(id), Dep::Missing(what)),
                    });
                    Queued { deps: deps.collect(), rank: Rank::of(&read, given), hold: ending, ticket }
                }
                Err(hold) => Queued { deps: Vec::new(), rank: Rank::last(given), hold: Some(hold), ticket },
            }
        };
        entries.into_iter().map(look).collect()
    }

    fn stands(&mut self, path: &Path, around: &Around<'_>) -> (TicketKey, Dep) {
        let ticket = (around.ticket)(path);
        let is_at_work = (around.is_at_work)(&ticket, path);
        // Whoever works on it may close it between the two looks: the ticket has the last word.
        let dep = match self.read(path, true) {
            Ok(read) if read.is_closed() => Dep::Closed,
            _ if is_at_work => Dep::AtWork,
            Ok(_) => Dep::Open,
            Err(Hold::Unreadable(why)) => Dep::Unfinished(why),
            Err(_) => Dep::Unread,
        };
        (ticket, dep)
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
    Some(format!("{} has an error in line {}: {}", shown(), broken.line, clean_line(&broken.message, 200)))
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
        let mut queue = Queue::of(None, false);
        let unread = |held: Result<Ticket, Hold>| match held {
            Err(Hold::Unread(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(unread(queue.read(&path, true)).contains("no file "));
        fs::write(&path, "").unwrap();
        assert!(unread(queue.read(&path, true)).ends_with("tk-1.md is empty"));
        assert!(queue.read(&path, false).is_ok(), "whoever opens it says what is wrong with it");
        fs::write(&path, "---\nid: tk-1\ndeps: [tk-").unwrap();
        assert!(unread(queue.read(&path, true)).contains("has an error in line"));
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
    fn a_dependency_that_is_not_filled_in_is_no_wrong_dependency() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("tk-1.md");
        let phase = crate::domain::ticket::TEMPLATE_PHASE;
        fs::write(&path, format!("---\nid: tk-1\nstatus: open\n---\n# T\n- [ ] {phase}\n")).unwrap();
        let mut queue = Queue::of(None, false);
        queue.unread.insert(path.clone(), Instant::now().checked_sub(PATIENCE).unwrap());
        let around = Around {
            ticket: &|path| TicketKey::new(crate::base::id::TicketId::parse("tk-1").unwrap(), path),
            is_at_work: &|_, _| false,
            is_ending: &|_| false,
        };
        let Dep::Unfinished(why) = queue.stands(&path, &around).1 else { panic!("it is there") };
        assert!(why.contains("replace the placeholder phase"), "{why}");
    }

    #[test]
    fn a_ticket_that_is_taken_out_is_waited_for_anew_the_next_time() {
        let path = PathBuf::from("/nowhere/tk-1.md");
        let mut queue = Queue::of(None, false);
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
        let mut queue = Queue::of(None, false);
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
