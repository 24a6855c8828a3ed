//! Following the ticket's file: a person may change it at any moment.

use super::Draft;
use crate::domain::outcome::IterationOutcome;
use crate::domain::phase::PhaseId;
use crate::domain::record::{ChangeAnswered, Level, PhaseSeed, Record, RevisionSettled, TicketRevised};
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::{Pace, PhaseState, Stage};

impl Draft<'_> {
    pub(super) fn ticket_read(&mut self, reading: u64, title: String, phases: Vec<PhaseSeed>, validation: Vec<String>) {
        if phases.is_empty() && !self.state.phases.is_empty() {
            // An editor that empties the file before it fills it, or somebody who means it: either way the run's
            // own phases are the better guide.
            return self.notice(Level::Warn, "the ticket no longer has phases; the run continues with those it knows");
        }
        if title != self.state.title || self.says_something(&phases) || self.state.ticket_lost.is_some() {
            self.take_phases(reading, title, phases);
        }
        let asked = self.state.validation_change.as_ref() == Some(&validation);
        let declined = self.state.validation_declined.as_ref() == Some(&validation);
        if validation == self.state.validation {
            if let Some(frozen) = self.state.validation_change.is_some().then(|| validation.clone()) {
                // Taken back by the person before it was answered.
                self.record(Record::ValidationChangeAnswered(ChangeAnswered { commands: frozen, accepted: false }));
            }
        } else if self.writes_draft() {
            self.record(Record::ValidationChangeAnswered(ChangeAnswered { commands: validation, accepted: true }));
        } else if !asked && !declined {
            self.record(Record::ValidationChangeSeen { commands: validation });
        }
    }

    /// What is new in the file. A tick that does not count by itself is told.
    pub(super) fn take_phases(&mut self, reading: u64, title: String, phases: Vec<PhaseSeed>) {
        let when = if self.state.open_iteration().is_some() { "during an iteration" } else { "perhaps by Claude" };
        let known: Vec<PhaseId> = self.state.claimed_ticks().map(|phase| phase.id).collect();
        self.record(Record::TicketRead { title, phases, reading: Some(reading) });
        let new: Vec<PhaseState> =
            self.state.claimed_ticks().filter(|phase| !known.contains(&phase.id)).cloned().collect();
        for PhaseState { text, .. } in new {
            self.notice(
                Level::Warn,
                format!(
                    "the box of “{text}” was ticked in the file {when}: that counts as a claim only. \
                    If it was you: press d in Tickets or run `programmator ticket tick`"
                ),
            );
        }
    }

    /// A reading of these phases is to be known: they are not those of the run, or it is the first one behind what Claude
    /// did. What is ticked later is the person's.
    pub(super) fn says_something(&self, phases: &[PhaseSeed]) -> bool {
        let ours = self.state.phases.iter().map(|phase| (phase.text.as_str(), phase.ticked));
        let is_first = self.state.iteration.as_ref().is_some_and(|last| last.unread);
        is_first || !ours.eq(phases.iter().map(|seed| (seed.text.as_str(), seed.done)))
    }

    /// Has the ticket's text changed for the person.
    pub(super) fn revise(&mut self, revised: TicketRevised) {
        self.record(Record::RevisionIntended(revised.clone()));
        self.effect(Effect::Revise(Box::new(revised)));
    }

    /// What an earlier process has not brought to its end.
    pub(super) fn revise_again(&mut self) {
        for open in self.state.revisions.clone() {
            self.effect(Effect::Revise(Box::new(open)));
        }
    }

    pub(super) fn revision_settled(&mut self, settled: RevisionSettled) {
        if !self.state.is_open() || self.state.revisions.iter().all(|open| open.id != settled.revised.id) {
            return;
        }
        self.record(Record::RevisionSettled(settled.clone()));
        self.draft_settled(&settled);
        self.written();
    }

    /// The ticket's file is written: what has waited for that goes on.
    pub(super) fn written(&mut self) {
        self.advance();
        // Else the stop has waited for the file alone.
        let stops = self.state.pace == Pace::StopNext && self.state.ended.is_none();
        if stops && self.state.open_iteration().is_none() {
            self.end_if_nothing_runs();
        }
    }

    pub(super) fn ticket_lost(&mut self, why: String) {
        if !self.state.is_open() || self.state.ticket_lost.is_some() {
            return;
        }
        self.notice(Level::Error, format!("the ticket's file can no longer be used: {why}"));
        self.record(Record::TicketLost { why });
        if let Some(n) = self.state.open_iteration().map(|open| open.n)
            && matches!(self.state.stage, Stage::Spawning | Stage::Running)
        {
            self.cut(n, IterationOutcome::Failed);
        }
        if self.state.stage == Stage::Paused {
            self.go_on();
        }
        if self.state.stage == Stage::Parked {
            self.record(Record::Unparked);
        }
        self.advance();
    }
}
