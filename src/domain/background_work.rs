//! A process of ours in the background, as it is kept on the disk: enough to go on with its work after it was interrupted.

use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::summary::{RunState, RunSummary};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// So often work is begun again within an [`HOUR`]; what is interrupted once more is left to the person.
const MOST: usize = 3;
const HOUR: Duration = Duration::from_secs(3_600);
/// Most characters of its tickets' names.
const NAMES: usize = 400;
/// What was interrupted longer ago than this is the person's to go on with.
const LATELY: Duration = Duration::from_secs(7 * 24 * 3_600);
/// After so long a machine that is shut down has ended everything on it.
const SHUTDOWN: Duration = Duration::from_secs(60);

/// A process in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    pub pid: u32,
    /// What tells it from others that had its number before, or get it later; empty where that was not known.
    #[serde(default)]
    pub identity: String,
    pub work: Work,
    /// The directory that it works in.
    pub folder: String,
    /// Where it finds programs (`PATH`): who begins it again may find fewer.
    pub path: Option<String>,
    pub since: Timestamp,
    /// When it was begun again after it had been interrupted; the times before this.
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

/// One start of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Empty where the system does not tell one start from another.
    pub id: String,
    pub at: Timestamp,
}

/// That a process was told to end by a signal, as by a machine that is shut down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub at: Timestamp,
    /// Which start of the machine it was, as in [`Boot`].
    pub boot: String,
}

impl Told {
    /// The machine has been started since then. By the clock, which may have been set, only where nothing better is known.
    fn is_before(&self, boot: &Boot) -> bool {
        if self.boot.is_empty() || boot.id.is_empty() { self.at < boot.at } else { self.boot != boot.id }
    }
}

/// What becomes of work that was interrupted.
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

    /// When its work was begun again, and that it is now, as [`times`] reads it.
    pub fn begun_again(&self, now: Timestamp) -> String {
        self.resumed.iter().chain([&now]).map(|at| at.millis().to_string()).collect::<Vec<_>>().join(",")
    }

    /// The files of its tickets that are still to be worked on, each with why the person goes on with it, if they do: those of
    /// runs that were interrupted, and those that it had not come to. `runs`: the last of each ticket, as its lock tells how it
    /// stands; `held`: why this one is to stand still.
    pub fn left<'a, W>(
        &'a self,
        runs: &[RunSummary],
        held: impl Fn(&RunSummary) -> Option<W>,
    ) -> Vec<(&'a str, Option<W>)> {
        let Work::Tickets { files, .. } = &self.work else { return Vec::new() };
        let left = |file: &'a String| {
            let Some(run) = last(runs, file) else { return Some((file.as_str(), None)) };
            match run.state {
                RunState::Interrupted => Some((file.as_str(), held(run))),
                RunState::Ended => (run.updated < self.since).then_some((file.as_str(), None)),
                // Another program goes on with it.
                RunState::Running | RunState::Waiting | RunState::Paused | RunState::Parked => None,
            }
        };
        files.iter().filter_map(left).collect()
    }

    /// The files of its tickets that it is not done with.
    pub fn unfinished<'a>(&'a self, runs: &[RunSummary]) -> Vec<&'a str> {
        let Work::Tickets { files, .. } = &self.work else { return Vec::new() };
        let is_done =
            |file: &str| last(runs, file).is_some_and(|run| run.state == RunState::Ended && run.updated >= self.since);
        files.iter().map(String::as_str).filter(|file| !is_done(file)).collect()
    }

    /// Nothing was heard of its tickets for so long that they are not gone on with unasked. `told`: when it was told to end.
    pub fn is_old(&self, runs: &[RunSummary], told: Option<&Told>, now: Timestamp) -> bool {
        let Work::Tickets { files, .. } = &self.work else { return false };
        // Others may have run its tickets before it.
        let is_own = |run: &&RunSummary| run.state == RunState::Interrupted || run.started >= self.since;
        let own = files.iter().filter_map(|file| last(runs, file)).filter(is_own);
        let last_sign = own.map(|run| run.updated).chain(told.map(|told| told.at)).max();
        now.since(last_sign.map_or(self.since, |last| last.max(self.since))) >= LATELY
    }
}

fn last<'r>(runs: &'r [RunSummary], file: &str) -> Option<&'r RunSummary> {
    runs.iter().filter(|run| run.ticket_path == file).max_by_key(|run| run.started)
}

