//! A run that plans: it goes as far as its draft is written into the ticket or refused, and no further. The draft waits
//! for the person as long as somebody is there; where nobody is, the run ends, and the draft waits in its journal.
//!
//! What an accepted draft makes of the file is worked out at the edge, on the file as it is then. From there on it is a
//! change of the ticket's text like a person's: a record before it and one after it, made only where the file still is as
//! it was read, and done once however often it is begun.

use super::Draft;
use crate::base::amount::counted;
use crate::domain::answerer::Answerer;
use crate::domain::approval::Presence;
use crate::domain::outcome::ExitReason;
use crate::domain::planning::{DraftAnswer, DraftAnswered, PlanAsked, Tried, checked};
use crate::domain::record::{Level, Record, RevisionSettled, TicketRevised};
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::{Pace, PlanStage, Stage};

/// Why nothing is left to plan.
const HAS_PHASES: &str = "the ticket has phases now; nothing is left to plan";

impl Draft<'_> {
    pub(super) fn plan_asked(&mut self, asked: PlanAsked) {
        if self.state.is_open() && self.state.phases.is_empty() && !self.state.is_complete() {
            self.record(Record::PlanAsked(asked));
        }
    }

    /// A run that was begun to plan is continued as that, whatever command it is continued by.
    pub(super) fn goes_on_planning(&mut self) {
        let ticket = self.state.ticket.as_ref().map(ToString::to_string).unwrap_or_default();
        let next = match self.plan_stage() {
            Some(PlanStage::Due) => "continuing the interrupted planning of this ticket",
            Some(PlanStage::Waiting) => "the draft of this ticket's phases is still undecided",
            _ => return,
        };
        self.notice(
            Level::Info,
            format!(
                "{next}. Work starts once the draft is in the ticket and you start it again; to work without a draft, add a phase with `programmator phase add {ticket} TEXT`"
            ),
        );
    }

    fn plan_stage(&self) -> Option<PlanStage> {
        self.state.plan.as_ref().map(|plan| plan.stage)
    }

    /// What the run does about its plan instead of another iteration. `false`: nothing.
    pub(super) fn sees_to_plan(&mut self) -> bool {
        let Some(plan) = self.state.plan.clone() else { return false };
        let stops = self.state.pace == Pace::StopNext;
        match plan.stage {
            PlanStage::Written => {
                let phases = counted(self.state.phases.len(), "phase");
                let parts = plan.draft.as_ref().map_or(0, |draft| draft.parts.len());
                let split = counted(parts, "new ticket");
                let after = if parts > 0 { format!(", after {split}") } else { String::new() };
                self.end(ExitReason::Planned, format!("the plan is in the ticket: {phases}{after}"));
            }
            PlanStage::Accepted => self.effect(Effect::PlaceDraft { plan }),
            PlanStage::Refused => {
                self.end(ExitReason::NotPlanned, "the draft was discarded; nothing was written to the ticket");
            }
            PlanStage::Due | PlanStage::Waiting if !self.state.phases.is_empty() => {
                self.end(ExitReason::NotPlanned, HAS_PHASES);
            }
            PlanStage::Due | PlanStage::Waiting if stops => return false,
            PlanStage::Due => return false,
            PlanStage::Waiting if plan.asked.saves => {
                let by = plan.asked.by.clone();
                self.record(Record::DraftAnswered(DraftAnswered { answer: DraftAnswer::Accept, by }));
                return self.sees_to_plan();
            }
            PlanStage::Waiting => self.effect(Effect::SeekPerson),
        }
        true
    }

    pub(super) fn draft_answered(&mut self, by: Answerer, answer: DraftAnswer) {
        let Some(plan) = self.state.plan.clone().filter(|plan| plan.stage == PlanStage::Waiting) else { return };
        // What was made a moment ago is not to be answered before its iteration has ended.
        if self.state.open_iteration().is_some() {
            return;
        }
        let commands = plan.draft.as_ref().map(|draft| draft.validation.clone()).unwrap_or_default();
        let tries = answer == DraftAnswer::Try;
        let answer = match answer {
            DraftAnswer::Edit(draft) => match checked(draft) {
                Ok(draft) => DraftAnswer::Edit(draft),
                Err(fault) => {
                    return self.notice(Level::Warn, format!("Draft not changed: {}", fault.sentence()));
                }
            },
            DraftAnswer::Revise { words } if words.trim().is_empty() => return,
            DraftAnswer::Revise { .. } if plan.trying => {
                return self
                    .notice(Level::Warn, "not sent back yet: the draft's commands are still running".to_owned());
            }
            DraftAnswer::Try if plan.trying || commands.is_empty() => return,
            other => other,
        };
        self.record(Record::DraftAnswered(DraftAnswered { answer, by }));
        if tries {
            self.effect(Effect::TryCommands { commands });
        } else {
            self.advance();
        }
    }

    pub(super) fn draft_tried(&mut self, tried: Vec<Tried>) {
        let is_asked_for = |plan: &crate::orchestrator::state::Planning| {
            let commands = plan.draft.iter().flat_map(|draft| &draft.validation);
            plan.trying && commands.eq(tried.iter().map(|one| &one.command))
        };
        if self.state.is_open() && self.state.plan.as_deref().is_some_and(is_asked_for) {
            self.record(Record::DraftTried { tried });
        }
    }

    /// What writes the accepted draft, or why nothing can.
    pub(super) fn draft_placed(&mut self, placed: Result<Box<TicketRevised>, String>) {
        let is_due = self.plan_stage() == Some(PlanStage::Accepted) && self.state.stage == Stage::Idle;
        if !self.state.is_open() || !is_due || self.state.is_writing_ticket() {
            return;
        }
        match placed {
            Ok(revised) => self.revise(*revised),
            Err(why) => {
                self.record(Record::DraftNotWritten { why });
                self.advance();
            }
        }
    }

    /// The draft was to be written: where it is not, it waits again.
    pub(super) fn draft_settled(&mut self, settled: &RevisionSettled) {
        if settled.revised.is_draft()
            && let Some(why) = settled.outcome.clone().revision_trouble()
        {
            self.record(Record::DraftNotWritten { why });
        }
    }

    /// The file changes because the draft is being written: its commands are the person's choice.
    pub(super) fn writes_draft(&self) -> bool {
        self.plan_stage() == Some(PlanStage::Accepted) && self.state.revisions.iter().any(TicketRevised::is_draft)
    }

    /// Where nobody can decide about the draft, it waits for the next time.
    pub(super) fn person_sought_for_draft(&mut self, presence: Presence) {
        let waits = self.state.is_open() && self.state.stage == Stage::Idle && self.state.waiting_draft().is_some();
        if presence == Presence::Nobody && waits && !self.state.is_writing_ticket() {
            let ticket = self.state.ticket.as_ref().map(ToString::to_string).unwrap_or_default();
            let how = format!(
                "a draft is ready; view it with `programmator plan {ticket}`, or save it with `programmator plan {ticket} --save`; to \
                 revise or discard it without the screen, use `programmator resume --detach {ticket}` and `programmator answer`"
            );
            self.end(ExitReason::Drafted, how);
        }
    }
}
