//! Following the ticket's file: a person may change it at any moment.

use super::Draft;
use crate::domain::evaluation::AddPhases;
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::phase::PhaseId;
use crate::domain::record::{
    ChangeAnswered, EditDue, Level, PhaseSeed, Record, RevisionSettled, SetPhase, TicketRevised,
};
use crate::domain::ticket::Revision;
use crate::domain::ticket::revise::TicketEdit;
use crate::orchestrator::apply::fold;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::{OwnEdit, Pace, PhaseState, Stage, State};

impl Draft<'_> {
    pub(super) fn ticket_read(&mut self, reading: u64, title: String, phases: Vec<PhaseSeed>, validation: Vec<String>) {
        if phases.is_empty() && !self.state.phases.is_empty() {
            // An editor that empties the file before it fills it, or somebody who means it: either way the run's
            // own phases are the better guide.
            return self.notice(Level::Warn, "the ticket no longer has phases; the run continues with those it knows");
        }
        // A chat is called by its first message, not by its file.
        let title = if self.state.chat.is_some() { self.state.title.clone() } else { title };
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

    pub(super) fn phase_settings_read(&mut self, phases: Vec<SetPhase>) {
        let record = Record::PhaseSettingsRead { phases };
        let mut after = self.state.clone();
        fold(after.to_mut(), &record, self.now);
        let settings = |state: &State| state.phases.iter().map(|phase| phase.settings.clone()).collect::<Vec<_>>();
        if self.state.is_open() && settings(&after) != settings(&self.state) {
            self.record(record);
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
        let is_first = is_first || self.state.phases.iter().any(|phase| phase.unread && phase.box_writes == 0);
        // A tick may be made behind the write of its box, which is not told yet: it looks as before, and is a claim.
        let is_claim = self.state.open_iteration().is_some();
        let is_first =
            is_first || is_claim && self.state.phases.iter().any(|phase| phase.box_writes > 0 && !phase.unread);
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
        let is_planned = |due: &OwnEdit| self.state.revisions.iter().any(|open| open.id == due.id);
        let unplanned: Vec<OwnEdit> = self.state.edits.iter().filter(|due| !is_planned(due)).cloned().collect();
        for due in unplanned {
            self.plan_edit(due.id, due.edit);
        }
    }

    pub(super) fn revision_settled(&mut self, settled: &RevisionSettled) {
        if !self.state.is_open() || self.state.revisions.iter().all(|open| open.id != settled.revised.id) {
            return;
        }
        let (id, trouble) = (settled.revised.id.clone(), settled.outcome.clone().revision_trouble());
        let own = self.state.edits.iter().find(|due| due.id == id).cloned();
        self.record(Record::RevisionSettled(settled.clone()));
        self.draft_settled(settled);
        // What the run wants is planned again where the file was another; else the fold has dropped it.
        match own.filter(|_| trouble.is_some()) {
            Some(own) if self.state.edits.iter().any(|due| due.id == id) => self.plan_edit(id, own.edit),
            Some(own) => self.not_edited(&own.edit, &trouble.unwrap_or_default()),
            None => self.written(),
        }
    }

    /// The run itself wants the ticket's text changed.
    pub(super) fn edit(&mut self, due: EditDue) {
        let (id, edit) = (due.id.clone(), due.edit.clone());
        self.record(Record::EditDue(due));
        self.plan_edit(id, edit);
    }

    fn plan_edit(&mut self, id: String, edit: TicketEdit) {
        self.effect(Effect::PlanEdit { id, edit: Box::new(edit) });
    }

    /// `planned`: what the edit is in the file as it is now; or words for the person.
    pub(super) fn edit_planned(&mut self, id: String, planned: Result<Revision, String>) {
        let due = self.state.edits.iter().find(|due| due.id == id).cloned();
        let Some(OwnEdit { edit, by, .. }) = due.filter(|_| self.state.is_open()) else { return };
        let what = edit.words();
        match planned {
            Ok(revision) => {
                self.revise(TicketRevised { id, what, revision, accepts: None, renamed: None, undoes: None, by });
            }
            Err(why) => {
                self.record(Record::EditDropped { id, what, why: why.clone() });
                self.not_edited(&edit, &why);
            }
        }
    }

    /// The ticket cannot be changed as the run wants it. Without a note it goes on, without its new phases it cannot.
    fn not_edited(&mut self, edit: &TicketEdit, why: &str) {
        // Where the person decides, the proposal waits for another answer.
        let asks = self.state.settings.workflow.add_phases == AddPhases::Ask;
        if matches!(edit, TicketEdit::Add { .. }) && self.state.open_iteration().is_none() && !asks {
            return self.end(ExitReason::ReviewFailed, format!("the proposed phases are not in the ticket: {why}"));
        }
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
