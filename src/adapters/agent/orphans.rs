//! Processes that Claude left behind. Its tools live in sessions of their own, where no signal to
//! Claude's group reaches them; they are found by the marker that all of a run's processes inherit.
//!
//! A tool that clears its environment has no marker. On Linux it is found as one of the family: below Claude's
//! `keeper`, and in a control group where one can be had. Elsewhere it escapes; nothing here can see it.

use super::marker::MARKER;
#[cfg(target_os = "linux")]
use super::os_linux as os;
#[cfg(target_os = "macos")]
use super::os_macos as os;
use rustix::process::Signal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between being asked to end and being killed.
const GRACE: Duration = Duration::from_millis(300);

const PAUSE: Duration = Duration::from_millis(30);

/// No process stands deeper than this.
const ANCESTORS: usize = 256;

/// A process that cannot die (waiting for a dead disk) is given up after this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends every process that carries one of `markers` (values of
/// [`MARKER`]) and gives their number. Looks again until there is none, so
/// that children forked meanwhile do not escape. Blocks for up to five seconds.
///
/// After a run, and at the next start with the ids of runs that did not end well.
pub fn sweep(markers: &[String]) -> u32 {
    end(markers, &Family::default())
}

/// The same, for runs whose program has died: what it had no time for is done too.
pub fn sweep_interrupted(markers: &[String]) -> u32 {
    let mut ended = sweep(markers);
    for group in markers.iter().filter(|marker| !marker.is_empty()).flat_map(|marker| os::Group::left(marker)) {
        ended = ended.saturating_add(u32::try_from(group.members().len()).unwrap_or(u32::MAX));
        group.kill();
    }
    ended
}

/// The same as [`sweep`], and ends what is left of the family.
pub(super) fn end(markers: &[String], family: &Family) -> u32 {
    let markers: Vec<String> = markers.iter().filter(|m| !m.is_empty()).cloned().collect();
    let mut seen: HashMap<(i32, String), Instant> = HashMap::new();
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let mut found = family.left();
        // Beside a control group few could be found by a look at every process of the machine: the end of the run takes it.
        if !markers.is_empty() && !family.has_group() {
            found.extend(os::marked(&markers).into_iter().map(Arc::new));
        }
        found.retain(|process| !family.is_root(process));
        if found.is_empty() {
            break;
        }
        for process in found {
            let first_seen = *seen.entry(process.identity()).or_insert_with(|| {
                process.signal(Signal::TERM);
                Instant::now()
            });
            if first_seen.elapsed() >= GRACE {
                process.signal(Signal::KILL);
            }
        }
        sleep(PAUSE);
    }
    u32::try_from(seen.len()).unwrap_or(u32::MAX)
}

/// Who descends from a process: Claude's keeper, or Claude itself where it has none. Nobody leaves a keeper's family as
/// long as it lives; else whose parents ended before a look has left it, unless the control group knows it. Orphans are
/// not made Claude's own children: it waits for nobody that it did not start, and they would stay as zombies, which a
/// command that waits for their end takes for alive.
#[derive(Debug, Default)]
pub(super) struct Family(Mutex<Members>);

#[derive(Debug, Default)]
struct Members {
    root: Option<os::Process>,
    group: Option<os::Group>,
    others: Vec<Arc<os::Process>>,
}

impl Family {
    /// Of the process with this id: this one, or a child of ours that was not waited for yet.
    pub(super) fn of(pid: u32, marker: &str) -> Self {
        let (root, group) = (os::process(pid), os::Group::of(pid, marker));
        Self(Mutex::new(Members { root, group, others: Vec::new() }))
    }

    /// Remembers who belongs to it now. A few milliseconds.
    pub(super) fn look(&self) {
        drop(self.members());
    }

    /// Who is left beside the root, now.
    fn left(&self) -> Vec<Arc<os::Process>> {
        self.members().others.clone()
    }

    /// Nobody is looked for any more; who hides from all that was tried is killed without a word, the root too.
    pub(super) fn close(&self) {
        if let Some(group) = self.lock().group.take() {
            group.kill();
        }
    }

    /// The same, where this process is the root.
    #[cfg(target_os = "linux")]
    pub(super) fn leave(&self) {
        if let Some(group) = &self.lock().group {
            group.leave();
        }
        self.close();
    }

