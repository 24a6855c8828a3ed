//! Turning a claim into facts: evidence, validation, the tick, the end of the iteration.

use super::Step;
use crate::domain::claim::ClaimStatus;
use crate::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use crate::domain::record::{Level, Record, TurnFailed, ValidationRan, WriteOutcome};
use crate::domain::ticket::TicketStatus;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::failure;
use crate::orchestrator::input::CommandResult;
use crate::orchestrator::judge::{self, Checks, Judgement};
use crate::orchestrator::limits;
use crate::orchestrator::state::Stage;
use crate::orchestrator::turn_outcome::{Came, iteration_outcome};

/// Names of changed files kept in a record.
const FILES: usize = 200;

impl Step<'_> {
    /// Compares the work tree with the iteration's snapshot and the phase's baseline.
    pub(super) fn compare(&mut self, n: u32) {
        let Some(open) = self.state.open_iteration() else {
            return;
        };
        let Some(iteration_base) = open.snapshot.clone() else {
            return;
        };
        // Another open phase may be claimed: it is judged against its own baseline, where it has one.
        let claimed = open.claim.as_ref().and_then(|claim| judge::claimed_phase(&self.state, claim));
        let phase = claimed.unwrap_or_else(|| open.phase.clone());
        let phase_base = self.state.phase(phase.as_deref()).and_then(|phase| phase.baseline.clone());
        let phase_base = phase_base.unwrap_or_else(|| iteration_base.clone());
        self.effect(Effect::GatherEvidence { n, iteration_base, phase_base });
    }

    pub(super) fn evidence_gathered(&mut self, n: u32, mut iteration_files: Vec<String>, mut phase_files: Vec<String>) {
        if self.state.stage == Stage::Validating {
            return;
        }
        iteration_files.truncate(FILES);
        phase_files.truncate(FILES);
        self.record(Record::EvidenceGathered { n, iteration_files, phase_files });
        let checks = if self.state.validation.is_empty() { Checks::None } else { Checks::Pending };
        self.judge_claim(n, checks);
    }

    pub(super) fn validation_finished(&mut self, n: u32, results: &[CommandResult]) {
        if self.state.stage != Stage::Validating {
            return;
        }
        for result in results {
            self.record(Record::ValidationRan(ValidationRan {
                n,
                command: result.command.clone(),
                exit: result.exit,
                timed_out: result.timed_out,
                ms: result.ms,
                tail: result.tail.clone(),
                log: result.log.clone(),
            }));
        }
        self.judge_claim(n, Checks::Ran(results));
    }

    fn judge_claim(&mut self, n: u32, checks: Checks<'_>) {
        let Some(open) = self.state.open_iteration() else {
            return;
        };
        let (own, refused) = (open.phase.clone(), open.blocked.clone());
        let (Some(claim), Some(changed)) = (open.claim.clone(), open.phase_changed) else {
            return self.settle();
        };
        if judge::names_unknown_phase(&self.state, &claim) {
            let name = claim.phase_completed.unwrap_or_default();
            let why = format!("the claimed phase “{name}” is none of the open phases");
            // A phase that the person has settled meanwhile stays as they want it.
            if self.state.phase(own.as_deref()).is_some_and(|own| !own.mark.is_settled()) {
                self.record(Record::PhaseDisputed { n, phase: own, why });
            }
            return self.settle();
        }
        let Some(phase) = judge::claimed_phase(&self.state, &claim) else {
            return self.settle();
        };
        match judge::judge(&claim, checks, changed, &refused) {
            Judgement::Validate => {
                let commands = self.state.validation.clone();
                return self.effect(Effect::RunValidation { n, commands });
            }
            Judgement::Done(how) if judge::settles(&self.state, &claim) => self.phase_done(n, phase, how),
            Judgement::Done(_) => {}
            Judgement::Disputed(why) => {
                let ticked = self.state.phase(phase.as_deref()).is_some_and(|phase| phase.ticked);
                self.record(Record::PhaseDisputed { n, phase, why });
                if ticked {
                    self.notice(Level::Warn, "the box is ticked in the file already, but the claim does not hold");
                }
            }
        }
        self.settle();
    }

    fn phase_done(&mut self, n: u32, phase: Option<String>, how: DoneHow) {
        self.record(Record::PhaseDone { n, phase, how });
    }

    /// The iteration is judged: end it, and see what is next. The box is ticked on the way.
    fn settle(&mut self) {
        let Some(open) = self.state.open_iteration() else {
            return self.advance();
        };
        let outcome = iteration_outcome(Came {
            claimed: open.claim.is_some(),
            limited: open.limited.is_some(),
            failed: open.failure.is_some(),
            cut: open.cut,
        });
        let failed = open.failure.as_ref().filter(|_| open.claim.is_none());
        let part = limits::was_part(&self.state);
        let fatal = failed.and_then(failure::fatal).filter(|(reason, _)| *reason != ExitReason::Budget || !part);
        let claim = open.claim.clone();
        self.end_iteration(outcome);
        if let Some((reason, detail)) = fatal {
            return self.end(reason, detail);
        }
        if let Some(claim) = claim
            && claim.status == ClaimStatus::Blocked
        {
            let why = claim.error.unwrap_or(claim.summary);
            return self.end(ExitReason::Blocked, format!("Claude is blocked: {why}"));
        }
        self.advance();
    }

    /// Nothing is known of the tree: nothing is judged. What was cut off before it claimed anything needs no judgement.
    pub(super) fn evidence_failed(&mut self, n: u32, message: String) {
        let cut = [IterationOutcome::CutOff, IterationOutcome::Interrupted];
        if self.open(|open| open.claim.is_none() && open.cut.is_some_and(|how| cut.contains(&how))) {
            self.notice(Level::Warn, format!("what the iteration changed is not known: {message}"));
            return self.settle();
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

    pub(super) fn tick_settled(&mut self, phase: &str, outcome: WriteOutcome) {
        if self.state.stage != Stage::Ticking {
            return;
        }
        let trouble = match &outcome {
            WriteOutcome::Written | WriteOutcome::AlreadySo => None,
            WriteOutcome::NotThere => Some("the phase is no longer in the file".to_owned()),
            WriteOutcome::FileGone => Some("the file is gone".to_owned()),
            WriteOutcome::Failed(why) => Some(why.clone()),
        };
        let gone = outcome == WriteOutcome::FileGone;
        self.record(Record::TickSettled { phase: phase.to_owned(), outcome });
        if let Some(why) = trouble {
            self.notice(Level::Warn, format!("“{phase}” is done, but its box could not be ticked: {why}"));
        }
        if gone {
            self.record(Record::TicketLost { why: "the file is gone".into() });
        }
        self.advance();
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
