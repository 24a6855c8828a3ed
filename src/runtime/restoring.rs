//! Where files are restored from a snapshot for a person, and what came of a restore whose program was ended meanwhile.

use crate::adapters::git::WorkTree;
use crate::adapters::store::Store;
use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::domain::restore::{RestoreIntended, RestoreSettled, WantedFiles};
use crate::domain::summary::RunSummary;
use std::path::{Path, PathBuf};

/// Folders that have tickets and nothing else.
const TICKETS: [&str; 2] = [".tickets", "tickets"];

/// Where a run's files are restored, and what of them never is.
pub struct Place {
    pub tree: WorkTree,
    pub exclude: Vec<PathBuf>,
}

impl Place {
    pub async fn of(store: &Store, run: &RunSummary) -> Result<Self, String> {
        let (workspace, ticket) = (run.workspace(), Path::new(&run.ticket_path));
        let tree = WorkTree::open(workspace.directory(), &store.run_folder(run.run)).await;
        let tree = tree.map_err(|error| error.to_string())?;
        let mut exclude = tree.excluded(ticket, &workspace);
        // The folder of the tickets, which are the person's: also the copies in a worktree.
        let folder = ticket.parent().filter(|folder| TICKETS.iter().any(|name| folder.ends_with(name)));
        exclude.extend(folder.iter().filter_map(|folder| workspace.copy_of(folder)));
        exclude.extend(folder.map(Path::to_owned));
        Ok(Self { tree, exclude })
    }
}

/// What came of one whose program was ended meanwhile.
pub async fn came_of(place: &Place, ticket: &TicketId, intended: RestoreIntended) -> Result<RestoreSettled, String> {
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
