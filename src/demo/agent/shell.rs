//! Bash commands, run as the real CLI runs them: `/bin/bash -c`, in a session of their own, no terminal, stdin
//! empty, `CLAUDE_CODE_SESSION_ID` in the environment.
//!
//! Output goes to unnamed files, not pipes: a process left in the background does not hold the command open.

use super::event::{Ended, Event};
use super::scenario::Child;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;

/// A command at work.
#[derive(Debug)]
pub struct Running {
    group: Option<Pid>,
}

impl Running {
    /// Sends `signal` to the command and all that stayed in its process group.
    pub fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Starts `command` in `cwd`; its end comes as [`Event::ToolEnded`].
pub fn start(call: &str, command: &str, cwd: &Path, session: &str, events: Sender<Event>) -> io::Result<Running> {
    let call = call.to_owned();
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = in_own_session()
        .args([shell(), "-c", command])
        .current_dir(cwd)
        .env("CLAUDE_CODE_SESSION_ID", session)
        .env("CLAUDECODE", "1")
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(err.try_clone()?)
        .spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    std::thread::spawn(move || {
        let code =
            child.wait().map_or(1, |status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()));
        let _ = events.send(Event::ToolEnded(Ended { call, code, stdout: text(&mut out), stderr: text(&mut err) }));
    });
    Ok(Running { group })
}

/// Leaves a process behind that nothing waits for.
pub fn leave_child(child: &Child, session: &str) -> io::Result<()> {
    let trap = if child.ignore_term { "trap '' TERM HUP; " } else { "" };
    let mut command = if child.setsid { in_own_session() } else { Command::new("env") };
    command
        .args([shell(), "-c", &format!("{trap}sleep {0} & wait; sleep {0}", child.seconds)])
        .env("CLAUDE_CODE_SESSION_ID", session)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    if !child.holds_stdout {
        command.stdout(Stdio::null());
    }
    command.spawn().map(drop)
}

/// `setsid` where the system has it, else a process group: a session needs a call that safe Rust lacks.
fn in_own_session() -> Command {
    if ["/usr/bin/setsid", "/bin/setsid"].iter().any(|file| Path::new(file).exists()) {
        return Command::new("setsid");
    }
    let mut command = Command::new("env");
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

fn shell() -> &'static str {
    if Path::new("/bin/bash").exists() { "/bin/bash" } else { "sh" }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()
}
