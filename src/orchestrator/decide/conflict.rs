//! A conflict that Claude is to resolve: what is done about it between the iterations, at the edge. The steps do the rest.

use super::Draft;
use crate::domain::answerer::Answerer;
use crate::domain::merge::{ConflictStage, ConflictStaged, ConflictWork};
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::{Pace, Stage};
use crate::orchestrator::steps::resolve::given_up;

impl Draft<'_> {
    /// The person wants Claude to resolve what could not be merged.
    pub(super) fn resolve_asked(&mut self, by: Answerer) {
        let failed = self.state.merge_failed.as_ref().filter(|failed| !failed.files.is_empty());
        let Some(files) = failed.map(|failed| failed.files.clone()).filter(|_| self.state.is_open()) else { return };
        self.stage(ConflictStaged { files, by: Some(by), ..ConflictStaged::at(ConflictStage::Asked) });
    }

    /// A merge is open in the worktree, and it is not Claude's turn: no other work begins in it. `false`: there is none.
    pub(super) fn ends_open_merge(&mut self) -> bool {
        !matches!(self.state.conflict_stage(), None | Some(ConflictStage::Asked)) && self.sees_to_conflict()
    }

    /// What comes before the work can be merged. `false`: nothing.
    pub(super) fn sees_to_conflict(&mut self) -> bool {
        use ConflictStage::{Approved, Asked, Checking, Claimed, Committing, Opening};
        let (stage, work) = match self.state.conflict_stage() {
            Some(Asked | Opening) => (Opening, ConflictWork::Open),
            Some(Claimed | Checking) => (Checking, ConflictWork::Check),
            Some(Approved | Committing) => (Committing, ConflictWork::Commit),
            _ => return false,
        };
        if self.state.pace == Pace::StopNext {
            self.end_stopped();
            return true;
        }
        self.stage(ConflictStaged::at(stage));
        let (made, title) = (self.state.conflict_files.clone(), self.state.title.clone());
        self.effect(Effect::Conflict { work, made, title });
        true
    }

    /// What came of it: the files in conflict, or those that still hold markers.
    pub(super) fn conflict_done(&mut self, work: ConflictWork, done: Result<Vec<String>, String>) {
        if self.state.stage != Stage::Merging || self.state.conflict.is_none() {
            return;
        }
        let n = self.state.iterations;
        let files = match done {
            Ok(files) => files,
            Err(why) => {
                self.stage(ConflictStaged::at(ConflictStage::Over));
                return self.end(ExitReason::MergeFailed, format!("the conflict could not be resolved: {why}"));
            }
        };
        match work {
            ConflictWork::Open => self.stage(ConflictStaged { n, files, ..ConflictStaged::at(ConflictStage::Open) }),
            ConflictWork::Check | ConflictWork::Commit if !files.is_empty() => {
                let tries = self.state.conflict.as_ref().map_or(0, |conflict| conflict.tries);
                let why = format!("these files still contain conflict markers: {}", files.join(", "));
                let again = vec![why.clone()];
                self.stage(ConflictStaged { n, why: again, ..ConflictStaged::at(ConflictStage::Open) });
                if tries >= self.state.settings.workflow.fix_tries {
                    return self.end(ExitReason::MergeFailed, given_up(&why));
                }
            }
            ConflictWork::Check => self.stage(ConflictStaged::at(ConflictStage::Checked)),
            ConflictWork::Commit => self.stage(ConflictStaged::at(ConflictStage::Over)),
        }
        self.advance();
    }

    fn stage(&mut self, staged: ConflictStaged) {
        self.record(Record::ConflictStaged(staged));
    }
}
