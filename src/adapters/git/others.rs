//! Which files each iteration of a run has changed, as its snapshots tell it, and keeping the present beside the snapshots
//! of runs.

use super::WorkTree;
use super::error::EvidenceError;
use super::history::{self, Point};
use super::paths;
use super::repository::Repository;
use super::restore;
use super::scratch::{self, Objects};
use super::snapshot::{Snapshot, SnapshotId};
use crate::base::id::{RunId, TicketId};
use std::path::PathBuf;

/// What an iteration has changed. Names are relative to the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationWork {
    pub run: RunId,
    pub n: u32,
    pub files: Vec<String>,
}

impl WorkTree {
    /// The ticket's snapshots in this repository, oldest first; none for a plain folder.
    pub async fn list_snapshots(&self, ticket: &TicketId) -> Result<Vec<Snapshot>, EvidenceError> {
        match self {
            Self::Git(repository) => history::list(repository, ticket).await,
            Self::Plain(_) => Ok(Vec::new()),
        }
    }

    /// What the iterations of these runs have changed: where one was cut off, all that was changed until the next snapshot
    /// of these runs, or until now. Of an iteration without a snapshot nothing is told.
    pub async fn work_of(&self, runs: &[(TicketId, RunId)]) -> Result<Vec<IterationWork>, EvidenceError> {
        let Self::Git(repository) = self else { return Ok(Vec::new()) };
        let points = history::points(repository, runs).await?;
        let mut all = Vec::new();
        for (at, Point { run, n, before, after }) in points.iter().enumerate() {
            let until = after.as_deref().or_else(|| points.get(at + 1).map(|next| next.before.as_str()));
            let files = if let Some(until) = until {
                names(repository, before, until).await?
            } else {
                let each = self.changed_since_each(&[&SnapshotId(before.clone())], &[]).await?;
                each.into_iter().flatten().collect()
            };
            all.push(IterationWork { run: *run, n: *n, files });
        }
        Ok(all)
    }

    /// The snapshot of a ticket that a person means.
    pub async fn snapshot_of(&self, ticket: &TicketId, wanted: &str) -> Result<Snapshot, EvidenceError> {
        history::pick(&self.list_snapshots(ticket).await?, ticket, wanted).cloned()
    }

    /// Keeps how the files are now beside the snapshots of the ticket's runs: what a person calls that, and its id. `None`:
    /// there is no git.
    pub async fn save(
        &self,
        ticket: &TicketId,
        exclude: &[PathBuf],
    ) -> Result<Option<(String, SnapshotId)>, EvidenceError> {
        let Self::Git(repository) = self else { return Ok(None) };
        let present = scratch::stage(repository, &self.excludes(exclude), Objects::Kept).await?;
        restore::save(repository, ticket, &present).await.map(Some)
    }
}

async fn names(repository: &Repository, from: &str, to: &str) -> Result<Vec<String>, EvidenceError> {
    let (from, to) = (format!("{from}^{{tree}}"), format!("{to}^{{tree}}"));
    let call = repository.git("diff-tree").args(["-r", "-z", "--name-only", "--no-renames", &from, &to]);
    let said = call.thorough().ok().await?;
    Ok(said.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(paths::shown).collect())
}
