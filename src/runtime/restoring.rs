//! Where files are restored from a snapshot for a person, what that would do, and what came of a restore whose program was
//! ended meanwhile.

mod others;

use crate::adapters::git::{Prepared, Snapshot, WorkTree};
use crate::adapters::store::Store;
use crate::adapters::tickets::{self, Carded};
use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::domain::restore::{OthersWork, Plan, RestoreIntended, RestoreSettled, Restored, WantedFiles};
use crate::domain::summary::RunSummary;
use crate::domain::timeline::contents::{Contents, Restores};
use crate::domain::workspace::Workspace;
use crate::runtime::ticket_runs::of_ticket;
use crate::runtime::timeline::journals;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::block_in_place;

/// Folders that have tickets and nothing else.
const TICKETS: [&str; 2] = [".tickets", "tickets"];

/// The folder that new tickets are made in by a person who is where a run was started.
pub type TicketsOf = Arc<dyn Fn(&Workspace) -> PathBuf + Send + Sync>;

/// Where a run's files are restored, and what of them never is.
pub struct Place {
    pub tree: WorkTree,
    pub exclude: Vec<PathBuf>,
    /// The worktree that the run had is gone: this is the person's own working tree.
    is_instead: bool,
    /// Knows the runs of other tickets.
    store: Option<Store>,
}

/// The run as its snapshots can be looked at now: where its worktree is gone, in the person's own working tree of the same
/// repository, which has them too.
#[must_use]
pub fn here(run: RunSummary) -> RunSummary {
    let worktree = run.worktree.clone().filter(|worktree| worktree.top.is_dir());
    RunSummary { worktree, ..run }
}

/// The run has worked in a worktree, which may have been removed since.
pub fn had_worktree(store: &Store, run: &RunSummary) -> bool {
    let intended = || store.records_of(run.run, &["worktree_intended"]);
    run.worktree.is_some() || intended().is_ok_and(|found| !found.is_empty())
}

/// The tickets of a folder that has other files, too: what says of itself that it is one and how it stands.
fn tickets_among(folder: &Path) -> Vec<PathBuf> {
    let (found, _) = tickets::cards(folder).unwrap_or_default();
    let is_ticket = |one: &Carded| !one.card.id.is_empty() && !one.card.status().is_empty();
    found.into_iter().filter(is_ticket).map(|one| one.path).collect()
}

impl Place {
    /// That of a run.
    pub async fn of(store: &Store, run: &RunSummary, tickets: &TicketsOf) -> Result<Self, String> {
        let had = had_worktree(store, run);
        let run = here(run.clone());
        let (workspace, ticket) = (run.workspace(), Path::new(&run.ticket_path));
        let folder = workspace.directory();
        if !folder.is_dir() {
            return Err(format!(
                "{} is gone: use `programmator restore` in another working tree of the repository",
                folder.display()
            ));
        }
        let tree = WorkTree::open(folder, &store.run_folder(run.run)).await.map_err(|error| error.to_string())?;
        let tickets = tickets(&workspace);
        let place = Self::at(tree, &workspace, ticket, &tickets);
        Ok(place.instead(had && run.worktree.is_none()).knowing(Some(store.clone())))
    }

    /// That of a ticket in this working tree. All tickets are the person's, also their copies in a worktree.
    pub fn at(tree: WorkTree, workspace: &Workspace, ticket: &Path, tickets: &Path) -> Self {
        let mut exclude = tree.excluded(ticket, workspace);
        let beside = ticket.parent().map(Path::to_owned);
        let own = beside.clone().filter(|folder| TICKETS.iter().any(|name| folder.ends_with(name)));
        let configured = std::fs::canonicalize(tickets).ok();
        // Where tickets lie among the work only they are left alone.
        let is_among = |folder: &PathBuf| workspace.home().starts_with(folder) || tree.top().starts_with(folder);
        let whole = [&configured, &own].into_iter().flatten().filter(|folder| !is_among(folder)).cloned();
        let mut alone: Vec<PathBuf> = whole.collect();
        for folder in [configured, beside].into_iter().flatten().collect::<BTreeSet<_>>() {
            if !alone.contains(&folder) {
                alone.extend(tickets_among(&folder));
            }
        }
        for path in alone {
            exclude.extend(workspace.copy_of(&path));
            exclude.push(path);
        }
        Self { tree, exclude, is_instead: false, store: None }
    }

    /// The same, where the worktree that the run had may be gone.
    #[must_use]
    pub fn instead(self, is_instead: bool) -> Self {
        Self { is_instead, ..self }
    }

    /// The working tree that files are restored into, where it is not the run's.
    pub fn elsewhere(&self) -> Option<PathBuf> {
        self.is_instead.then(|| self.tree.top().to_owned())
    }

    /// The same, where what other tickets' runs have changed is left to them.
    #[must_use]
    pub fn knowing(self, store: Option<Store>) -> Self {
        Self { store, ..self }
    }

