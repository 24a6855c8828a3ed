//! What becomes of the phases that an evaluator proposes: the person decides, or their configuration.

use super::Draft;
use crate::domain::answerer::Answerer;
use crate::domain::evaluation::{AddPhases, ProposalAnswer};
use crate::domain::outcome::ExitReason;
use crate::domain::record::{EditDue, Record};
use crate::domain::ticket::revise::TicketEdit;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Pace;

impl Draft<'_> {
    /// Nothing is left to do but to decide about proposed phases.
    pub(super) fn decide_proposal(&mut self) {
        let Some(proposal) = self.state.goal.proposal.clone() else { return };
        match self.state.settings.workflow.add_phases {
            _ if self.state.pace == Pace::StopNext => self.end_stopped(),
            AddPhases::Auto => {
                let answer = ProposalAnswer::Add { phases: proposal.phases };
                self.answer_proposal(proposal.n, Answerer::CONFIGURATION, answer);
            }
            AddPhases::Ask => self.effect(Effect::SeekPerson),
            AddPhases::Never => self.end(ExitReason::ReviewFailed, proposal.unreached()),
        }
    }

    /// `n`: the proposal that was meant; another may have taken its place.
    pub(super) fn answer_proposal(&mut self, n: u32, by: Answerer, answer: ProposalAnswer) {
        let is_meant = self.state.goal.proposal.as_ref().is_some_and(|proposal| proposal.n == n);
        // Another phase was taken up meanwhile, or an answer is being written.
        if !is_meant || !self.is_held() {
            return;
        }
        let (id, edit) = match &answer {
            ProposalAnswer::Add { phases } if phases.is_empty() => return,
            ProposalAnswer::Add { phases } => {
                (format!("phases-{n}"), Some(TicketEdit::Add { texts: phases.clone(), after: None }))
            }
            ProposalAnswer::Refuse { words } => {
                let text = format!("Declined the evaluator's proposal of more phases: {words}");
                (format!("declined-{n}"), (!words.is_empty()).then_some(TicketEdit::Note { text }))
            }
        };
        self.record(Record::ProposalAnswered { answer, by: by.clone() });
        match edit {
            Some(edit) => self.edit(EditDue { id, edit, by }),
            None => self.advance(),
        }
    }
}
