//! How a run stands in the store, for benches that put it there themselves.

use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::summary::{RunState, RunSummary};

/// A run at work on its first iteration, since `time`.
pub fn summary(run: RunId, ticket: &TicketId, time: Timestamp) -> RunSummary {
    RunSummary {
        carried_usd: 0.0,
        title: String::new(),
        run,
        ticket: ticket.clone(),
        ticket_path: "/t".to_owned(),
        folder: "/w".to_owned(),
        state: RunState::Running,
        phase: None,
        phases_done: 0,
        phases: 1,
        iterations: 1,
        cost_usd: 0.0,
        reason: None,
        started: time,
        updated: time,
        marks: Vec::new(),
        unverified: false,
        needs: None,
        until: None,
        worked_ms: 0,
        commit: None,
        committing: false,
        added: 0,
        removed: 0,
        aside: Vec::new(),
        merged: false,
        taken_back: Vec::new(),
        worktree: None,
    }
}
