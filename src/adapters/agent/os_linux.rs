//! What only Linux has: a signal at the parent's death, control groups, wide pipes, `/proc`, process descriptors.
//!
//! The one place of this adapter with unsafe code: the child must ask for the signal itself, between fork and exec.

use super::marker::MARKER;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
};
use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, PipeReader};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Bytes that the kernel keeps for us while we are busy.
const PIPE_SIZE: usize = 1 << 20;

/// Widens the pipe; a system that refuses leaves it as it is.
pub(super) fn widen(pipe: &PipeReader) {
    rustix::pipe::fcntl_setpipe_size(pipe, PIPE_SIZE).ok();
}

/// Has the process interrupted when the starting thread ends: an interrupt is the only signal at
/// which Claude also ends its tools.
#[allow(unsafe_code)]
pub(super) fn die_with_parent(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; `prctl` and `getppid`
    // are plain system calls that neither allocate nor lock.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::INT))?;
            // The parent may have died before the request was made.
            if getppid() == Some(parent) { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
        });
    }
}

/// A process, held so that its id cannot come to mean another.
#[derive(Debug)]
pub(super) struct Process {
    pid: Pid,
    started: String,
    handle: OwnedFd,
}

impl Process {
    /// Tells processes apart, also those that were given the same number one after another.
    pub(super) fn identity(&self) -> (i32, String) {
        (self.pid.as_raw_nonzero().get(), self.started.clone())
    }

    /// It has not ended; one that only waits to be looked at by its parent has.
    pub(super) fn is_alive(&self) -> bool {
        let now = Stat::of(self.pid);
        now.is_some_and(|now| now.started == self.started && !matches!(now.state, 'Z' | 'X'))
    }

    /// Sends a signal; a process that is gone already is no error.
    pub(super) fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.handle, signal).ok();
    }
}

/// All processes, but this one, that carry one of `markers` in their environment.
pub(super) fn marked(markers: &[String]) -> Vec<Process> {
    let wanted: Vec<Vec<u8>> = markers.iter().map(|marker| format!("{MARKER}={marker}").into_bytes()).collect();
    let carries = |pid: &Pid| {
        let environ = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| wanted.iter().any(|wanted| entry == wanted.as_slice()))
    };
    // Few are worth being held; of those it is asked again.
    let held = all().filter(|pid| *pid != getpid() && carries(pid)).filter_map(hold);
    held.filter(|process| carries(&process.pid)).collect()
}

pub(super) fn process(pid: u32) -> Option<Process> {
    hold(Pid::from_raw(i32::try_from(pid).ok()?)?)
}

/// The processes below these that the kernel lists as their children: without a look at all others, but who is born while
/// another ends may be left out. A kernel that keeps no such lists names none.
pub(super) fn listed_below<'a>(of: impl Iterator<Item = &'a Process>) -> Vec<Process> {
    let mut todo: Vec<Pid> = of.filter(|process| process.is_alive()).map(|process| process.pid).collect();
    let mut seen: HashSet<Pid> = todo.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(parent) = todo.pop() {
        let threads = std::fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero())).into_iter().flatten();
        let listed =
            threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
        for child in listed.flat_map(|pids| pids.split(' ').filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()) {
            let Some(child) = Pid::from_raw(child).filter(|child| seen.insert(*child)) else { continue };
            // Its number may mean another by now.
            if let Some(process) = hold(child).filter(|_| Stat::of(child).is_some_and(|now| now.parent == Some(parent)))
            {
                found.push(process);
                todo.push(child);
            }
        }
    }
    found
}

/// All processes that descend from one of these.
pub(super) fn descendants<'a>(of: impl Iterator<Item = &'a Process>) -> Vec<Process> {
    let mut family: HashSet<Pid> = of.filter(|process| process.is_alive()).map(|process| process.pid).collect();
    if family.is_empty() {
        return Vec::new();
    }
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for pid in all() {
        if let Some(parent) = Stat::of(pid).and_then(|stat| stat.parent) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut todo: Vec<Pid> = family.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(parent) = todo.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            // Its number may mean another by now: the one that is held has to have a parent of the family as well.
            let is_child = || Stat::of(child).is_some_and(|now| now.parent.is_some_and(|now| family.contains(&now)));
            if let Some(process) = hold(child).filter(|_| is_child()) {
                found.push(process);
                family.insert(child);
                todo.push(child);
            }
        }
    }
    found
}

