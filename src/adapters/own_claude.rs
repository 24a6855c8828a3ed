//! The Claude that this process is a hook of: one that the person has started in a terminal of their own.

use crate::adapters::agent::orphans;
use crate::adapters::person_socket::CHILD;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, getppid};
use std::io::stdout;
use std::process::{Command, Stdio};

/// That Claude, and whoever of its has started us.
#[derive(Debug)]
pub struct OwnClaude {
    parent: Option<Pid>,
    /// From us up to that Claude.
    above: Vec<i32>,
}

impl OwnClaude {
    pub fn look() -> Self {
        Self { parent: getppid(), above: orphans::above_up_to_one_without(CHILD) }
    }

    /// Its process; of one that was started by another, that one's.
    pub fn process(&self) -> Option<u32> {
        self.above.last().and_then(|pid| u32::try_from(*pid).ok())
    }

    /// It was started for one answer (`-p`), as far as that can be seen, or one was that it has started: a script waits for it.
    pub fn is_headless(&self) -> bool {
        self.above.iter().any(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0).take_while(|word| *word != b"--");
            words.any(|word| matches!(word, b"-p" | b"--print"))
        })
    }

    /// It is seen, and a person sits in front of it: of one that cannot be seen its own tools could answer.
    pub fn is_attended(&self) -> bool {
        self.process().is_some() && !self.is_headless()
    }

    /// The terminal device that it was started on, such as `pts/3`; `None`: it has none, or that cannot be seen.
    pub fn tty(&self) -> Option<String> {
        let claude = self.process()?;
        if let Ok(stat) = std::fs::read(format!("/proc/{claude}/stat")) {
            return device(&String::from_utf8_lossy(&stat));
        }
        let pid = claude.to_string();
        let told = Command::new("ps").args(["-o", "tty=", "-p", &pid]).stderr(Stdio::null()).output().ok()?;
        let tty = String::from_utf8_lossy(&told.stdout).trim().to_owned();
        (!tty.is_empty() && !tty.starts_with(['?', '-'])).then_some(tty)
    }

    /// It waits for what we print.
    pub fn waits(&self) -> bool {
        let stdout = stdout();
        let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_read = poll(&mut ends, Some(&at_once)).is_ok()
            && !ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
        is_read && getppid() == self.parent
    }
}

/// The terminal device of field 7 of `/proc/PID/stat`; the name in field 2 may hold blanks and brackets.
fn device(stat: &str) -> Option<String> {
    let number: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(4)?.parse().ok()?;
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xf_ff00));
    match (major, minor) {
        (136..=143, _) => Some(format!("pts/{}", (major - 136) * 256 + minor)),
        (4, 1..=63) => Some(format!("tty{minor}")),
        (4, 64..) => Some(format!("ttyS{}", minor - 64)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_device_is_named_as_people_know_it() {
        let of = |number: u32| device(&format!("7 (a) b) S 1 7 7 {number} 9 0"));
        assert_eq!(of(34_819).as_deref(), Some("pts/3"));
        assert_eq!(of(35_072).as_deref(), Some("pts/256"));
        assert_eq!(of(1_025).as_deref(), Some("tty1"));
        assert_eq!(of(1_088).as_deref(), Some("ttyS0"));
        assert_eq!((of(0), device("7 (cut"), device("")), (None, None, None));
    }
}
