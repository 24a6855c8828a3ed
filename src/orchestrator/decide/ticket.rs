//! Following the ticket's file: a person may change it at any moment.

use super::Step;
use crate::domain::record::{Level, PhaseSeed, Record};
use crate::orchestrator::state::Stage;

impl Step {
    pub(super) fn ticket_read(&mut self, title: String, phases: Vec<PhaseSeed>, validation: Vec<String>) {
        if self.state.run.is_none() || self.state.ended.is_some() {
            return;
        }
        if title != self.state.title || self.differs(&phases) {
            self.record(Record::TicketRead { title, phases });
        }
        let asked = self.state.validation_change.as_ref() == Some(&validation);
        let declined = self.state.validation_declined.as_ref() == Some(&validation);
        if validation == self.state.validation {
            if let Some(frozen) = self.state.validation_change.is_some().then(|| validation.clone()) {
                // Taken back by the person before it was answered.
                self.record(Record::ValidationChangeAnswered { commands: frozen, accepted: false });
            }
        } else if !asked && !declined {
            self.record(Record::ValidationChangeSeen { commands: validation });
            self.notice(
                Level::Warn,
                "the ticket's validation commands were changed during the run; the list from the start stays in force \
                 until you decide",
            );
        }
    }

    pub(super) fn phases_read(&mut self, phases: Vec<PhaseSeed>) {
        if self.differs(&phases) {
            let title = self.state.title.clone();
            self.record(Record::TicketRead { title, phases });
        }
    }

    fn differs(&self, phases: &[PhaseSeed]) -> bool {
        let ours = self.state.phases.iter().map(|phase| (phase.text.as_str(), phase.ticked));
        !ours.eq(phases.iter().map(|seed| (seed.text.as_str(), seed.done)))
    }

    pub(super) fn ticket_lost(&mut self, why: String) {
        if self.state.run.is_none() || self.state.ended.is_some() || self.state.ticket_lost.is_some() {
            return;
        }
        self.notice(Level::Error, format!("the ticket's file cannot be used any more: {why}"));
        self.record(Record::TicketLost { why });
        self.interrupt();
        if self.state.stage == Stage::Paused {
            self.record(Record::Continued);
        }
        self.advance();
    }
}
