//! A process of ours in the background, as it is kept on the disk: enough to go on with its work after it was cut off.

use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::summary::{RunState, RunSummary};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// So often work is begun again within an [`HOUR`]; what is cut off once more is left to the person.
const MOST: usize = 3;
const HOUR: Duration = Duration::from_secs(3_600);
/// Most characters of its tickets' names.
const NAMES: usize = 400;
/// What was cut off longer ago than this is the person's to go on with.
const LATELY: Duration = Duration::from_secs(7 * 24 * 3_600);
/// After so long a machine that is shut down has ended everything on it.
const SHUTDOWN: Duration = Duration::from_secs(60);

/// A process in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    pub pid: u32,
    pub work: Work,
    /// The directory that it works in.
    pub folder: String,
    /// Where it finds programs (`PATH`): who begins it again may find fewer.
    pub path: Option<String>,
    pub since: Timestamp,
    /// When it was begun again after it had been cut off; the times before this.
    #[serde(default)]
    pub resumed: Vec<Timestamp>,
}

/// What it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    /// It works through tickets, in this order.
    Tickets {
        /// As they are typed, each with its value.
        options: Vec<String>,
        /// Their files.
        files: Vec<String>,
    },
    /// It asks on the phone.
    Relay,
}

/// What becomes of work that was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It goes on.
    Resume,
    /// The machine may be going down, and everything on it.
    Wait,
    /// Somebody has ended it.
    Forget,
}

impl Background {
    /// What it works on, for people.
    pub fn named(&self) -> String {
        match &self.work {
            Work::Tickets { files, .. } => names(files),
            Work::Relay => "the phone relay".to_owned(),
        }
    }

    /// The files of its tickets that are still to be worked on: those of runs that were interrupted lately, and those that it
    /// had not come to. `runs`: the last of each ticket, as its lock tells how it stands; `holds`: the person wants this one to
    /// stand still.
    pub fn left<'a>(
        &'a self,
        runs: &[RunSummary],
        holds: impl Fn(&RunSummary) -> bool,
        now: Timestamp,
    ) -> Vec<&'a str> {
        let Work::Tickets { files, .. } = &self.work else { return Vec::new() };
        let is_left = |file: &&String| {
            let last = runs.iter().filter(|run| run.ticket_path == **file).max_by_key(|run| run.started);
            last.is_none_or(|run| match run.state {
                RunState::Interrupted => now.since(run.updated) < LATELY && !holds(run),
                RunState::Ended => run.updated < self.since,
                // Another program goes on with it.
                RunState::Running | RunState::Waiting | RunState::Paused | RunState::Parked => false,
            })
        };
        files.iter().filter(is_left).map(String::as_str).collect()
    }
}

/// The tickets of these files, for people.
pub fn names<'a, T: AsRef<str> + 'a>(files: impl IntoIterator<Item = &'a T>) -> String {
    let name = |file: &'a T| Path::new(file.as_ref()).file_stem().unwrap_or_default().to_string_lossy();
    clean_line(&files.into_iter().map(name).collect::<Vec<_>>().join(", "), NAMES)
}

/// What becomes of work whose process is gone. `told`: when it was told to end by a signal, as by a machine that is shut down;
/// `None`: it was killed. `booted`: when the machine was started.
pub fn next(told: Option<Timestamp>, booted: Timestamp, now: Timestamp) -> Next {
    match told {
        None => Next::Resume,
        Some(told) if told < booted => Next::Resume,
        Some(told) if now.since(told) > SHUTDOWN => Next::Forget,
        Some(_) => Next::Wait,
    }
}

/// Work that was begun again at these times may be begun once more.
pub fn may_resume(begun: &[Timestamp], now: Timestamp) -> bool {
    begun.iter().filter(|at| now.since(**at) < HOUR).count() < MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_millis(minute * 60_000)
    }

    #[test]
    fn what_was_interrupted_goes_on_and_what_was_not_begun_yet() {
        let run = |name: &str, state, updated| RunSummary {
            ticket_path: format!("/w/{name}.md"),
            state,
            updated: at(updated),
            ..serde_json::from_value(serde_json::json!({
                "run": "0192aaaa-0000-7000-8000-000000000001", "ticket": "tk-1", "title": "T", "ticket_path": "",
                "folder": "/w", "state": "running", "phase": null, "phases_done": 0, "phases": 1, "iterations": 0,
                "cost_usd": 0.0, "reason": null, "started": at(1), "updated": at(1),
            }))
            .unwrap()
        };
        let runs = [
            run("cut", RunState::Interrupted, 20),
            run("done", RunState::Ended, 20),
            run("old", RunState::Ended, 5),
            run("taken", RunState::Parked, 20),
        ];
        let files = ["/w/done.md", "/w/cut.md", "/w/taken.md", "/w/old.md", "/w/new.md"].map(str::to_owned).to_vec();
        let work = Work::Tickets { options: Vec::new(), files };
        let process = Background { pid: 7, work, folder: "/w".into(), path: None, since: at(10), resumed: Vec::new() };
        assert_eq!(process.left(&runs, |_| false, at(30)), ["/w/cut.md", "/w/old.md", "/w/new.md"]);
        let is_paused = |run: &RunSummary| run.ticket_path == "/w/cut.md";
        assert_eq!(process.left(&runs, is_paused, at(30)), ["/w/old.md", "/w/new.md"]);
        let a_week_later = at(20 + 7 * 24 * 60);
        assert_eq!(process.left(&runs, |_| false, a_week_later), ["/w/old.md", "/w/new.md"]);
        let relay = Background { work: Work::Relay, ..process };
        assert!(relay.left(&runs, |_| false, at(30)).is_empty());
    }

    #[test]
    fn what_somebody_has_ended_stays_so_and_what_a_restart_of_the_machine_has_ended_goes_on() {
        let minutes = |told: Option<i64>, booted, now| next(told.map(at), at(booted), at(now));
        assert_eq!(minutes(None, 5, 10), Next::Resume, "killed");
        assert_eq!(minutes(Some(4), 5, 10), Next::Resume, "the machine was started after that");
        assert_eq!(minutes(Some(10), 5, 11), Next::Wait, "the machine may be going down");
        assert_eq!(minutes(Some(10), 5, 12), Next::Forget, "it did not");
    }

    #[test]
    fn what_is_cut_off_again_and_again_is_left_to_the_person() {
        assert!(may_resume(&[], at(0)) && may_resume(&[at(0), at(1)], at(2)));
        assert!(!may_resume(&[at(0), at(1), at(2)], at(3)));
        assert!(may_resume(&[at(0), at(1), at(2)], at(60)), "the first was an hour ago");
    }
}
