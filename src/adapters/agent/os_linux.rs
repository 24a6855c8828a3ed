//! What only Linux has: a signal at the parent's death, wide pipes, `/proc`, process descriptors.
//!
//! The one place of this adapter with unsafe code: the child must ask for the signal itself, between fork and exec.

use super::launch::MARKER;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
};
use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use tokio::process::Command;

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
pub(super) struct Process {
    pid: Pid,
    handle: OwnedFd,
}

impl Process {
    /// Tells processes apart, also those that were given the same number one after another.
    pub(super) fn identity(&self) -> (i32, String) {
        let pid = self.pid.as_raw_nonzero().get();
        (pid, start_time(pid).unwrap_or_default())
    }

    /// Sends a signal; a process that is gone already is no error.
    pub(super) fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.handle, signal).ok();
    }
}

/// All processes, but this one, that carry one of `markers` in their environment.
pub(super) fn marked(markers: &[String]) -> Vec<Process> {
    let wanted: Vec<Vec<u8>> = markers.iter().map(|marker| format!("{MARKER}={marker}").into_bytes()).collect();
    let Ok(proc) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    proc.flatten()
        .filter_map(|entry| std::str::from_utf8(entry.file_name().as_bytes()).ok()?.parse().ok())
        .filter_map(Pid::from_raw)
        .filter(|pid| *pid != getpid())
        .filter_map(|pid| {
            // First held, then looked at: what is seen is what is held, or it is dead.
            let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
            let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
            let environ = std::fs::read(path).ok()?;
            environ
                .split(|byte| *byte == 0)
                .any(|entry| wanted.iter().any(|wanted| entry == wanted.as_slice()))
                .then_some(Process { pid, handle })
        })
        .collect()
}

/// Field 22 of `/proc/PID/stat`; the name in field 2 may hold blanks and brackets.
fn start_time(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(19).map(str::to_owned)
}
