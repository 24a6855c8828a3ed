//! What a start may cost, by the runs that were completed before.

use crate::base::time::human;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::Mark;
use crate::tui::model::Model;
use std::time::Duration;

/// What a phase has cost: the median of the completed runs of this directory.
pub struct Estimate {
    pub runs: usize,
    /// US dollars.
    pub cost: f64,
    /// From its run's start to its end, waiting included.
    pub time: Duration,
}

/// `None`: no run was completed here.
pub fn of_a_phase(model: &Model) -> Option<Estimate> {
    let complete = ExitReason::Complete.word();
    let runs: Vec<_> = model
        .runs
        .values()
        .flatten()
        .filter(|run| run.folder == model.folder && run.reason.as_deref() == Some(complete) && run.iterations > 0)
        .collect();
    let phases = |run: &crate::domain::summary::RunSummary| run.phases_done.max(1);
    let cost = median(runs.iter().map(|run| run.cost_usd / f64::from(phases(run))).collect())?;
    let seconds =
        median(runs.iter().map(|run| run.updated.since(run.started).as_secs_f64() / f64::from(phases(run))).collect())?;
    Some(Estimate { runs: runs.len(), cost, time: Duration::from_secs_f64(seconds) })
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// The line before a start: how much there is to do, under which profile, and what it may cost.
pub fn words(model: &Model, title: &str, marks: &[Mark]) -> String {
    let open = marks.iter().filter(|mark| !mark.is_settled()).count();
    let phases = match (marks.len(), open) {
        (0, _) => "no phases".to_owned(),
        (_, 1) => "1 open phase".to_owned(),
        (_, open) => format!("{open} open phases"),
    };
    let many = u32::try_from(open.max(1)).unwrap_or(u32::MAX);
    let cost = match of_a_phase(model) {
        None => "No estimate: no run has been completed here yet.".to_owned(),
        Some(Estimate { runs, cost, time }) => {
            let runs = if runs == 1 { "the one completed run".to_owned() } else { format!("{runs} completed runs") };
            let (cost, time) = (cost * f64::from(many), human(time.saturating_mul(many)));
            format!("Estimate: ${cost:.2} and {time}, from the median of {runs} here.")
        }
    };
    format!("Start “{title}”? It has {phases} and runs under the profile {}. {cost}", model.profile)
}
