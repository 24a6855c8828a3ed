//! Where a run works that has a worktree of its own: it is looked for at every start, before anything is done there.

use super::Draft;
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::domain::worktree::WorktreeMade;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Stage;

impl Draft<'_> {
    /// Gets the directory that the run works in: the worktree first, where there is to be one.
    pub(super) fn take_place(&mut self) {
        match self.state.workspace.worktree().cloned() {
            Some(worktree) => self.effect(Effect::MakeWorktree(Box::new(worktree))),
            None => self.effect(Effect::AcquireTree),
        }
    }

    pub(super) fn worktree_ready(&mut self, made: WorktreeMade) {
        if self.state.stage == Stage::MakingWorktree {
            self.record(Record::WorktreeMade(made));
            self.effect(Effect::AcquireTree);
        }
    }

    /// What there is of it stays; the next start looks again.
    pub(super) fn worktree_failed(&mut self, why: &str) {
        if self.state.stage == Stage::MakingWorktree {
            self.end(ExitReason::Error, format!("no worktree for this ticket: {why}"));
        }
    }
}
