//! A child process with all it starts: one group that ends together.
//!
//! Owns putting a child into a group of its own and signalling that group, also when the future that
//! waits for the child is dropped. Does not own processes that left the group by `setsid`: those are
//! found by the run's marker (`adapters::agent`).

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, wait};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// The group of one child. Dropping it kills what is left of the group.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Option<Pid>,
}

impl ProcessGroup {
    /// Makes `command` start as the leader of a group of its own, so that Ctrl-C in our terminal does
    /// not reach it.
    pub fn prepare(command: &mut Command) {
        command.process_group(0).kill_on_drop(true);
    }

    /// The group of a child that was [prepared](Self::prepare).
    pub fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(Pid::from_raw) }
    }

    /// Asks every process of the group to end (TERM).
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends every process of the group (KILL). The group is forgotten: once its last member is gone
    /// the number may belong to a stranger.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.leader = None;
    }

    /// The child has ended by itself: what it has left behind goes on.
    pub fn leave(mut self) {
        self.leader = None;
    }

    /// Whether one of its processes is left. The child itself must have been waited for.
    pub fn is_alive(&self) -> bool {
        self.leader.is_some_and(|leader| test_kill_process_group(leader).is_ok())
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // The only failures are "no such group" and "not yours": nothing is left that we could end.
            let _ = kill_process_group(leader, signal);
        }
    }
}

/// Waits until no child of this program is left, for as long as `limit` at most: what was killed takes a moment to end,
/// and whoever looks after this program should find none of it.
pub fn see_off(limit: Duration) {
    let until = Instant::now() + limit;
    while let Ok(ended) = wait(WaitOptions::NOHANG) {
        if ended.is_none() {
            if Instant::now() >= until {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
