//! Records about Claude at work in an iteration, folded into it.

use super::watch;
use crate::base::time::Timestamp;
use crate::domain::approval::ApprovalKind;
use crate::domain::phase::Claimed;
use crate::domain::phase::Mark;
use crate::domain::record::{AgentReady, Record, TurnEnded, TurnFailed, ValidationRan};
use crate::domain::verdict::Verdict;
use crate::orchestrator::judge;
use crate::orchestrator::state::{Failure, Stage, State, Validated};

/// Summaries kept for the prompt and the screen.
const SUMMARIES: usize = 5;

/// Calls kept for the gauge of the last hour.
const CALLS: usize = 1_000;

/// The records of a running iteration.
pub(super) fn fold_agent(state: &mut State, record: &Record, time: Timestamp) {
    if let Record::ClaimMade { claim, about, .. } = record {
        let about = about.unwrap_or_else(|| judge::claimed(state, claim));
        let phase = match about {
            Claimed::Phase(id) => state.phase_by_mut(id),
            Claimed::Whole if judge::is_sign(state, claim) => Some(&mut state.whole),
            Claimed::Whole | Claimed::Nothing | Claimed::Unknown => None,
        };
        if let Some(phase) = phase {
            phase.mark = Mark::Claimed;
        }
        let Some(iteration) = &mut state.iteration else { return };
        iteration.claimed = Some(about);
        if iteration.role.counts.is_progress() {
            state.summaries.push(claim.summary.clone());
            let surplus = state.summaries.len().saturating_sub(SUMMARIES);
            state.summaries.drain(..surplus);
        }
    }
    let Some(iteration) = &mut state.iteration else { return };
    watch::fold(iteration, record, time);
    match record {
        Record::SnapshotTaken { id, .. } => {
            iteration.snapshot = Some(id.clone());
            // Who plans or looks at the work does not begin it.
            if iteration.role.counts.is_progress() {
                state.since.get_or_insert_with(|| id.clone());
            }
            if let Some(phase) = state.own_phase_mut() {
                phase.baseline.get_or_insert_with(|| id.clone());
            }
            state.stage = Stage::Spawning;
        }
        Record::ChangesShown { files, .. } => iteration.shown.clone_from(files),
        Record::CallCounted(_) => {
            state.calls.push(time);
            let surplus = state.calls.len().saturating_sub(CALLS);
            state.calls.drain(..surplus);
        }
        Record::SpawnRequested { .. } => {
            iteration.respawn = false;
            iteration.ready = false;
            iteration.process_cost_usd = 0.0;
            state.stage = Stage::Spawning;
        }
        Record::AgentSpawned { pid, .. } => {
            iteration.pid = Some(*pid);
            state.stage = Stage::Running;
        }
        Record::AgentReady(AgentReady { model, version, .. }) => {
            iteration.ready = true;
            if iteration.role.model.is_none() {
                state.model = Some(model.clone());
            }
            state.version = Some(version.clone());
        }
        Record::SessionLost(_) => {
            iteration.respawn = true;
            iteration.resumed = None;
            state.stage = Stage::Closing;
        }
        Record::ToolJudged { tool_use_id, tool, verdict, .. } => {
            iteration.asked_person |= ApprovalKind::always(tool).is_some();
            match verdict {
                Verdict::Allow => iteration.begin_call(tool_use_id),
                Verdict::Block => iteration.refuse_call(tool_use_id, tool),
                // What is asked counts by its answer.
                Verdict::Ask | Verdict::Passphrase => {}
            }
        }
        Record::ToolFinished { tool_use_id, .. } => {
            iteration.tools.remove(tool_use_id);
        }
        Record::OutputAnalysed(analysis) => {
            let before = iteration.analysis.take();
            let now = before.map_or_else(|| analysis.clone(), |before| before.then(analysis.clone()));
            iteration.asked_person |= now.question.is_some();
            iteration.refused.clone_from(&now.refused);
            iteration.analysis = Some(now);
        }
        Record::ClaimMade { claim, .. } => {
            iteration.claim = Some(claim.clone());
            iteration.claim_missing = None;
            state.stage = Stage::Closing;
        }
        Record::CritiqueMade { critique, .. } => {
            iteration.critique = Some(critique.clone());
            iteration.claim_missing = None;
            state.stage = Stage::Closing;
        }
        Record::EvaluationMade { evaluation, .. } => {
            iteration.evaluation = Some(evaluation.clone());
            iteration.claim_missing = None;
            state.stage = Stage::Closing;
        }
        Record::DraftMade { .. } => {
            iteration.drafted = true;
            iteration.claim_missing = None;
            state.stage = Stage::Closing;
        }
        Record::ChatAnswered(answered) => {
            iteration.said = true;
            if !answered.more {
                state.stage = Stage::Closing;
            }
        }
        Record::ClaimMissing { reason, .. } => {
            iteration.claim_missing = Some(reason.clone());
            state.stage = Stage::Closing;
        }
        Record::FollowUpSent { .. } => {
            iteration.followed_up = true;
            state.stage = Stage::Running;
        }
        Record::TurnFailed(TurnFailed { error, message, status, .. }) => {
            iteration.failure = Some(Failure { error: error.clone(), message: message.clone(), status: *status });
            state.stage = Stage::Closing;
        }
        Record::StopAsked { outcome, .. } => {
            iteration.cut = Some(*outcome);
            state.stage = Stage::Stopping;
        }
        Record::TurnEnded(TurnEnded { cost_usd, usage, context, context_window, .. }) => {
            // The CLI's figure is cumulative over the turns of one process; a turn may come without one.
            let more = (cost_usd - iteration.process_cost_usd).max(0.0);
            iteration.process_cost_usd += more;
            iteration.cost_usd += more;
            state.cost_usd += more;
            state.usage.add(usage);
            iteration.output += usage.output;
            state.context = context.zip(*context_window).or(state.context);
        }
        Record::AgentExited { .. } => {
            iteration.pid = None;
            iteration.tools.clear();
            let respawn = iteration.respawn;
            state.stage = if respawn { Stage::Spawning } else { Stage::Comparing };
        }
        Record::EvidenceGathered { iteration_files, phase_files, .. } => {
            iteration.files = iteration_files.len();
            iteration.changed_files.clone_from(iteration_files);
            iteration.changed = Some(!iteration_files.is_empty());
            iteration.phase_changed = Some(!phase_files.is_empty());
            iteration.phase_files.clone_from(phase_files);
            state.stage = Stage::Validating;
        }
        Record::ValidationRan(ValidationRan { command, exit, tail, .. }) => {
            iteration.validated.push(Validated { command: command.clone(), exit: *exit, tail: tail.clone() });
        }
        _ => {}
    }
}
