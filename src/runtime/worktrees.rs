//! Removing the worktree of a ticket, whoever wants it: under its locks, where no work is lost, with a record of it.

use crate::adapters::dependencies;
use crate::adapters::git::{merging, worktree};
use crate::adapters::store::{Holder, LockError, StoreError};
use crate::base::id::TicketId;
use crate::domain::answerer::Answerer;
use crate::domain::record::Record;
use crate::domain::workspace::Workspace;
use crate::domain::worktree::{Worktree, WorktreeRemoved};
use crate::runtime::offline::Offline;
use std::path::Path;
use tokio::task::block_in_place;

/// A ticket's worktree.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    pub ticket: &'a TicketId,
    /// The ticket's file.
    pub path: &'a Path,
    pub worktree: &'a Worktree,
    /// A run has worked there.
    pub has_run: bool,
}

/// Why it is still there.
#[derive(Debug)]
pub enum RemoveError {
    /// Who works in it.
    Held(String),
    Store(StoreError),
    /// Words for the person.
    Stays(String),
}

impl From<LockError> for RemoveError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Held { holder } => Self::Held(holder),
            LockError::Store(error) => Self::Store(error),
        }
    }
}

/// Removes it and its branch. Gives why the journal does not say so, if it does not.
pub async fn remove(offline: &Offline, own: Own<'_>, by: Answerer) -> Result<Option<String>, RemoveError> {
    let Own { ticket, path, worktree, has_run } = own;
    if worktree.branch.is_empty() {
        return Err(RemoveError::Stays(format!("{} is on no branch: switch it to its own", worktree.top.display())));
    }
    let now = offline.clock.now();
    let holder = Holder { pid: std::process::id(), ticket: ticket.clone(), run: None, since: now };
    let workspace = Workspace::shared(&worktree.home_top).in_worktree(Some(worktree.clone()));
    let of_ticket = block_in_place(|| offline.store.lock_ticket(path, &holder))?;
    let tree = block_in_place(|| offline.store.lock_tree(&workspace, &holder))?;
    // What a killed program has left beside it. Nobody is at work on the ticket.
    merging::clear(worktree).await.map_err(RemoveError::Stays)?;
    let cleared = dependencies::clear(&dependencies::partial(&worktree.top));
    cleared.map_err(|error| RemoveError::Stays(error.to_string()))?;
    worktree::remove(worktree).await.map_err(RemoveError::Stays)?;
    drop((tree, of_ticket));
    if !has_run {
        return Ok(None);
    }
    let removed = WorktreeRemoved { top: worktree.top.clone(), by };
    let recorded = offline.append(path, |_| vec![Record::WorktreeRemoved(removed)]).await;
    Ok(recorded.err().map(|error| error.to_string()))
}
