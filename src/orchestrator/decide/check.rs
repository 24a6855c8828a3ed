//! Turning a claim into facts: evidence, validation, the tick, the end of the iteration.

use super::Draft;
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::phase::Claimed;
use crate::domain::record::{BoxSettled, Level, OfPhase, Record, TurnFailed, ValidationRan, WriteOutcome};
use crate::domain::ticket::TicketStatus;
use crate::domain::timeline::contents::EVIDENCE_FILES;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::failure;
use crate::orchestrator::judge::Checks;
use crate::orchestrator::limits;
use crate::orchestrator::state::{Pace, Stage};
use crate::orchestrator::step::Judged;
use crate::orchestrator::turn_outcome::{IterationFacts, iteration_outcome};

impl Draft<'_> {
    /// Compares the working tree with the iteration's snapshot and the phase's baseline.
    pub(super) fn compare(&mut self, n: u32) {
        let Some(open) = self.state.open_iteration() else { return };
        let Some(iteration_base) = open.snapshot.clone() else { return };
        // Another open phase may be claimed: it is judged against its own baseline, where it has one.
        let phase = match open.claimed {
            Some(Claimed::Phase(id)) => Some(id),
            _ => open.phase,
        };
        let phase_base = self.state.about(phase).and_then(|phase| phase.baseline.clone());
        let phase_base = phase_base.unwrap_or_else(|| iteration_base.clone());
        self.effect(Effect::GatherEvidence { n, iteration_base, phase_base });
    }

    pub(super) fn evidence_gathered(&mut self, n: u32, mut iteration_files: Vec<String>, mut phase_files: Vec<String>) {
        if self.state.stage == Stage::Validating {
            return;
        }
        iteration_files.truncate(EVIDENCE_FILES);
        phase_files.truncate(EVIDENCE_FILES);
        self.record(Record::EvidenceGathered { n, iteration_files, phase_files });
        let checks = if self.state.validation.is_empty() { Checks::None } else { Checks::Pending };
        self.judge_claim(n, checks);
    }

    pub(super) fn validation_finished(&mut self, n: u32, results: &[ValidationRan]) {
        if self.state.stage != Stage::Validating {
            return;
        }
        for result in results {
            self.record(Record::ValidationRan(result.clone()));
        }
        self.judge_claim(n, Checks::Ran(results));
    }

    /// The person has stopped the run, and may have taken that back since.
    pub(super) fn validation_stopped(&mut self) {
        self.end_iteration(IterationOutcome::Interrupted);
        if self.state.pace == Pace::StopNext {
            self.end_if_nothing_runs();
        } else {
            self.advance();
        }
    }

    /// What the step's answer comes to. There may be none.
    fn judge_claim(&mut self, n: u32, checks: Checks<'_>) {
        let stop = match self.step().map(|step| (step.judge)(&self.state, checks)) {
            Some(Judged::Validate) => {
                let commands = self.state.validation.clone();
                return self.effect(Effect::RunValidation { n, commands });
            }
            Some(Judged::Facts(facts)) => {
                self.record_all(facts);
                None
            }
            Some(Judged::Stop(facts, reason, why)) => {
                self.record_all(facts);
                Some((reason, why))
            }
            None => None,
        };
        self.settle(stop);
    }

    fn record_all(&mut self, facts: Vec<Record>) {
        for fact in facts {
            match fact {
                Record::EditDue(due) => self.edit(due),
                fact => self.record(fact),
            }
        }
    }

    /// The iteration is judged: end it, and see what is next. The box is ticked on the way.
    fn settle(&mut self, stop: Option<(ExitReason, String)>) {
        let Some(open) = self.state.open_iteration() else { return self.advance() };
        let outcome = iteration_outcome(IterationFacts {
            claimed: open.has_answered(),
            limited: open.limited.is_some(),
            failed: open.failure.is_some(),
            cut: open.cut,
        });
        let failed = open.failure.as_ref().filter(|_| !open.has_answered());
        let fatal = failed.and_then(failure::fatal).and_then(|(reason, why)| match reason {
            ExitReason::Budget => Some((reason, failure::over_budget(&limits::used_up(&self.state))?)),
            _ => Some((reason, why)),
        });
        self.end_iteration(outcome);
        if let Some((reason, detail)) = fatal {
            return self.end(reason, detail);
        }
        match stop {
            Some((reason, why)) => self.end(reason, why),
            None => self.advance(),
        }
    }

    /// Nothing is known of the tree: nothing is judged. What was cut off before it claimed anything needs no judgement.
    pub(super) fn evidence_failed(&mut self, n: u32, message: String) {
        let cut = [IterationOutcome::CutOff, IterationOutcome::Interrupted];
        if self.open(|open| !open.has_answered() && open.cut.is_some_and(|how| cut.contains(&how))) {
            self.notice(Level::Warn, format!("cannot tell what the iteration changed: {message}"));
            return self.settle(None);
        }
        self.notice(Level::Error, message.clone());
        self.record(Record::TurnFailed(TurnFailed {
            n,
            error: "no_evidence".into(),
            message: message.clone(),
            status: None,
        }));
        self.end_iteration(IterationOutcome::Failed);
        self.end(ExitReason::Error, message);
    }

    pub(super) fn box_settled(&mut self, phase: OfPhase, done: bool, outcome: WriteOutcome, reading: u64) {
        if !self.state.is_open() {
            return;
        }
        // Else the phase is gone from the file by now.
        if self.state.stage == Stage::WritingBox || self.state.is_writing_box() {
            self.box_is_so(done, BoxSettled { phase, outcome, reading: Some(reading) });
        }
        self.written();
    }

    fn box_is_so(&mut self, done: bool, settled: BoxSettled) {
        let loop_waits = self.state.stage == Stage::WritingBox;
        let trouble = settled.outcome.clone().box_trouble();
        let gone = settled.outcome == WriteOutcome::FileGone;
        let text = settled.phase.phase.clone();
        self.record(if done { Record::TickSettled(settled) } else { Record::UntickSettled(settled) });
        if let Some(why) = trouble {
            let (is, to_be) = if done { ("done", "ticked") } else { ("open", "unticked") };
            self.notice(Level::Warn, format!("“{text}” is {is}, but its box could not be {to_be}: {why}"));
        }
        // Else the file's watch tells it, which looks for it for a while.
        if gone && loop_waits {
            self.record(Record::TicketLost { why: "the file is gone".into() });
        }
    }

    pub(super) fn status_settled(&mut self, to: TicketStatus, outcome: WriteOutcome) {
        if self.state.stage != Stage::SettingStatus {
            return;
        }
        let trouble = match &outcome {
            WriteOutcome::Failed(why) => Some(why.clone()),
            WriteOutcome::FileGone => Some("the file is gone".to_owned()),
            _ => None,
        };
        let gone = outcome == WriteOutcome::FileGone;
        self.record(Record::StatusSettled { to, outcome });
        if let Some(why) = trouble {
            self.notice(Level::Warn, format!("`status: {}` could not be written: {why}", to.word()));
        }
        if gone {
            self.record(Record::TicketLost { why: "the file is gone".into() });
        }
        self.advance();
    }
}
