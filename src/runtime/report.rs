//! What runs have come to since a moment, from the store. Blocking.

use crate::adapters::store::{Store, StoreError};
use crate::base::time::Timestamp;
use crate::domain::report::{Report, RunReport, Unread};
use crate::domain::summary::RunSummary;
use crate::orchestrator::report::report as of_run;
use std::cmp::Reverse;
use std::collections::HashSet;

/// What all runs of the person have come to.
pub fn report(store: &Store, since: Timestamp, until: Timestamp) -> Result<Report, StoreError> {
    // Of those only questions are known.
    let runs = store.runs()?.into_iter().filter(|run| run.updated >= since && !run.is_own_session());
    of(store, runs, since, until)
}

/// What this run has come to.
pub fn report_of(store: &Store, run: RunSummary, since: Timestamp, until: Timestamp) -> Result<Report, StoreError> {
    of(store, [run].into_iter(), since, until)
}

/// What each run of the ticket whose file this is has come to, oldest first.
pub fn runs_of_ticket(store: &Store, ticket_path: &str, until: Timestamp) -> Result<Report, StoreError> {
    let runs = store.runs()?.into_iter().filter(|run| run.ticket_path == ticket_path && !run.is_own_session());
    let mut report = of(store, runs, Timestamp::from_millis(0), until)?;
    report.runs.sort_by_key(|run| run.run);
    Ok(report)
}

fn of(
    store: &Store,
    runs: impl Iterator<Item = RunSummary>,
    since: Timestamp,
    until: Timestamp,
) -> Result<Report, StoreError> {
    // The newest of a ticket comes first.
    let (mut told, mut told_of, mut unread) = (Vec::new(), HashSet::new(), Vec::new());
    for run in runs {
        let records = match store.load(run.run) {
            Ok(loaded) => loaded.records,
            // The others are told all the same.
            Err(error) => {
                unread.push(Unread { run: run.run, ticket: run.ticket, why: error.to_string() });
                continue;
            }
        };
        if let Some(mut report) = of_run(records.iter().map(AsRef::as_ref), since) {
            let key = run.key();
            // It has gone on as a later run: of this one only the answer to its end came since.
            if told_of.contains(&key) && run.started < since && has_done_nothing(&report) {
                continue;
            }
            // Whether its program is still there is in no record.
            report.state = store.as_seen(run)?.state;
            // What an earlier run of a ticket waited for is the later one's matter.
            if told_of.contains(&key) {
                report.waits = Vec::new();
            }
            told_of.insert(key);
            told.push(report);
        }
    }
    told.sort_by_key(|run| (run.waits.is_empty(), Reverse(run.updated)));
    Ok(Report { since, until, cost_usd: told.iter().map(|run| run.cost_usd).sum(), runs: told, unread })
}

fn has_done_nothing(report: &RunReport) -> bool {
    let is_idle = report.iterations == 0 && report.decided.is_empty() && report.disputed.is_empty();
    is_idle && report.files_count == 0 && report.commits.is_empty() && report.merged_into.is_none()
}