/// A control group (v2) below our own: whoever descends from a process in it is in it as well, whatever became of the
/// parents. Gone with this, if nobody is in it any more.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// The one of this process, who is in it from now on: made, or found where another has made it already. `None` where
    /// the system does not let us have one: not the superuser, and our own was not handed to the user (systemd:
    /// `Delegate=yes`, as all below `user@.service` is).
    pub(super) fn of(pid: u32, name: &str) -> Option<Self> {
        let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let folder = mounted()?.join(own).join(format!("{}{pid}", prefix(name)));
        if let Err(error) = std::fs::create_dir(&folder)
            && error.kind() != ErrorKind::AlreadyExists
        {
            return None;
        }
        let group = Self(folder);
        // Since Linux 5.14.
        let can_kill = group.0.join("cgroup.kill").exists();
        (can_kill && std::fs::write(group.0.join("cgroup.procs"), pid.to_string()).is_ok()).then_some(group)
    }

    /// All that were made under this name and are still there, wherever the one who made them was.
    pub(super) fn left(name: &str) -> Vec<Self> {
        let (prefix, mut found) = (prefix(name), Vec::new());
        let mut todo: Vec<PathBuf> = mounted().into_iter().collect();
        while let Some(folder) = todo.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                if entry.file_name().as_bytes().starts_with(prefix.as_bytes()) {
                    found.push(Self(entry.path()));
                } else {
                    todo.push(entry.path());
                }
            }
        }
        found
    }

    /// Takes this process out of it, to where it was.
    pub(super) fn leave(&self) {
        if let Some(above) = self.0.parent() {
            // The writer means itself.
            std::fs::write(above.join("cgroup.procs"), "0").ok();
        }
    }

    pub(super) fn members(&self) -> Vec<Process> {
        let listed = std::fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        listed.lines().filter_map(|pid| hold(Pid::from_raw(pid.parse().ok()?)?)).collect()
    }

    /// Kills all of it, groups below it too. Waits until it is empty, a second at most.
    pub(super) fn kill(&self) {
        std::fs::write(self.0.join("cgroup.kill"), "1").ok();
        let events = self.0.join("cgroup.events");
        let begun = Instant::now();
        // One that cannot be read is gone.
        while !std::fs::read_to_string(&events).map_or(true, |events| events.contains("populated 0")) {
            let waited = begun.elapsed();
            if waited > Duration::from_secs(1) {
                return;
            }
            sleep(waited.clamp(Duration::from_micros(200), Duration::from_millis(10)));
        }
    }
}

/// Where the kernel shows them.
fn mounted() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        fields.next().filter(|_| fields.next() == Some("cgroup2")).map(PathBuf::from)
    })
}

/// What the folders of this name begin with; a process id follows.
fn prefix(name: &str) -> String {
    format!("programmator-{name}-")
}

impl Drop for Group {
    fn drop(&mut self) {
        std::fs::remove_dir(&self.0).ok();
    }
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let number = |entry: std::fs::DirEntry| std::str::from_utf8(entry.file_name().as_bytes()).ok()?.parse().ok();
    entries.filter_map(number).filter_map(Pid::from_raw)
}

/// The process with this id, to tell it from others of its number.
pub(super) fn identified(pid: u32) -> Option<Process> {
    process(pid)
}

/// First held, then looked at: what is seen is what is held, or it is dead.
fn hold(pid: Pid) -> Option<Process> {
    let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    Some(Process { pid, started: Stat::of(pid)?.started, handle })
}

/// What `/proc/PID/stat` says.
struct Stat {
    state: char,
    parent: Option<Pid>,
    started: String,
}

impl Stat {
    /// Fields 3, 4 and 22; the name in field 2 may hold blanks and brackets.
    fn of(pid: Pid) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = Pid::from_raw(fields.next()?.parse().ok()?);
        Some(Self { state, parent, started: fields.nth(17)?.to_owned() })
    }
}

/// The parent of a process, or of this one.
pub(super) fn parent(pid: Option<i32>) -> Option<i32> {
    let Some(pid) = pid else { return getppid().map(|pid| pid.as_raw_nonzero().get()) };
    Some(Stat::of(Pid::from_raw(pid)?)?.parent?.as_raw_nonzero().get())
}

/// The process is gone, or only its end is waited for.
pub(super) fn has_ended(pid: i32) -> bool {
    Pid::from_raw(pid).and_then(Stat::of).is_none_or(|stat| matches!(stat.state, 'Z' | 'X' | 'x'))
}

/// The process is in the control group of some run's Claude.
pub(super) fn is_grouped(pid: i32) -> bool {
    let group = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    group.lines().flat_map(|line| line.split('/')).any(|name| name.starts_with("programmator-"))
}

/// The process was started with this variable, and it was not empty.
pub(super) fn has_variable(pid: i32, name: &str) -> bool {
    let begins = format!("{name}=").into_bytes();
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|entry| entry.starts_with(&begins) && entry.len() > begins.len())
}
