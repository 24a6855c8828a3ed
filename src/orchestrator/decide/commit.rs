//! Committing what the run has done, where the person's configuration wants it. A commit that cannot be made is told, and
//! the run goes on.

use super::Draft;
use crate::domain::answerer::Answerer;
use crate::domain::commit::{Agreed, CommitIntended, CommitSettled, CommitWhen, OwnCommit};
use crate::domain::outcome::ExitReason;
use crate::domain::phase::Mark;
use crate::domain::record::Record;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Stage;

impl Draft<'_> {
    /// Something is done and not committed that is to be.
    pub(super) fn owes_commit(&self) -> bool {
        let commits = &self.state.commits;
        // A fork of what is done begins with work that no phase of its own stands for.
        let is_done = || self.state.parts().all(|part| matches!(part.mark, Mark::Done(_)));
        let is_new = self.state.iterations == 0 || self.state.merge_failed.is_none();
        let is_forked =
            || self.owes_merge() && is_new && commits.last.is_none() && self.next_step().is_none() && is_done();
        !commits.tried
            && (!commits.due.is_empty() || is_forked())
            && match self.state.settings.git.commit {
                CommitWhen::Off => false,
                CommitWhen::Phase => true,
                // Until the person has decided about changed commands or more phases, it may be open again.
                CommitWhen::Ticket => {
                    let undecided = self.state.validation_change.is_some() || self.state.goal.proposal.is_some();
                    self.next_step().is_none() && !undecided
                }
            }
    }

    pub(super) fn commit(&mut self) {
        let title = self.state.title.clone();
        let settings = self.state.settings.git.clone();
        let phase = match self.state.commits.due.as_slice() {
            [one] if settings.commit == CommitWhen::Phase => one.clone(),
            _ => title.clone(),
        };
        self.record(Record::CommitDue);
        self.effect(Effect::PlanCommit(Box::new(OwnCommit { phase, title, settings })));
    }

    /// `planned`: `None` where nothing is left to commit.
    pub(super) fn commit_planned(&mut self, id: String, planned: Result<Option<Box<Agreed>>, String>) {
        if self.state.stage != Stage::Committing || self.state.commits.open.is_some() {
            return;
        }
        let trouble = match planned {
            Ok(Some(agreed)) => {
                let intended = CommitIntended::of(id.clone(), &agreed, Answerer::CONFIGURATION);
                self.record(Record::CommitIntended(intended));
                return self.effect(Effect::MakeCommit { id, agreed });
            }
            Ok(None) => None,
            Err(why) => Some(why),
        };
        self.record(Record::CommitSettled(CommitSettled { id, trouble, ..CommitSettled::default() }));
        self.advance();
    }

    /// What came of a commit that an earlier process has begun cannot be found out now: it stays open.
    pub(super) fn commit_unknown(&mut self, why: &str) {
        if self.state.commits.open.is_some() && self.state.stage == Stage::Committing {
            self.end(ExitReason::Error, format!("cannot tell whether the last commit was made: {why}"));
        }
    }

    pub(super) fn commit_made(&mut self, settled: CommitSettled) {
        if self.state.commits.open.as_ref().is_none_or(|open| open.id != settled.id) {
            return;
        }
        let waits = self.state.stage == Stage::Committing;
        self.record(Record::CommitSettled(settled));
        if waits {
            self.take_up();
        }
    }
}
