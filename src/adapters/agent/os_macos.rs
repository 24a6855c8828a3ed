//! What macOS offers instead of `/proc`: `ps`, which shows the environment of one's own processes.

use super::marker::MARKER;
#[cfg(target_os = "macos")]
use rustix::process::{Pid, Signal, getpid, kill_process};
#[cfg(target_os = "macos")]
use std::process::Command;

/// A process as `ps` saw it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Process {
    pid: i32,
    started: String,
}

#[cfg(target_os = "macos")]
impl Process {
    /// Tells processes apart, also those that were given the same number one after another.
    pub(super) fn identity(&self) -> (i32, String) {
        (self.pid, self.started.clone())
    }

    /// It has not ended. Who is not remembered is not asked about.
    pub(super) fn is_alive(&self) -> bool {
        true
    }

    /// Sends a signal, unless the number means another process by now.
    pub(super) fn signal(&self, signal: Signal) {
        let pid = self.pid.to_string();
        let now = ps(&["-ww", "-o", "pid=,lstart=", "-p", &pid]);
        let same = now.lines().filter_map(parse).any(|(process, _)| process == *self);
        if let (true, Some(pid)) = (same, Pid::from_raw(self.pid)) {
            kill_process(pid, signal).ok();
        }
    }
}

/// The process with this id. Not asked for here: see [`descendants`].
#[cfg(target_os = "macos")]
pub(super) fn process(_pid: u32) -> Option<Process> {
    None
}

/// The process with this id, to tell it from others of its number.
#[cfg(target_os = "macos")]
pub(super) fn identified(pid: u32) -> Option<Process> {
    ps(&["-ww", "-o", "pid=,lstart=", "-p", &pid.to_string()]).lines().find_map(|line| Some(parse(line)?.0))
}

/// None: an orphan here becomes the child of the system's first process at once, and of whom it was is told by nobody.
#[cfg(target_os = "macos")]
pub(super) fn descendants<'a>(_of: impl Iterator<Item = &'a Process>) -> Vec<Process> {
    Vec::new()
}

/// The same.
#[cfg(target_os = "macos")]
pub(super) fn listed_below<'a>(_of: impl Iterator<Item = &'a Process>) -> Vec<Process> {
    Vec::new()
}

/// There are no control groups.
#[cfg(target_os = "macos")]
#[derive(Debug)]
pub(super) struct Group;

#[cfg(target_os = "macos")]
impl Group {
    pub(super) fn of(_pid: u32, _name: &str) -> Option<Self> {
        None
    }

    pub(super) fn left(_name: &str) -> Vec<Self> {
        Vec::new()
    }

    pub(super) fn members(&self) -> Vec<Process> {
        Vec::new()
    }

    pub(super) fn kill(&self) {}
}

/// All processes, but this one, that carry one of `markers` in their environment.
#[cfg(target_os = "macos")]
pub(super) fn marked(markers: &[String]) -> Vec<Process> {
    let own = getpid().as_raw_nonzero().get();
    let mut found = find(&ps(&["-axEww", "-o", "pid=,lstart=,command="]), markers);
    found.retain(|process| process.pid != own);
    found
}

/// The parent of a process, or of this one.
#[cfg(target_os = "macos")]
pub(super) fn parent(pid: Option<i32>) -> Option<i32> {
    let pid = pid.unwrap_or_else(|| getpid().as_raw_nonzero().get()).to_string();
    ps(&["-o", "ppid=", "-p", &pid]).trim().parse().ok()
}

/// The process is gone, or only its end is waited for.
#[cfg(target_os = "macos")]
pub(super) fn has_ended(pid: i32) -> bool {
    let state = ps(&["-o", "stat=", "-p", &pid.to_string()]);
    state.trim().is_empty() || state.trim().starts_with('Z')
}

/// There are no control groups here.
#[cfg(target_os = "macos")]
pub(super) fn is_grouped(_pid: i32) -> bool {
    false
}

/// The process was started with this variable.
#[cfg(target_os = "macos")]
pub(super) fn has_variable(pid: i32, name: &str) -> bool {
    let begins = format!("{name}=");
    ps(&["-Eww", "-o", "command=", "-p", &pid.to_string()]).split_whitespace().any(|word| word.starts_with(&begins))
}

#[cfg(target_os = "macos")]
fn ps(args: &[&str]) -> String {
    Command::new("/bin/ps")
        .args(args)
        .env("LC_ALL", "C")
        .output()
        .map_or_else(|_| String::new(), |out| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// The processes in the output of `ps` that carry one of `markers`.
fn find(listing: &str, markers: &[String]) -> Vec<Process> {
    listing
        .lines()
        .filter_map(parse)
        .filter(|(_, command)| {
            command.split(' ').any(|word| {
                word.split_once('=').is_some_and(|(key, value)| key == MARKER && markers.iter().any(|m| m == value))
            })
        })
        .map(|(process, _)| process)
        .collect()
}

/// `PID`, five words of start time, the command with its environment behind it.
fn parse(line: &str) -> Option<(Process, &str)> {
    let mut rest = line;
    let mut word = || {
        rest = rest.trim_start();
        let end = rest.find(' ').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    };
    let pid = word()?.parse().ok()?;
    let started = (0..5).map(|_| word()).collect::<Option<Vec<_>>>()?.join(" ");
    Some((Process { pid, started }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_is_found_as_a_whole_word() {
        let listing = "\
  501 Sat Nov 21 22:00:01 2026     /bin/bash -c sleep 9 PATH=/bin PROGRAMMATOR_RUN_ID=run-1 TERM=x
  502 Sat Nov 21 22:00:02 2026     /bin/sleep 9 PROGRAMMATOR_RUN_ID=run-11
  503 Sat Nov 21 22:00:03 2026     /bin/sleep 9 OLD_PROGRAMMATOR_RUN_ID=run-1
garbage
";
        assert_eq!(
            find(listing, &["run-1".into()]),
            [Process { pid: 501, started: "Sat Nov 21 22:00:01 2026".into() }]
        );
    }
}