    /// What a restore would do.
    pub async fn plan(&self, of: (&TicketId, &str), wanted: &WantedFiles) -> Result<Plan, String> {
        let others = self.others(of, &wanted.snapshot).await?;
        let plan = self.tree.restore_plan(of.0, wanted, &others, &self.exclude).await;
        plan.map(|plan| Plan { into: self.elsewhere(), ..plan }).map_err(|error| error.to_string())
    }

    /// Saves the present, so that files can be restored. `agreed`: the [`Plan::tree`] that the person has seen.
    pub async fn prepare(
        &self,
        of: (&TicketId, &str),
        wanted: &WantedFiles,
        agreed: Option<&str>,
    ) -> Result<Prepared, String> {
        let others = self.others(of, &wanted.snapshot).await?;
        self.tree.prepare_restore(of.0, wanted, agreed, &others, &self.exclude).await
    }

    /// What the runs of other tickets have changed here since the snapshot was taken. `path`: of the ticket's file.
    pub async fn others(&self, (ticket, path): (&TicketId, &str), snapshot: &str) -> Result<OthersWork, String> {
        let (Some(store), WorkTree::Git(_)) = (&self.store, &self.tree) else { return Ok(OthersWork::default()) };
        let target = self.tree.snapshot_of(ticket, snapshot).await.map_err(|error| error.to_string())?;
        let told = block_in_place(|| journals(store, path)).map_err(|error| error.to_string())?;
        let end_of = target.is_end.then_some(target.n);
        let seen = |(run, told): (_, &crate::domain::timeline::Told)| {
            (target.run.is_none() || target.run == Some(run)).then(|| told.seen(&target.pick, &target.id.0, end_of))?
        };
        let at = told.iter().find_map(|(run, told)| seen((*run, told))).unwrap_or(target.time);
        others::since(store, &self.tree, path, at).await
    }
}

/// The phases that were found done and whose work is not in the files any more, once this was restored; `None`: that cannot
/// be told. `is_all`: all files are as in the snapshot.
pub fn taken_back(
    store: &Store,
    ticket_path: &str,
    snapshot: &Snapshot,
    is_all: bool,
    is_restored: &dyn Fn(&str) -> bool,
) -> Option<Vec<String>> {
    let runs = of_ticket(store.runs().ok()?, ticket_path);
    let records = runs.iter().filter_map(|run| Some(store.load(run.run).ok()?.records)).flatten();
    let restores = if is_all { Restores::All } else { Restores::Files(is_restored) };
    Contents::of(records).taken_back(&snapshot.key(), restores)
}

/// The same of what was done.
pub fn taken_back_by(
    store: &Store,
    ticket_path: &str,
    snapshot: &Snapshot,
    (wanted, done): (&WantedFiles, &Restored),
) -> Option<Vec<String>> {
    let restored: BTreeSet<&String> = done.written.iter().chain(&done.removed).collect();
    let is_all = wanted.only.is_empty() && done.kept.is_empty() && done.spared.is_empty() && done.trouble.is_none();
    taken_back(store, ticket_path, snapshot, is_all, &|path| restored.contains(&path.to_owned()))
}

/// What came of one whose program was ended meanwhile.
pub async fn came_of(place: (&Store, &TicketsOf), run: &RunSummary, intended: RestoreIntended) -> RestoreSettled {
    let (store, tickets) = place;
    let came = async {
        let place = Place::of(store, run, tickets).await?;
        looked_at(&place, run, intended.clone()).await
    };
    // Whoever asks again later would see no more of it.
    came.await.unwrap_or_else(|error| RestoreSettled::unseen(intended, &error))
}

async fn looked_at(place: &Place, run: &RunSummary, intended: RestoreIntended) -> Result<RestoreSettled, String> {
    let RestoreIntended { id, wanted, pick, saved, .. } = intended;
    let of = (&run.ticket, run.ticket_path.as_str());
    let left = async |wanted: &WantedFiles| {
        let plan = place.plan(of, wanted).await?;
        Ok::<_, String>((plan.writes.len() + plan.removes.len(), plan.spares.is_empty() && plan.keeps.is_empty()))
    };
    let (trouble, is_all) = match left(&wanted).await? {
        (0, is_all) => (None, is_all),
        _ if left(&WantedFiles { snapshot: saved.clone(), ..wanted.clone() }).await?.0 == 0 => {
            (Some("programmator exited before writing; the files are unchanged".to_owned()), false)
        }
        (left, _) => {
            let words = format!(
                "programmator exited with {} left: restore again, or restore snapshot {saved} for the previous files",
                counted(left, "file")
            );
            (Some(words), false)
        }
    };
    let taken_back = match (&trouble, &place.store) {
        (None, Some(store)) => {
            let target =
                place.tree.snapshot_of(&run.ticket, &wanted.snapshot).await.map_err(|error| error.to_string())?;
            let is_all = is_all && wanted.only.is_empty();
            block_in_place(|| taken_back(store, &run.ticket_path, &target, is_all, &|path| wanted.covers(path)))
        }
        _ => None,
    };
    Ok(RestoreSettled { id, pick, saved, taken_back, trouble, ..RestoreSettled::default() })
}
