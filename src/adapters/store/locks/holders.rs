//! Who holds a lock now, without taking it.

use super::{Asked, Holder, in_words};
use crate::adapters::store::{Store, StoreError};
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::workspace::Workspace;
use std::path::Path;

impl Store {
    /// Who holds the ticket now, for people; `None` when nobody does.
    pub fn ticket_holder(&self, ticket_path: &Path) -> Result<Option<String>, StoreError> {
        Ok(match self.ask("ticket", ticket_path)? {
            Asked::Free => None,
            Asked::Held(holder) => Some(in_words("ticket", holder)),
        })
    }

    /// The process that works on the ticket now; `None` when none does, or it cannot be read which.
    pub fn ticket_program(&self, ticket_path: &Path) -> Result<Option<u32>, StoreError> {
        let asked = self.ask("ticket", ticket_path)?;
        Ok(if let Asked::Held(holder) = asked { holder.map(|holder| holder.pid) } else { None })
    }

    /// Who holds the workspace now, as far as that can be read.
    pub fn tree_holder(&self, workspace: &Workspace) -> Result<Option<Holder>, StoreError> {
        let asked = self.ask("tree", workspace.lock_path())?;
        Ok(if let Asked::Held(holder) = asked { holder } else { None })
    }

    /// Who works in the workspace now, or moves the files around it, for people; `None` when nobody does.
    pub fn tree_busy(&self, workspace: &Workspace) -> Result<Option<String>, StoreError> {
        // A worktree that is not there yet.
        if !workspace.lock_path().exists() {
            return Ok(None);
        }
        match self.ask("tree", workspace.lock_path())? {
            Asked::Free => self.mover(workspace.lock_path()),
            Asked::Held(holder) => Ok(Some(in_words("tree", holder))),
        }
    }

    /// The summary with what its locks tell: a run that has not ended and that nobody works on is
    /// interrupted.
    pub fn as_seen(&self, mut summary: RunSummary) -> Result<RunSummary, StoreError> {
        if summary.state != RunState::Ended {
            let at_work = match self.ask("ticket", Path::new(&summary.ticket_path))? {
                Asked::Free => false,
                Asked::Held(holder) => {
                    let run = holder.and_then(|holder| holder.run);
                    run.is_none_or(|run| run == summary.run)
                }
            };
            if !at_work {
                summary.state = RunState::Interrupted;
            }
        }
        Ok(summary)
    }
}