    fn has_group(&self) -> bool {
        self.lock().group.is_some()
    }

    fn is_root(&self, process: &os::Process) -> bool {
        self.lock().is_root(process)
    }

    /// A poisoned lock holds what it held.
    fn lock(&self) -> MutexGuard<'_, Members> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        let mut members = self.lock();
        members.others.retain(|process| process.is_alive());
        let known = members.root.iter().chain(members.others.iter().map(Arc::as_ref));
        let mut found = match &members.group {
            // Who has moved to another group is still of the family.
            Some(group) => group.members().into_iter().chain(os::listed_below(known)).collect(),
            None => os::descendants(known),
        };
        found.retain(|process| !members.is_root(process));
        for process in found {
            if members.others.iter().all(|known| known.identity() != process.identity()) {
                members.others.push(Arc::new(process));
            }
        }
        members
    }
}

impl Members {
    fn is_root(&self, process: &os::Process) -> bool {
        self.root.as_ref().is_some_and(|root| root.identity() == process.identity())
    }
}

/// Whether the process comes from this one.
pub fn descends_from(pid: i32, ancestor: u32) -> bool {
    let Ok(ancestor) = i32::try_from(ancestor) else { return false };
    let mut above = os::parent(Some(pid));
    for _ in 0..ANCESTORS {
        match above {
            Some(pid) if pid == ancestor => return true,
            Some(pid) if pid > 1 => above = os::parent(Some(pid)),
            _ => break,
        }
    }
    false
}

/// The processes above this one up to the nearest that was started without this variable, which is the last; empty where
/// there is none.
pub fn above_up_to_one_without(variable: &str) -> Vec<i32> {
    let (mut above, mut found) = (os::parent(None), Vec::new());
    while let Some(pid) = above.filter(|pid| *pid > 1 && found.len() < ANCESTORS) {
        found.push(pid);
        if !os::has_variable(pid, variable) {
            return found;
        }
        above = os::parent(Some(pid));
    }
    Vec::new()
}

/// What tells the process with this number from others that were given it before or are later; `None`: the system does not say.
pub fn started(pid: u32) -> Option<String> {
    os::process(pid).map(|process| process.identity().1)
}

/// The same, also where the system has to be asked by a program for it.
pub fn identity(pid: u32) -> Option<String> {
    os::identified(pid).map(|process| process.identity().1)
}

/// Sends a signal to the process with this number, where it is the one of this [`identity`]. `false`: it is another one, or there is
/// none.
pub fn signal(pid: u32, identity: &str, signal: Signal) -> bool {
    let found = os::identified(pid).filter(|process| process.identity().1 == identity);
    found.inspect(|process| process.signal(signal)).is_some()
}

/// There is a process with this number that has not ended.
pub fn is_there(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 0 && !os::has_ended(pid))
}

/// Whether a process that this one comes from carries the marker of a run: a tool of Claude's that has cleaned its
/// environment. What was moved to another parent is not seen.
pub fn has_marked_ancestor() -> bool {
    has_variable_from(os::parent(None), MARKER)
}

/// Whether this process is a tool of a run's Claude, or comes from one, as far as that can be seen: by the marker of it or of
/// one above it, or by the control group that Claude was put into. Of one that has ended nothing can be seen: it is taken for one.
pub fn comes_from_a_run(pid: i32) -> bool {
    // Last: until then it was there to be looked at.
    pid < 1 || os::is_grouped(pid) || has_variable_from(Some(pid), MARKER) || os::has_ended(pid)
}

