//! Bringing the ticket's work into its base, where the person's configuration wants it, before the ticket counts as done.

use super::Draft;
use crate::domain::merge::{MergeHow, MergeIntended, MergeSettled};
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Stage;

impl Draft<'_> {
    /// The work is in a worktree only, and is to be in the base.
    pub(super) fn owes_merge(&self) -> bool {
        self.state.settings.git.merge != MergeHow::Off
            && self.state.workspace.worktree().is_some()
            && !self.state.is_merged
    }

    pub(super) fn merge(&mut self) {
        let Some(worktree) = self.state.workspace.worktree() else { return };
        let how = self.state.settings.git.merge;
        let (branch, base) = (worktree.branch.clone(), worktree.base.clone());
        self.record(Record::MergeIntended(MergeIntended { branch, base, how: how.word().to_owned() }));
        let (commands, title) = (self.state.validation.clone(), self.state.title.clone());
        self.effect(Effect::MergeWork { how, commands, title });
    }

    /// What could not be merged ends the run: the work stays where it is, and the next start tries again.
    pub(super) fn merge_settled(&mut self, settled: MergeSettled) {
        if self.state.stage != Stage::Merging {
            return;
        }
        let trouble = settled.trouble.clone();
        self.record(Record::MergeSettled(settled));
        match trouble {
            None => self.advance(),
            Some(why) => self.end(ExitReason::MergeFailed, why),
        }
    }
}
