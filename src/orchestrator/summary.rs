//! The run at a glance: what `status` lists and the store keeps beside the journal.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::summary::{RunState, RunSummary};
use crate::orchestrator::state::{Stage, State};

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
        folder: state.workspace.to_string(),
        state: match state.stage {
            Stage::AwaitingTree { holder: Some(_) } => RunState::Waiting,
            Stage::Paused => RunState::Paused,
            Stage::Parked => RunState::Parked,
            Stage::Ended => RunState::Ended,
            _ => RunState::Running,
        },
        phase: state.open_iteration().and_then(|_| state.own_text()).map(str::to_owned),
        phases_done: count(state.phases_done()),
        phases: count(state.phases.len()),
        iterations: state.counted_iterations(),
        cost_usd: state.cost_usd,
        reason: state.ended.as_ref().map(|ended| ended.reason.word().to_owned()),
        started: state.started.unwrap_or(epoch),
        updated: state.updated.unwrap_or(epoch),
    })
}