/// Whether this process or one above it has this variable, as far as that can be seen.
pub fn has_variable_from(mut pid: Option<i32>, name: &str) -> bool {
    for _ in 0..ANCESTORS {
        match pid {
            Some(above) if above > 1 && os::has_variable(above, name) => return true,
            Some(above) if above > 1 => pid = os::parent(Some(above)),
            _ => break,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    fn marker() -> String {
        format!("test-{}", uuid::Uuid::new_v4())
    }

    #[test]
    fn a_child_that_ignores_the_polite_signal_and_a_detached_one_are_ended() {
        let marker = marker();
        let mut shell = Command::new("/bin/sh")
            .args(["-c", "trap '' TERM; setsid sleep 600 & echo ready; while :; do sleep 600; done"])
            .env(MARKER, &marker)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");

        // The shell, its sleep and the detached one; `setsid` may fork once more.
        assert!(sweep(std::slice::from_ref(&marker)) >= 3);
        assert!(os::marked(&[marker]).is_empty());
        assert!(!shell.wait().unwrap().success());
    }

    #[test]
    fn a_tool_of_a_run_is_known_with_a_clean_environment_below_it_too() {
        let script = "env -i /bin/sh -c 'echo $$; exec sleep 600'; :";
        let start = |marker: Option<String>| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]).stdout(Stdio::piped());
            marker.map(|marker| command.env(MARKER, marker));
            let mut shell = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
            (shell, line.trim().parse::<i32>().unwrap())
        };
        for (marker, is_tool) in [(Some(marker()), true), (None, has_marked_ancestor())] {
            let (mut shell, below) = start(marker);
            assert_eq!(comes_from_a_run(below), is_tool);
            os::process(below.cast_unsigned()).unwrap().signal(Signal::KILL);
            shell.wait().unwrap();
        }
        // Ended, and then waited for: who cannot be looked at is not trusted.
        let mut ended = Command::new("/bin/sh").args(["-c", "exit"]).stdout(Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(ended.id()).unwrap();
        BufReader::new(ended.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        ended.wait().unwrap();
        assert!(comes_from_a_run(pid) && comes_from_a_run(0));
    }

    /// Its last tool started a daemon, and nobody looked before it died.
    #[cfg(target_os = "linux")]
    #[test]
    fn after_a_sudden_end_the_control_group_knows_who_is_left() {
        use std::io::Write;
        let script = "read -r go; (env -i /bin/sh -c 'exec setsid sleep 600' >/dev/null 2>&1 & echo $!); kill -9 $$";
        let mut claude =
            Command::new("/bin/sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let family = Family::of(claude.id(), &marker());
        let has_group = family.0.lock().unwrap().group.is_some();
        claude.stdin.take().unwrap().write_all(b"go\n").unwrap();
        let mut line = String::new();
        BufReader::new(claude.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!claude.wait().unwrap().success());
        let daemon = os::process(line.trim().parse().unwrap()).unwrap();
        assert!(daemon.is_alive());

        let ended = end(&[], &family);
        assert_eq!((ended, daemon.is_alive()), (u32::from(has_group), !has_group), "with a control group: {has_group}");
        daemon.signal(Signal::KILL);
    }

    /// The program died, and with it whoever would have ended the daemon.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_control_group_that_a_killed_program_left_is_ended_and_removed_and_no_other() {
        let mut sleepers = [(); 2].map(|()| Command::new("/bin/sleep").arg("600").spawn().unwrap());
        let markers = [marker(), marker()];
        let has_group = [0, 1].map(|at| {
            let family = Family::of(sleepers[at].id(), &markers[at]);
            let has_group = family.0.lock().unwrap().group.is_some();
            drop(family);
            has_group
        });
        assert_eq!(sweep_interrupted(&[String::new(), markers[0].clone()]), u32::from(has_group[0]));
        assert!(os::Group::left(&markers[0]).is_empty());
        assert_eq!(os::Group::left(&markers[1]).len(), usize::from(has_group[1]));
        assert_eq!(sleepers[0].try_wait().unwrap().is_some(), has_group[0], "with a control group: {has_group:?}");
        assert!(sleepers[1].try_wait().unwrap().is_none());
        for sleeper in &mut sleepers {
            sleeper.kill().unwrap();
            sleeper.wait().unwrap();
        }
        assert!(os::Group::left(&markers[1]).len() <= 1, "an empty one");
        sweep_interrupted(&markers[1..]);
        assert!(os::Group::left(&markers[1]).is_empty());
    }

    #[test]
    fn other_runs_and_those_without_a_marker_are_left_alone() {
        let mine = marker();
        let mut other = Command::new("/bin/sleep").arg("600").env(MARKER, format!("{mine}0")).spawn().unwrap();
        assert_eq!(sweep(&[mine, String::new()]), 0);
        assert!(other.try_wait().unwrap().is_none(), "it was killed");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
