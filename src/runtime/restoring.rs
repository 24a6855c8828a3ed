//! Where files are restored from a snapshot for a person, and what came of a restore whose program was ended meanwhile.

use crate::adapters::git::WorkTree;
use crate::adapters::store::Store;
use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::domain::restore::{RestoreIntended, RestoreSettled, WantedFiles};
use crate::domain::summary::RunSummary;
use crate::domain::workspace::Workspace;
use std::path::{Path, PathBuf};

/// Folders that have tickets and nothing else.
const TICKETS: [&str; 2] = [".tickets", "tickets"];

/// Where a run's files are restored, and what of them never is.
pub struct Place {
    pub tree: WorkTree,
    pub exclude: Vec<PathBuf>,
}

impl Place {
    /// That of a run. `tickets`: the folder that new tickets are made in.
    pub async fn of(store: &Store, run: &RunSummary, tickets: &Path) -> Result<Self, String> {
        let (workspace, ticket) = (run.workspace(), Path::new(&run.ticket_path));
        let tree = WorkTree::open(workspace.directory(), &store.run_folder(run.run)).await;
        Ok(Self::at(tree.map_err(|error| error.to_string())?, &workspace, ticket, tickets))
    }

    /// That of a ticket in this working tree. All tickets are the person's, also their copies in a worktree.
    pub fn at(tree: WorkTree, workspace: &Workspace, ticket: &Path, tickets: &Path) -> Self {
        let mut exclude = tree.excluded(ticket, workspace);
        let own = ticket.parent().filter(|folder| TICKETS.iter().any(|name| folder.ends_with(name)));
        let folders = [std::fs::canonicalize(tickets).ok(), own.map(Path::to_owned)];
        for folder in folders.into_iter().flatten() {
            // Where the tickets lie among the work there is no telling them from it.
            if !workspace.home().starts_with(&folder) && !tree.top().starts_with(&folder) {
                exclude.extend(workspace.copy_of(&folder));
                exclude.push(folder);
            }
        }
        Self { tree, exclude }
    }
}

/// What came of one whose program was ended meanwhile.
pub async fn came_of(place: (&Store, &Path), run: &RunSummary, intended: RestoreIntended) -> RestoreSettled {
    let (store, tickets) = place;
    let came = async {
        let place = Place::of(store, run, tickets).await?;
        looked_at(&place, &run.ticket, intended.clone()).await
    };
    // Whoever asks again later would see no more of it.
    came.await.unwrap_or_else(|error| RestoreSettled::unseen(intended, &error))
}

async fn looked_at(place: &Place, ticket: &TicketId, intended: RestoreIntended) -> Result<RestoreSettled, String> {
    let RestoreIntended { id, wanted, pick, saved, .. } = intended;
    let left = async |wanted: &WantedFiles| {
        let plan = place.tree.restore_plan(ticket, wanted, &place.exclude).await.map_err(|error| error.to_string())?;
        Ok::<_, String>(plan.writes.len() + plan.removes.len())
    };
    let trouble = match left(&wanted).await? {
        0 => None,
        _ if left(&WantedFiles { snapshot: saved.clone(), ..wanted.clone() }).await? == 0 => {
            Some("programmator ended before anything was written; the files are as they were".to_owned())
        }
        left => Some(format!(
            "programmator ended meanwhile with {} left: restore again, or snapshot {saved} for the files from before",
            counted(left, "file")
        )),
    };
    Ok(RestoreSettled { id, pick, saved, files: None, trouble })
}
