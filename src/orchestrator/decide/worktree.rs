//! Where a run works: its worktree, where it has one of its own, else the person's directory, perhaps on a branch of the
//! ticket's. It is looked for at every start, before anything is done there.

use super::Draft;
use crate::domain::branching::{BranchSwitch, SwitchSettled};
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

    /// What there is of it stays; the next start looks again. An iteration that an earlier process has left open stays so: it
    /// is compared where its files are.
    pub(super) fn worktree_failed(&mut self, why: &str) {
        let why = match self.state.stage {
            Stage::MakingWorktree => format!("no worktree for this ticket: {why}"),
            _ if self.awaits_tree() => why.to_owned(),
            _ => return,
        };
        self.settle_switch(Some(&why));
        self.end(ExitReason::Error, why);
    }

    /// The folder is ours, and is to be on another branch first.
    pub(super) fn switch_due(&mut self, switch: BranchSwitch) {
        if self.awaits_tree() {
            self.record(Record::SwitchIntended(switch.clone()));
            self.effect(Effect::SwitchBranch(Box::new(switch)));
        } else {
            self.gives_tree_back();
        }
    }

    pub(super) fn switched(&mut self, settled: SwitchSettled) {
        if !self.state.is_open() || self.state.switching.as_ref() != Some(&settled.switch) {
            return;
        }
        let trouble = settled.trouble.clone();
        self.record(Record::SwitchSettled(settled));
        match trouble {
            None => self.tree_granted(),
            Some(why) => self.worktree_failed(&why),
        }
    }

    /// An earlier process has begun to switch: it is found out now what came of it.
    fn settle_switch(&mut self, trouble: Option<&str>) {
        if let Some(switch) = self.state.switching.clone() {
            self.record(Record::SwitchSettled(SwitchSettled { switch, trouble: trouble.map(str::to_owned) }));
        }
    }

    /// The folder is ours: settle what an earlier process left open, else go on.
    pub(super) fn tree_granted(&mut self) {
        if !self.awaits_tree() {
            return self.gives_tree_back();
        }
        self.settle_switch(None);
        self.record(Record::TreeGranted);
        match self.state.commits.open.clone() {
            Some(open) => self.effect(Effect::RecoverCommit(Box::new(open))),
            None => self.take_up(),
        }
    }

    /// The person has paused it meanwhile: another run may have the folder until it goes on.
    fn gives_tree_back(&mut self) {
        if self.state.stage == Stage::Paused && !self.state.has_tree {
            self.effect(Effect::ReleaseTree);
        }
    }
}
