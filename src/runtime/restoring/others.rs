//! Which files the runs of other tickets have changed in a working tree since a moment.

use crate::adapters::git::WorkTree;
use crate::adapters::store::Store;
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::restore::OthersWork;
use crate::domain::timeline::Told;
use crate::domain::timeline::contents::EVIDENCE_FILES;
use std::path::Path;
use tokio::task::block_in_place;

/// A run of another ticket.
struct Other {
    ticket: TicketId,
    run: RunId,
    told: Told,
}

/// What they have changed. `path`: the file of the ticket whose runs do not count.
pub(super) async fn since(store: &Store, tree: &WorkTree, path: &str, at: Timestamp) -> Result<OthersWork, String> {
    let others = block_in_place(|| runs(store, tree.top(), path, at))?;
    let mut work = OthersWork::default();
    if others.is_empty() {
        return Ok(work);
    }
    let ids: Vec<(TicketId, RunId)> = others.iter().map(|other| (other.ticket.clone(), other.run)).collect();
    let seen = tree.work_of(&ids).await.map_err(|error| error.to_string())?;
    for Other { ticket, run, told } in &others {
        let ticket = ticket.to_string();
        let mut add = |files: &mut dyn Iterator<Item = &String>| {
            for file in files {
                work.files.entry(file.clone()).or_default().insert(ticket.clone());
            }
        };
        add(&mut told.driven_since(at));
        for (n, named) in told.worked_since(at) {
            if let Some(seen) = seen.iter().find(|seen| (seen.run, seen.n) == (*run, n)) {
                add(&mut seen.files.iter());
                continue;
            }
            // Its snapshot is gone.
            add(&mut named.unwrap_or_default().iter());
            if named.is_none_or(|named| named.len() >= EVIDENCE_FILES) {
                work.unknown.insert(ticket.clone());
            }
        }
    }
    Ok(work)
}

/// Those that worked in this working tree then or later.
fn runs(store: &Store, top: &Path, path: &str, at: Timestamp) -> Result<Vec<Other>, String> {
    let all = store.runs().map_err(|error| error.to_string())?;
    let is_meant = |run: &&crate::domain::summary::RunSummary| {
        run.ticket_path != path
            && run.updated >= at
            && !run.is_review()
            && top_of(run.workspace().directory()) == Some(top)
    };
    let mut others = Vec::new();
    for run in all.iter().filter(is_meant) {
        let told = Told::of(&store.load(run.run).map_err(|error| error.to_string())?.records);
        others.push(Other { ticket: run.ticket.clone(), run: run.run, told });
    }
    Ok(others)
}

/// The top of the working tree that a directory is in.
fn top_of(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|folder| folder.join(".git").exists())
}
