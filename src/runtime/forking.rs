//! Forking a ticket from one of its snapshots: first a worktree with the files of the snapshot, then a new ticket, whose file
//! makes it one. There is no record of it: a worktree that a program which was killed has left without a ticket is taken up by
//! the next try, or moved aside where it is half made, as any worktree is.

use crate::adapters::git::worktree::{self, Files};
use crate::adapters::git::{Beginning, WorkTree};
use crate::adapters::room::Room;
use crate::adapters::store::{Holder, Store};
use crate::adapters::tickets;
use crate::base::id::TicketId;
use crate::base::time::Clock;
use crate::domain::fork::Forked;
use crate::domain::ticket::fork::{Fork, Ticks};
use crate::domain::timeline::contents::Contents;
use crate::domain::workspace::Workspace;
use crate::domain::worktree::Worktree;
use crate::runtime::supervisor::{Rules, for_fork};
use crate::runtime::ticket_runs::of_ticket;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::block_in_place;

/// The ticket that is forked.
pub struct Origin<'a> {
    pub ticket: &'a TicketId,
    /// Its file.
    pub path: &'a Path,
    /// The directory that its runs are started in.
    pub home: &'a Path,
    /// Where its snapshots are.
    pub tree: &'a WorkTree,
    /// The branch that its own worktree's work goes into.
    pub base: Option<String>,
    /// The folder that new tickets are made in.
    pub tickets: PathBuf,
}

/// What it is done with.
pub struct Forking {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub rules: Rules,
}

impl Forking {
    /// Forks it. `id`: of the new ticket; empty: any. Words for the person where it is not done, and then nothing is left of it.
    pub async fn fork(&self, origin: Origin<'_>, snapshot: &str, id: &str) -> Result<Forked, String> {
        let beginning = origin.tree.beginning(origin.ticket, snapshot).await?;
        let home = Workspace::shared(std::fs::canonicalize(origin.home).unwrap_or_else(|_| origin.home.to_owned()));
        let (config, _) = (self.rules)(&home)?;
        let folder = block_in_place(|| made_folder(&origin.tickets))?;
        let id = block_in_place(|| new_id(&origin, &beginning, id, (home.home(), &folder)))?;
        let path = folder.join(format!("{id}.md"));
        let holder = Holder { pid: std::process::id(), ticket: id.clone(), run: None, since: self.clock.now() };
        // Nobody else makes it, or runs it before all of it is there.
        let _lock = block_in_place(|| self.store.lock_ticket(&path, &holder)).map_err(|error| error.to_string())?;
        is_new(&path)?;
        let boxes = block_in_place(|| self.boxes(&origin, &beginning))?;
        let text = block_in_place(|| self.text(&origin, (&id, &beginning), boxes.as_ref()))?;
        let own = for_fork(&home, &config, &id, origin.base.clone())?;
        worktree::is_free(&own.top, &path)?;
        let workspace = home.in_worktree(Some(own.clone()));
        // Nobody's work: tickets are the person's, also their copies there.
        let outside = [origin.path, &path, &folder];
        let tickets = outside.into_iter().filter(|path| !workspace.home().starts_with(path));
        let ours = [workspace.directory(), &own.top].map(|folder| folder.join(".programmator"));
        let exclude = tickets.filter_map(|path| workspace.copy_of(path)).chain(ours).collect();
        let keep = tempfile::tempdir().map_err(|error| error.to_string())?;
        let files = Files { beginning: &beginning, exclude, keep: keep.path() };
        let on = own.top.ancestors().find(|folder| folder.is_dir()).unwrap_or(&own.top).to_owned();
        let room = Room { folder: on, reserve: config.storage.reserve };
        let found = worktree::make_with(&own, &path, &room, &files).await?;
        if let Err(error) = block_in_place(|| tickets::write_new(&path, &text)) {
            let why = format!("{} cannot be written: {error}", path.display());
            // What was found there already is not ours to remove.
            let is_new = !found.notes.is_empty();
            return Err(if is_new { undone(&own, &beginning, found.is_new_branch, why).await } else { why });
        }
        let Worktree { top, branch, .. } = own;
        Ok(Forked {
            ticket: id.to_string(),
            path,
            worktree: top,
            branch,
            base: beginning.base().to_owned(),
            of: origin.ticket.to_string(),
            snapshot: beginning.snapshot.pick,
            reopened: boxes.map(|boxes| boxes.opened),
        })
    }

    /// The boxes as the journals of the ticket's runs say that they were.
    fn boxes(&self, origin: &Origin<'_>, beginning: &Beginning) -> Result<Option<Ticks>, String> {
        let runs = self.store.runs().map_err(|error| error.to_string())?;
        let runs = of_ticket(runs, &origin.path.display().to_string());
        let mut records = Vec::new();
        for run in runs {
            records.extend(self.store.load(run.run).map_err(|error| error.to_string())?.records);
        }
        let file = tickets::load(origin.path).map_err(|error| error.to_string())?;
        let now = file.phases.into_iter().filter(|phase| phase.done).map(|phase| phase.text).collect();
        Ok(Contents::of(records).boxes_at(&beginning.snapshot.key(), &now))
    }

    fn text(
        &self,
        origin: &Origin<'_>,
        (id, beginning): (&TicketId, &Beginning),
        boxes: Option<&Ticks>,
    ) -> Result<Vec<u8>, String> {
        let bytes = tickets::read(origin.path).map_err(|error| error.to_string())?;
        let name = origin.path.file_name().unwrap_or_default().to_string_lossy();
        let (pick, now) = (&beginning.snapshot.pick[..], self.clock.now());
        Fork { id, of: origin.ticket, pick, boxes, now }.text(&bytes, &name)
    }
}

/// Removes the worktree again.
async fn undone(own: &Worktree, beginning: &Beginning, is_new_branch: bool, why: String) -> String {
    match worktree::unmake(own, beginning, is_new_branch).await {
        Ok(()) => why,
        Err(left) => format!("{why}; its worktree {} remains: {left}", own.top.display()),
    }
}

fn made_folder(folder: &Path) -> Result<PathBuf, String> {
    let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::canonicalize(folder));
    made.map_err(|error| format!("{}: {error}", folder.display()))
}

fn new_id(
    origin: &Origin<'_>,
    beginning: &Beginning,
    wanted: &str,
    (home, folder): (&Path, &Path),
) -> Result<TicketId, String> {
    if wanted.is_empty() {
        let what = format!("{}\0{}", origin.path.display(), beginning.snapshot.key());
        return tickets::id_for(&what, home, folder).ok_or_else(|| "no free id: set one".to_owned());
    }
    let id = TicketId::parse(wanted).map_err(|error| error.to_string())?;
    let listed = tickets::list(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    match listed.iter().find(|one| one.ticket.as_ref().is_ok_and(|ticket| ticket.id == id)) {
        Some(one) => Err(format!("a ticket {id} already exists: {}", one.path.display())),
        None => Ok(id),
    }
}

fn is_new(path: &Path) -> Result<(), String> {
    match path.symlink_metadata() {
        Ok(_) => Err(format!("{} already exists: choose another id", path.display())),
        Err(_) => Ok(()),
    }
}
