//! Which runs are of one ticket.

use crate::base::id::RunId;
use crate::domain::summary::RunSummary;

/// The runs of the ticket in this file, in their order, wherever they worked.
pub fn of_ticket(all: Vec<RunSummary>, ticket_path: &str) -> Vec<RunSummary> {
    let mut runs: Vec<RunSummary> = all.into_iter().filter(|run| run.ticket_path == ticket_path).collect();
    runs.sort_by_key(|run| run.started);
    runs
}

/// The runs of this run's ticket in its folder, in their order.
pub fn runs_of(all: &[RunSummary], run: RunId) -> Result<Vec<RunSummary>, String> {
    let Some(meant) = all.iter().find(|known| known.run == run) else {
        return Err("there is no such run any more".to_owned());
    };
    let same = |other: &&RunSummary| {
        other.ticket_path == meant.ticket_path && other.workspace().directory() == meant.workspace().directory()
    };
    let mut runs: Vec<RunSummary> = all.iter().filter(same).cloned().collect();
    runs.sort_by_key(|run| run.started);
    Ok(runs)
}
