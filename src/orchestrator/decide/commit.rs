//! Committing what the run has done, where the person's configuration wants it. A commit that cannot be made is told, and
//! the run goes on.

use super::Draft;
use crate::domain::answerer::Answerer;
use crate::domain::commit::{Agreed, CommitIntended, CommitSettled, CommitWhen, OwnCommit};
use crate::domain::record::Record;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Stage;

impl Draft<'_> {
    /// Something is done and not committed that is to be.
    pub(super) fn owes_commit(&self) -> bool {
        !self.state.commits.due.is_empty()
            && match self.state.settings.git.commit {
                CommitWhen::Off => false,
                CommitWhen::Phase => true,
                CommitWhen::Ticket => self.next_step().is_none(),
            }
    }

    pub(super) fn commit(&mut self) {
        let title = self.state.title.clone();
        let phase = match self.state.commits.due.as_slice() {
            [one] => one.clone(),
            _ => title.clone(),
        };
        let settings = self.state.settings.git.clone();
        self.record(Record::CommitDue);
        self.effect(Effect::PlanCommit(Box::new(OwnCommit { phase, title, settings })));
    }

    pub(super) fn commit_planned(&mut self, id: String, planned: Result<Box<Agreed>, String>) {
        if self.state.stage != Stage::Committing || self.state.commits.open.is_some() {
            return;
        }
        match planned {
            Ok(agreed) => {
                let intended = CommitIntended::of(id.clone(), &agreed, Answerer::CONFIGURATION);
                self.record(Record::CommitIntended(intended));
                self.effect(Effect::MakeCommit { id, agreed });
            }
            Err(why) => {
                self.record(Record::CommitSettled(CommitSettled {
                    id,
                    trouble: Some(why),
                    ..CommitSettled::default()
                }));
                self.advance();
            }
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
