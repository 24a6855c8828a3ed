//! What looks after the state folder, on states that real runs have left.

mod backup;
mod gc;
mod metrics;
mod status;
mod uninstall;

use crate::project::Project;
use programmator::adapters::store::Store;
use programmator::base::id::RunId;
use std::path::PathBuf;

/// The runs of a ticket, oldest first.
fn runs(project: &Project, ticket: &str) -> Vec<RunId> {
    let mut runs = Store::open(&project.path("state")).unwrap().runs().unwrap();
    runs.retain(|run| run.ticket.as_str() == ticket);
    runs.sort_by_key(|run| run.started);
    runs.iter().map(|run| run.run).collect()
}

/// The folder of what was printed in a run.
fn folder(project: &Project, run: RunId) -> PathBuf {
    project.path(&format!("state/runs/{run}"))
}

/// Everything that has been stored so far is so many days older.
fn age(project: &Project, days: u32) {
    let store = rusqlite::Connection::open(project.path("state/programmator.db")).unwrap();
    let back = u64::from(days) * 86_400_000;
    store
        .execute_batch(&format!(
            "UPDATE runs SET started = started - {back}, updated = updated - {back};
             UPDATE records SET time = time - {back};"
        ))
        .unwrap();
}
