//! What runs have come to since a moment, from the store. Blocking.

use crate::adapters::source_ledger;
use crate::adapters::store::{Store, StoreError};
use crate::adapters::tickets;
use crate::base::text::shell_word;
use crate::base::time::Timestamp;
use crate::domain::report::{Report, RunReport, Unread};
use crate::domain::source_reply::Replies;
use crate::domain::summary::RunSummary;
use crate::orchestrator::report::report as of_run;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

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
    let replies = source_ledger::all(store.folder());
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
            let run = store.as_seen(run)?;
            report.state = run.state;
            // What an earlier run of a ticket waited for is the later one's matter.
            if told_of.contains(&key) {
                report.waits = Vec::new();
            } else {
                report.unsent = unsent(&replies, &run.ticket_path);
            }
            told_of.insert(key);
            told.push(report);
        }
    }
    told.sort_by_key(|run| (!run.needs_person(), Reverse(run.updated)));
    Ok(Report { since, until, cost_usd: told.iter().map(|run| run.cost_usd).sum(), runs: told, unread })
}

/// What was to be told to the issue that the ticket names now and is not known to have arrived, each with what tries it again.
fn unsent(all: &[Replies], ticket_path: &str) -> Vec<String> {
    let of: Vec<&Replies> = all.iter().filter(|one| one.path == ticket_path).collect();
    // Most tickets have none, and their files are not read.
    let ticket = if of.is_empty() { None } else { tickets::load(Path::new(ticket_path)).ok() };
    let Some(reference) = ticket.as_ref().and_then(tickets::reference) else { return Vec::new() };
    let of = of.into_iter().filter(|one| one.reference == reference);
    of.flat_map(|one| one.troubles(&shell_word(ticket_path))).collect()
}

fn has_done_nothing(report: &RunReport) -> bool {
    let is_idle = report.iterations == 0 && report.decided.is_empty() && report.disputed.is_empty();
    is_idle && report.files_count == 0 && report.commits.is_empty() && report.merged_into.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::store::Append;
    use crate::base::id::RunId;
    use crate::domain::answerer::Answerer;
    use crate::domain::end_answer::{EndAnswer, EndAnswered};
    use crate::domain::outcome::ExitReason;
    use crate::domain::record::Record;
    use crate::domain::summary::RunState;

    #[tokio::test]
    async fn a_run_that_went_on_as_another_is_not_told_for_the_answer_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let of = |n: u128, state, started: i64, updated: i64| {
            let (started, updated) = (Timestamp::from_millis(started), Timestamp::from_millis(updated));
            let run = RunId(uuid::Uuid::from_u128(n));
            RunSummary { run, state, started, updated, ..crate::tui::sample::seen("tk-1", "/w") }
        };
        let append = async |summary: RunSummary, record| {
            let (run, ticket, time) = (summary.run, summary.ticket.clone(), summary.updated);
            store.append(Append { run, ticket, time, records: vec![record], summary }).await.unwrap();
        };
        let (reason, detail) = (ExitReason::Blocked, "no key".to_owned());
        let end = Record::RunEnded { reason, detail, iterations: 1, phases_done: 0, phases: 1, cost_usd: 1.0 };
        append(of(1, RunState::Ended, 1_000, 2_000), end).await;
        let (answer, by) = (EndAnswer::Resume, Answerer::PHONE);
        let said = EndAnswered { answer, words: String::new(), by, failed: None };
        append(of(1, RunState::Ended, 1_000, 5_000), Record::EndAnswered(said)).await;
        append(of(2, RunState::Running, 5_001, 5_001), Record::TreeGranted).await;
        let told = |since| report(&store, Timestamp::from_millis(since), Timestamp::from_millis(9_000)).unwrap().runs;
        assert_eq!(told(4_000).iter().map(|run| run.run.0.as_u128()).collect::<Vec<_>>(), [2]);
        assert_eq!(told(1_000).len(), 2, "then it did something of its own");
    }
}