/// The tickets of these files, for people.
pub fn names<'a, T: AsRef<str> + 'a>(files: impl IntoIterator<Item = &'a T>) -> String {
    let name = |file: &'a T| Path::new(file.as_ref()).file_stem().unwrap_or_default().to_string_lossy();
    clean_line(&files.into_iter().map(name).collect::<Vec<_>>().join(", "), NAMES)
}

/// Milliseconds, with commas. What is none is left out.
pub fn times(text: &str) -> Vec<Timestamp> {
    text.split(',').filter_map(|at| at.parse().ok()).map(Timestamp::from_millis).collect()
}

/// What becomes of work whose process is gone. `told`: it was told to end; `None`: it was killed.
pub fn next(told: Option<&Told>, boot: &Boot, now: Timestamp) -> Next {
    match told {
        None => Next::Resume,
        Some(told) if told.is_before(boot) => Next::Resume,
        Some(told) if now.since(told.at) > SHUTDOWN => Next::Forget,
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
        let process = Background {
            pid: 7,
            identity: String::new(),
            work,
            folder: "/w".into(),
            path: None,
            since: at(10),
            resumed: Vec::new(),
        };
        let left = |why| [("/w/cut.md", why), ("/w/old.md", None), ("/w/new.md", None)];
        assert_eq!(process.left(&runs, |_| None), left(None));
        assert_eq!(
            process.left(&runs, |run| (run.ticket_path == "/w/cut.md").then_some("paused")),
            left(Some("paused"))
        );
        assert_eq!(process.unfinished(&runs), ["/w/cut.md", "/w/taken.md", "/w/old.md", "/w/new.md"]);
        let week = 7 * 24 * 60;
        let is_old = |runs: &[RunSummary], told: Option<i64>, now| {
            let told = told.map(|minute| Told { at: at(minute), boot: String::new() });
            process.is_old(runs, told.as_ref(), at(now))
        };
        assert!(!is_old(&runs, None, 19 + week) && is_old(&runs, None, 20 + week));
        // One that has waited for an answer for long was at work until it was told to end.
        assert!(!is_old(&runs, Some(30), 29 + week) && is_old(&runs, Some(30), 30 + week));
        // Without a run of its own it is the start of the process that counts.
        let others = [run("done", RunState::Ended, 5 + week)];
        assert!(!is_old(&others, None, 9 + week) && is_old(&others, None, 10 + week));
        let relay = Background { work: Work::Relay, resumed: vec![at(3)], ..process };
        assert_eq!(times(&relay.begun_again(at(4))), [at(3), at(4)]);
        assert!(relay.left(&runs, |_| None::<()>).is_empty() && !relay.is_old(&[], None, at(20 + week)));
    }

    #[test]
    fn what_somebody_has_ended_stays_so_and_what_a_restart_of_the_machine_has_ended_goes_on() {
        let boot = |id: &str, minute| Boot { id: id.to_owned(), at: at(minute) };
        let told = |minute, boot: &str| Some(Told { at: at(minute), boot: boot.to_owned() });
        let of = |told: Option<Told>, boot: &Boot, now| next(told.as_ref(), boot, at(now));
        assert_eq!(of(None, &boot("b", 5), 10), Next::Resume, "killed");
        assert_eq!(of(told(10, "b"), &boot("b", 5), 11), Next::Wait, "the machine may be going down");
        assert_eq!(of(told(10, "b"), &boot("b", 5), 12), Next::Forget, "it did not");
        // The clock may have been set since, forwards or back.
        assert_eq!(of(told(10, "a"), &boot("b", 5), 12), Next::Resume, "the machine was started after that");
        assert_eq!(of(told(4, "b"), &boot("b", 5), 10), Next::Forget);
        // Where starts of the machine have no names, the clock is all there is.
        assert_eq!(of(told(4, ""), &boot("", 5), 10), Next::Resume);
        assert_eq!(of(told(6, ""), &boot("", 5), 10), Next::Forget);
    }

    #[test]
    fn what_is_interrupted_again_and_again_is_left_to_the_person() {
        assert!(may_resume(&[], at(0)) && may_resume(&[at(0), at(1)], at(2)));
        assert!(!may_resume(&[at(0), at(1), at(2)], at(3)));
        assert!(may_resume(&[at(0), at(1), at(2)], at(60)), "the first was an hour ago");
    }
}
