//! The run at a glance: what `status` lists and the store keeps beside the journal.

use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::messages::reason_words;
use crate::domain::phase::Mark;
use crate::domain::step::StepName;
use crate::domain::summary::{AsideCost, RunState, RunSummary};
use crate::orchestrator::state::{Stage, State};
use crate::orchestrator::steps::STEPS;

/// Sums up the run; `None` before its first record.
pub fn summary(state: &State) -> Option<RunSummary> {
    let (run, ticket): (RunId, &TicketId) = (state.run?, state.ticket.as_ref()?);
    let epoch = Timestamp::from_millis(0);
    let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    Some(RunSummary {
        run,
        ticket: ticket.clone(),
        title: state.title.clone(),
        ticket_path: state.ticket_path.clone(),
        folder: state.workspace.home().display().to_string(),
        worktree: state.workspace.worktree().cloned(),
        state: match state.stage {
            Stage::AwaitingTree { holder: Some(_) } => RunState::Waiting,
            Stage::Paused => RunState::Paused,
            Stage::Parked => RunState::Parked,
            Stage::Ended => RunState::Ended,
            _ => RunState::Running,
        },
        phase: state.open_iteration().and_then(|_| state.own_text()).map(str::to_owned),
        // As the run left them: what the person opens again afterwards is the next run's.
        phases_done: count(state.phases.iter().filter(|phase| matches!(phase.mark, Mark::Done(_))).count()),
        phases: count(state.phases.len()),
        marks: state.phases.iter().map(|phase| phase.mark).collect(),
        taken_back: (0..).zip(&state.phases).filter(|(_, phase)| phase.is_taken_back()).map(|(at, _)| at).collect(),
        merged: state.is_merged,
        unverified: state.is_unverified(),
        needs: needs(state),
        until: state.limits.parked.as_ref().filter(|_| state.stage == Stage::Parked).map(|parking| parking.until),
        iterations: state.counted_iterations(),
        cost_usd: state.cost_usd,
        aside: aside(state),
        worked_ms: state.phases.iter().chain([&state.whole]).map(|phase| phase.spent_ms).sum(),
        carried_usd: state.carried_usd,
        commit: state.commits.of_work().map(str::to_owned),
        committing: state.commits.open.is_some() || state.reverts.open.is_some() || state.restoring.is_some(),
        added: state.ticket_lines().0,
        removed: state.ticket_lines().1,
        reason: state.ended.as_ref().map(|ended| ended.reason.word().to_owned()),
        started: state.started.unwrap_or(epoch),
        updated: state.updated.unwrap_or(epoch),
    })
}

/// What the steps that count for nothing have cost, in the order in which they were first called.
fn aside(state: &State) -> Vec<AsideCost> {
    let mut all: Vec<AsideCost> = Vec::new();
    let is_aside = |name: &StepName| STEPS.iter().any(|step| step.name == *name && !step.counts.is_progress());
    let receipts = state.limits.receipts.iter().filter(|receipt| !receipt.refused && is_aside(&receipt.step));
    for receipt in receipts {
        match all.iter_mut().find(|known| known.step == receipt.step) {
            Some(known) => {
                known.calls += 1;
                known.cost_usd += receipt.cost_usd;
            }
            None => all.push(AsideCost { step: receipt.step.clone(), calls: 1, cost_usd: receipt.cost_usd }),
        }
    }
    all
}

/// What the person has to do about it, in a few words.
fn needs(state: &State) -> Option<String> {
    let asked = state.approvals.first().map(|approval| clean_line(&approval.words(), 200));
    match &state.ended {
        Some(ended) => state.needs_person().then(|| match ended.detail.lines().next() {
            Some(detail) if !detail.is_empty() => clean_line(detail, 200),
            _ => reason_words(ended.reason).to_owned(),
        }),
        None if state.waiting_draft().is_some() => Some("draft ready".to_owned()),
        None if state.awaits_phases().is_some() => Some("more phases proposed".to_owned()),
        None => asked.or_else(|| state.needs_person().then(|| "validation commands changed".to_owned())),
    }
}
