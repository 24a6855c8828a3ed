//! Obeying the person.

use super::Step;
use crate::domain::command::UserCommand;
use crate::domain::limits::admission::Asker;
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::record::Record;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::{Mark, Pace, PhaseState, Stage};

impl Step<'_> {
    pub(super) fn commanded(&mut self, id: String, command: UserCommand) {
        if self.state.ended.is_some() || self.state.run.is_none() {
            return;
        }
        match command {
            UserCommand::Pause => self.pause(),
            UserCommand::PauseNow => {
                self.pause();
                self.interrupt();
            }
            UserCommand::Resume => {
                let paused = self.state.stage == Stage::Paused;
                if paused || self.state.pace != Pace::Run {
                    self.record(Record::Continued);
                }
                if paused {
                    self.advance();
                }
            }
            UserCommand::RetryNow => self.look_again(Asker::Person),
            UserCommand::SkipPhase { phase } => self.skip(phase),
            UserCommand::RetryPhase { phase } => {
                let named = |other: &&PhaseState| other.text == phase && other.mark != Mark::Pending;
                let mark = self.state.phases.iter().find(named).map(|phase| phase.mark);
                match mark {
                    Some(Mark::Disputed | Mark::Skipped | Mark::Blocked) => {
                        self.record(Record::PhaseReopened { phase });
                    }
                    Some(Mark::Done(_)) => {
                        self.record(Record::PhaseReopened { phase: phase.clone() });
                        self.effect(Effect::UntickPhase { phase });
                    }
                    _ => {}
                }
            }
            UserCommand::Steer { text } => {
                self.record(Record::NoteGiven { id, text });
                self.send_notes();
            }
            UserCommand::Stop => {
                self.stop_next();
                self.interrupt();
                self.end_if_nothing_runs();
            }
            UserCommand::FinishAndStop => {
                self.stop_next();
                if self.state.open_iteration().is_none() {
                    self.end_if_nothing_runs();
                }
            }
            UserCommand::AnswerValidationChange { accept } => {
                let Some(seen) = self.state.validation_change.clone() else {
                    return;
                };
                let commands = if accept { seen } else { self.state.validation.clone() };
                self.record(Record::ValidationChangeAnswered { commands, accepted: accept });
            }
            UserCommand::AnswerApproval { id, answer } => self.answered(&id, answer),
            UserCommand::EditCall { id, input } => self.edited(&id, input),
            UserCommand::ResetBreaker => {
                if !self.state.breaker.is_at_rest() {
                    self.record(Record::BreakerReset);
                }
            }
        }
    }

    fn pause(&mut self) {
        if self.state.pace == Pace::Run && self.state.stage != Stage::Paused {
            self.record(Record::PauseAsked);
        }
        if self.state.stage == Stage::Parked {
            self.record(Record::Unparked);
            self.record(Record::Paused);
        }
    }

    fn stop_next(&mut self) {
        if self.state.pace != Pace::StopNext {
            self.record(Record::StopRequested);
        }
    }

    /// Ends Claude now, if it is at work.
    pub(super) fn interrupt(&mut self) {
        let Some(n) = self.state.open_iteration().map(|open| open.n) else {
            return;
        };
        if matches!(self.state.stage, Stage::Spawning | Stage::Running) {
            self.cut(n, IterationOutcome::Interrupted);
        }
    }

    /// A stop takes effect at once where nothing must be waited for; `Finish` ends what still runs.
    fn end_if_nothing_runs(&mut self) {
        match self.state.stage {
            Stage::Idle | Stage::Paused | Stage::Parked | Stage::AwaitingTree { .. } => {}
            Stage::Snapshotting | Stage::Comparing | Stage::Validating => {
                self.end_iteration(IterationOutcome::Interrupted);
            }
            _ => return,
        }
        self.end(ExitReason::UserStopped, "stopped by the person; `programmator resume` goes on");
    }

    fn skip(&mut self, phase: String) {
        let open = |mark: Mark| !mark.is_settled();
        if !self.state.phases.iter().any(|other| other.text == phase && open(other.mark)) {
            return;
        }
        let running = self.open(|open| open.phase.as_ref() == Some(&phase));
        self.record(Record::PhaseSkipped { phase });
        if running {
            self.interrupt();
        }
    }
}
