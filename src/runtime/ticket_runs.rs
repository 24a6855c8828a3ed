//! Which runs are of one ticket, and whether that is finished.

use crate::adapters::tickets;
use crate::base::id::RunId;
use crate::domain::summary::RunSummary;
use crate::domain::ticket::TicketStatus;
use std::path::Path;

/// The runs of the ticket in this file, in their order, wherever they worked.
pub fn of_ticket(all: Vec<RunSummary>, ticket_path: &str) -> Vec<RunSummary> {
    let mut runs: Vec<RunSummary> = all.into_iter().filter(|run| run.ticket_path == ticket_path).collect();
    runs.sort_by_key(|run| run.started);
    runs
}

/// The runs of this run's ticket in its folder, in their order.
pub fn runs_of(all: &[RunSummary], run: RunId) -> Result<Vec<RunSummary>, String> {
    let Some(meant) = all.iter().find(|known| known.run == run) else {
        return Err("the run no longer exists".to_owned());
    };
    let same = |other: &&RunSummary| {
        other.ticket_path == meant.ticket_path && other.workspace().directory() == meant.workspace().directory()
    };
    let mut runs: Vec<RunSummary> = all.iter().filter(same).cloned().collect();
    runs.sort_by_key(|run| run.started);
    Ok(runs)
}

/// Nothing of the ticket is left to do: it is closed, or all of its phases are done. One whose file is not there now may be
/// on another branch, or on a disk that is away.
pub fn is_finished(path: &str) -> bool {
    let Ok(ticket) = tickets::load(Path::new(path)) else { return false };
    let is_done = ticket.phases.iter().all(|phase| phase.done);
    // A box that was unticked since is work that is to come.
    is_done && ticket.status.map_or(!ticket.phases.is_empty(), |status| status == TicketStatus::Closed)
}
