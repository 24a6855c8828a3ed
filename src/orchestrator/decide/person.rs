//! Obeying the person.

use super::Draft;
use super::chat::CLOSED;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, Answered, AnsweredBy, QuestionId};
use crate::domain::command::UserCommand;
use crate::domain::limits::admission::Asker;
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{ByPerson, ChangeAnswered, Level, PhaseByPerson, Record, WishTaken};
use crate::domain::settings::{Change, SettingsChanged};
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::{Pace, PhaseState, Stage};

impl Draft<'_> {
    pub(super) fn commanded(&mut self, id: String, by: Answerer, command: UserCommand) {
        if !self.state.is_open() {
            return;
        }
        match command {
            UserCommand::Pause => self.pause(),
            UserCommand::PauseNow => {
                self.pause();
                self.interrupt();
            }
            UserCommand::Resume => {
                if self.state.stage == Stage::Paused || self.state.pace != Pace::Run {
                    self.go_on();
                }
            }
            UserCommand::RetryNow => self.look_again(Asker::Person),
            UserCommand::SkipPhase { phase } => self.skip(phase),
            UserCommand::RetryPhase { phase } => self.take_up_again(phase, by),
            UserCommand::TickPhase { phase } => self.tick(phase, by, None),
            UserCommand::AcceptPhase { phase, why, note } => {
                self.tick(phase, by, Some(why));
                self.revise(*note);
            }
            UserCommand::Revise(revised) => self.revise(*revised),
            UserCommand::Steer { text } => {
                self.record(Record::NoteGiven { id, text });
                self.send_notes();
                self.chat_message_given();
            }
            UserCommand::Stop => {
                self.stop_next(by);
                self.interrupt();
                self.end_if_nothing_runs();
            }
            UserCommand::FinishAndStop => {
                self.stop_next(by);
                if self.state.open_iteration().is_none() {
                    self.end_if_nothing_runs();
                }
            }
            UserCommand::AnswerValidationChange { accept, seen } => {
                if self.state.validation_change.as_ref() != Some(&seen) {
                    return;
                }
                let held = self.is_held() && self.awaits_decision();
                let commands = if accept { seen } else { self.state.validation.clone() };
                self.record(Record::ValidationChangeAnswered(ChangeAnswered { commands, accepted: accept }));
                // What was done last has to stand the new commands too.
                let last = self.state.last_work.as_ref().and_then(|work| work.phase);
                let last = last.and_then(|id| self.state.phase_by(id)).filter(|phase| phase.is_done_by_claude());
                let last = last.map(|phase| phase.id);
                if let Some(last) = last.filter(|last| accept && held && *last != PhaseId::default()) {
                    self.take_up_again(last, by);
                }
            }
            UserCommand::AnswerProposal { n, answer } => self.answer_proposal(n, by, answer),
            UserCommand::AnswerDraft { answer, seen } => {
                if self.state.waiting_draft() == Some(&*seen) {
                    self.draft_answered(by, answer);
                }
            }
            UserCommand::AnswerApproval { id, answer } => self.answered(&id, by, answer),
            UserCommand::EditCall { id, input } => self.edited(&id, by, input),
            UserCommand::ChangeSetting(change) => self.change_setting(&change),
            UserCommand::ResetBreaker => {
                if !self.state.breaker.is_at_rest() {
                    self.record(Record::BreakerReset(ByPerson { by }));
                }
            }
        }
    }

    /// The next iteration goes by it; a run that waits for a limit looks whether it still must.
    fn change_setting(&mut self, change: &Change) {
        match self.state.settings.with(change) {
            Ok(settings) => {
                let what = self.state.settings.differences(&settings);
                if !what.is_empty() {
                    self.record(Record::SettingsChanged(SettingsChanged { settings, what }));
                    self.look_again(Asker::Program);
                }
            }
            Err(why) => self.notice(Level::Warn, format!("not changed: {why}")),
        }
    }

    /// Noted first, so that it is obeyed once.
    pub(super) fn wished(&mut self, wish: i64, by: Answerer, command: UserCommand) {
        if self.state.is_open() {
            self.record(Record::WishTaken(WishTaken { wish }));
            // Whoever can write the store could leave a wish: it says no more than an edit of the file could.
            let may = matches!(
                command,
                UserCommand::TickPhase { .. }
                    | UserCommand::RetryPhase { .. }
                    | UserCommand::SkipPhase { .. }
                    | UserCommand::AcceptPhase { .. }
                    | UserCommand::Revise(_)
            );
            if may {
                self.commanded(format!("wish-{wish}"), by, command);
            }
        }
    }

    /// Takes back a wish to pause or a pause. What waited for the folder when it was paused waits for it again.
    pub(super) fn go_on(&mut self) {
        let paused = self.state.stage == Stage::Paused;
        self.record(Record::Continued);
        if paused && self.awaits_tree() {
            self.effect(Effect::AcquireTree);
        } else if paused {
            self.advance();
        }
    }

    fn pause(&mut self) {
        // Nothing is under way that would have to end first.
        if self.awaits_tree() {
            return self.record(Record::Paused);
        }
        if self.state.pace == Pace::Run && self.state.stage != Stage::Paused {
            self.record(Record::PauseAsked);
        }
        if self.state.stage == Stage::Parked {
            self.record(Record::Unparked);
            self.rest();
        }
    }

    fn stop_next(&mut self, by: Answerer) {
        if self.state.pace != Pace::StopNext {
            self.record(Record::StopRequested { by });
        }
    }

    /// Ends Claude now, if it is at work.
    pub(super) fn interrupt(&mut self) {
        let Some(n) = self.state.open_iteration().map(|open| open.n) else { return };
        if matches!(self.state.stage, Stage::Spawning | Stage::Running) {
            self.cut(n, IterationOutcome::Interrupted);
        }
    }

    /// Another program goes on with the run, as the person wants: what Claude does is ended as by a pause, and its time counts
    /// up to here. Where a question waits, that program asks it again.
    pub(super) fn handed_over(&mut self) {
        if self.state.approvals.is_empty() && matches!(self.state.stage, Stage::Spawning | Stage::Running) {
            self.notice(Level::Info, "moving to the background".to_owned());
            self.interrupt();
        }
    }

    /// A stop takes effect at once where nothing must be waited for; `Finish` ends what still runs. A box that is being
    /// written is waited for: what the person has decided about it would be lost.
    pub(super) fn end_if_nothing_runs(&mut self) {
        match self.state.stage {
            // Git and the person's hooks outlive us: what came of it is found out when the run goes on, and so is how far a
            // worktree has come.
            Stage::Idle
            | Stage::Paused
            | Stage::Parked
            | Stage::AwaitingTree { .. }
            | Stage::Committing
            | Stage::MakingWorktree
            | Stage::Merging => {}
            // They run what Claude has written: what they have done to the ticket's file is to be known first.
            Stage::Validating => return self.effect(Effect::StopValidation),
            Stage::Snapshotting | Stage::Comparing => {
                self.end_iteration(IterationOutcome::Interrupted);
            }
            _ => return,
        }
        if !self.state.is_writing_ticket() {
            match self.state.chat {
                Some(_) => self.end(ExitReason::UserStopped, CLOSED),
                None => self.end_stopped(),
            }
        }
    }

    /// An answer to a question that is open no more. Of one that is asked again the person is told.
    pub(super) fn too_late(&mut self, id: &QuestionId, by: Answerer, answer: Answer) {
        if !self.state.approvals.iter().any(|approval| approval.id.call == id.call) {
            let by = AnsweredBy::Person(by);
            self.record(Record::AnswerTooLate(Answered { id: id.clone(), answer, by }));
        }
    }

    fn skip(&mut self, phase: PhaseId) {
        let open = self.state.phase_by(phase).filter(|phase| phase.is_open());
        if let Some(named) = open.map(PhaseState::named) {
            self.settled_by_person(phase, Record::PhaseSkipped(named));
        }
    }

    /// The phase is done, the person says: whoever ticked its box before.
    fn tick(&mut self, phase: PhaseId, by: Answerer, why: Option<String>) {
        let Some(known) = self.state.phase_by(phase).cloned() else {
            return self.notice(Level::Warn, "the phase that was to be ticked is no longer in the ticket");
        };
        if !matches!(known.mark, Mark::Done(_)) {
            self.settled_by_person(phase, Record::PhaseTicked(PhaseByPerson { of: known.named(), by, why }));
        }
        if !known.ticked || known.box_writes > 0 {
            self.set_box(known.named(), true);
        }
    }

    /// The person has decided about a phase: an iteration on it is in vain.
    fn settled_by_person(&mut self, phase: PhaseId, record: Record) {
        let running = self.open(|open| open.phase == Some(phase));
        let text = self.state.phase_by(phase).map(|phase| phase.text.clone());
        self.record(record);
        self.void_of_phase(&text.unwrap_or_default());
        if running {
            self.interrupt();
        }
    }

    fn take_up_again(&mut self, phase: PhaseId, by: Answerer) {
        let Some(known) = self.state.phase_by(phase).cloned() else { return };
        match known.mark {
            Mark::Running | Mark::Claimed => return,
            Mark::Pending if !known.ticked && known.box_writes == 0 => return,
            _ => {}
        }
        self.record(Record::PhaseReopened(PhaseByPerson { of: known.named(), by, why: None }));
        if matches!(known.mark, Mark::Done(_)) || known.ticked || known.box_writes > 0 {
            self.set_box(known.named(), false);
        }
    }
}
