//! Which snapshots of a ticket have become old, and which of them stay whatever their age.

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long snapshots are kept. Each limit counts by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Days since the run has ended; `None`: however long that is.
    pub days: Option<u32>,
    /// So many runs of a ticket; `None`: all.
    pub runs: Option<u32>,
}

/// A snapshot, by its ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRef {
    pub name: String,
    /// Its git object.
    pub id: String,
    /// `None`: it was saved before something was written for the person.
    pub run: Option<RunId>,
    /// The iteration, or the number of what was saved.
    pub n: u32,
    /// It is of the iteration's end.
    pub is_end: bool,
    /// Of an end it is not known.
    pub time: Timestamp,
}

/// A run of the ticket.
#[derive(Clone, Debug)]
pub struct OfRun {
    pub run: RunId,
    pub started: Timestamp,
    pub updated: Timestamp,
    /// It has ended, and is not resumed.
    pub is_over: bool,
    /// Its work was committed by programmator.
    pub is_committed: bool,
    /// The last iteration whose phase commands have verified.
    pub verified: Option<u32>,
}

/// Those of a ticket's snapshots that go. `runs`: all of them in their order. `is_open`: the ticket is not closed.
pub fn outdated<'a>(
    refs: &[&'a KeptRef],
    runs: &[OfRun],
    is_open: bool,
    keep: Keep,
    now: Timestamp,
) -> Vec<&'a KeptRef> {
    let most = keep.runs.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
    let is_late = |time: Timestamp| keep.days.is_some_and(|days| now.since(time) > DAY * days);
    // Earlier runs than these are too many.
    let first = most.map_or(0, |most| runs.len().saturating_sub(most));
    let committed = runs.iter().rposition(|run| run.is_committed);
    let good = runs.iter().enumerate().rev().find_map(|(at, run)| Some((at, run.verified?)));
    let newest = refs.iter().filter(|one| one.run.is_none()).map(|one| one.n).max();
    let goes = |one: &&&'a KeptRef| {
        let Some(run) = one.run else {
            let latest = runs.last().is_some_and(|latest| one.time >= latest.started);
            let is_over = first > 0 && runs.get(first).is_some_and(|kept| one.time < kept.started);
            // The number of the newest one is not to be given again.
            return Some(one.n) != newest && !(is_open && latest) && (is_late(one.time) || is_over);
        };
        // Whose runs are not known here are another's.
        let Some(at) = runs.iter().position(|known| known.run == run) else { return false };
        let is_good = |(of, n): (usize, u32)| at == of && (one.n == n || one.n == n + 1 && !one.is_end);
        let is_needed = at + 1 == runs.len()
            || committed.is_none_or(|committed| at > committed)
            || at == 0 && one.n == 1 && !one.is_end
            || good.is_some_and(is_good);
        runs[at].is_over && !(is_open && is_needed) && (is_late(runs[at].updated) || at < first)
    };
    refs.iter().filter(goes).copied().collect()
}

const DAY: Duration = Duration::from_secs(86_400);

/// Old snapshots were removed. Behind a run's end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotsPruned {
    pub removed: usize,
    /// What git frees of the disk when it next collects its garbage, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    pub by: Answerer,
}

/// What git frees, in words.
pub fn freed(bytes: Option<u64>) -> String {
    match bytes {
        None => String::new(),
        Some(bytes) if bytes < 1 << 20 => format!(" · git frees {} KiB at its next gc", bytes.div_ceil(1 << 10)),
        Some(bytes) => format!(" · git frees {}.{} MiB at its next gc", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000 * 86_400_000);

    fn run(n: u8) -> RunId {
        RunId::parse(&format!("0192aaaa-0000-7000-8000-0000000000{n:02x}")).unwrap()
    }

    fn days_ago(days: i64) -> Timestamp {
        Timestamp::from_millis(NOW.millis() - days * 86_400_000)
    }

    /// A run that ended so many days ago, with the last iteration that was verified.
    fn of_run(n: u8, ago: i64, verified: Option<u32>) -> OfRun {
        let (started, updated) = (days_ago(ago + 1), days_ago(ago));
        OfRun { run: run(n), started, updated, is_over: true, is_committed: false, verified }
    }

    /// Two iterations of it, and what was saved beside them.
    fn refs(runs: &[OfRun]) -> Vec<KeptRef> {
        let mut all = Vec::new();
        for (at, of) in runs.iter().enumerate() {
            for (n, is_end) in [(1, false), (1, true), (2, false), (2, true)] {
                let name = format!("{at}/{n}{}", if is_end { "-end" } else { "" });
                all.push(KeptRef { name, id: String::new(), run: Some(of.run), n, is_end, time: of.started });
            }
            let n = at as u32 + 1;
            let name = format!("restore/{n}");
            all.push(KeptRef { name, id: String::new(), run: None, n, is_end: false, time: of.updated });
        }
        all
    }

    fn gone(runs: &[OfRun], is_open: bool, keep: Keep) -> String {
        let all = refs(runs);
        let all: Vec<&KeptRef> = all.iter().collect();
        outdated(&all, runs, is_open, keep, NOW).iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn of_a_closed_ticket_what_is_old_goes_and_of_many_runs_the_first_ones() {
        let runs = [of_run(1, 100, Some(1)), of_run(2, 20, Some(1)), of_run(3, 10, None)];
        let (all, days) = (Keep::default(), Keep { days: Some(90), runs: None });
        assert_eq!(gone(&runs, false, all), "");
        assert_eq!(gone(&runs, false, days), "0/1 0/1-end 0/2 0/2-end restore/1");
        assert_eq!(gone(&runs, false, Keep { days: None, runs: Some(2) }), "0/1 0/1-end 0/2 0/2-end restore/1");
        let everything = gone(&runs, false, Keep { days: Some(1), runs: None });
        assert!(everything.contains("2/2-end") && !everything.contains("restore/3"), "{everything}");
    }

    #[test]
    fn of_an_open_ticket_what_is_needed_stays() {
        let mut runs = vec![of_run(1, 400, Some(1)), of_run(2, 300, Some(2)), of_run(3, 200, None)];
        let keep = Keep { days: Some(90), runs: Some(1) };
        assert_eq!(gone(&runs, true, keep), "restore/1 restore/2", "c needs what was never committed");
        // The start of the first run, the last good snapshot and the latest run stay.
        runs[1].is_committed = true;
        assert_eq!(gone(&runs, true, keep), "0/1-end 0/2 0/2-end restore/1 1/1 1/1-end restore/2");
        runs[0].is_over = false;
        assert!(!gone(&runs, false, keep).contains("0/"), "a run that can be resumed keeps all");
    }

    #[test]
    fn what_another_store_knows_is_left_alone() {
        let all = refs(&[of_run(1, 400, None)]);
        let all: Vec<&KeptRef> = all.iter().collect();
        let known = [of_run(2, 400, None)];
        assert_eq!(outdated(&all, &known, false, Keep { days: Some(1), runs: Some(1) }, NOW), Vec::<&KeptRef>::new());
    }

    #[test]
    fn what_is_freed_is_told_in_round_numbers() {
        assert_eq!(freed(Some(1)), " · git frees 1 KiB at its next gc");
        assert_eq!(freed(Some(3 << 19)), " · git frees 1.5 MiB at its next gc");
        assert_eq!(freed(None), "");
    }
}
