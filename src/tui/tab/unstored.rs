//! Ticks and answers of the person's that were handed to the run and that no record says yet. They are facts when they are
//! stored; until then, and when that comes to nothing, the screen says so.

use crate::base::text::cut;
use crate::domain::approval::{Approval, QuestionId};
use crate::domain::command::UserCommand;
use crate::domain::phase::PhaseId;
use crate::orchestrator::state::Mark;
use crate::tui::call_words::call_words;
use crate::tui::tab::Tab;
use std::sync::Arc;

impl Tab {
    /// Remembers what was handed to the run, as far as it is a tick or an answer.
    pub fn handed(&mut self, command: &UserCommand) {
        if self.is_unstored(command) {
            self.unstored.push(command.clone());
        }
    }

    /// Forgets what has become a fact, or can become none any more.
    pub(super) fn forget_stored(&mut self) {
        let mut unstored = std::mem::take(&mut self.unstored);
        unstored.retain(|command| self.is_unstored(command));
        self.unstored = unstored;
    }

    /// The run has decided about it, whatever it decided: nothing of it waits to be stored.
    pub fn decided(&mut self, command: &UserCommand) {
        self.unstored.retain(|handed| handed != command);
    }

    fn is_unstored(&self, command: &UserCommand) -> bool {
        match command {
            UserCommand::TickPhase { phase } => {
                self.state.phase_by(*phase).is_some_and(|phase| !matches!(phase.mark, Mark::Done(_)))
            }
            UserCommand::AnswerApproval { id, .. } => self.state.approvals.iter().any(|asked| asked.id == *id),
            _ => false,
        }
    }

    /// A tick of this phase is on its way.
    pub fn ticks(&self, wanted: PhaseId) -> bool {
        self.unstored.iter().any(|command| matches!(command, UserCommand::TickPhase { phase } if *phase == wanted))
    }

    /// An answer to this question is on its way.
    pub fn answers(&self, wanted: &QuestionId) -> bool {
        self.unstored.iter().any(|command| matches!(command, UserCommand::AnswerApproval { id, .. } if id == wanted))
    }

    /// The questions that wait for the person: not those whose answer only waits for storage.
    pub fn open_questions(&self) -> impl Iterator<Item = &Arc<Approval>> {
        self.state.approvals.iter().filter(|asked| self.storage.is_none() || !self.answers(&asked.id))
    }

    /// What is not recorded, in words; `None`: nothing is missing.
    pub fn unstored_words(&self) -> Option<String> {
        let words = |command: &UserCommand| match command {
            UserCommand::TickPhase { phase } => {
                self.state.phase_by(*phase).map(|phase| format!("the tick of “{}”", cut(&phase.text, 60)))
            }
            UserCommand::AnswerApproval { id, .. } => {
                let asked = self.state.approvals.iter().find(|asked| asked.id == *id)?;
                Some(format!("your answer about {}", cut(&call_words(asked), 60)))
            }
            _ => None,
        };
        let all: Vec<String> = self.unstored.iter().filter_map(words).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
