//! The small process between programmator and Claude, on Linux: the same program, started with another word. Its life is
//! told here; `held` is the other end of its line.
//!
//! Whoever Claude's tools leave behind becomes its child. So all of them are found as long as it lives, whatever they
//! did to their environment; and who has ended is waited for, which Claude does not do with processes that it did not
//! start: a later command that waits for their end would wait for ever. All else is Claude's: pipes, signals, folder.
//!
//! When Claude has ended it says so and stays: programmator ends who is left, and hangs up. Where programmator dies
//! first, the line is dead, and the keeper ends them all itself.

use super::marker::MARKER;
use super::orphans::{self, Family};
use super::os_linux::die_with_parent;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process_group, set_child_subreaper, wait};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// The word that our program is started with. Not for people.
pub const WORD: &str = "keep-claude";

/// Our own program, also after its file was replaced by a newer one.
const OURSELVES: &str = "/proc/self/exe";

/// Claude has this long to end itself and its tools when programmator is gone.
const GRACE: Duration = Duration::from_secs(3);

/// What a keeper says, a line each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Claude runs, with this process id.
    Started(u32),
    /// The system refused, with this error.
    Refused(i32),
    /// Claude has ended, with this status as `wait` gives it.
    Ended(i32),
}

impl Said {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, number) = line.split_once(' ')?;
        match word {
            "started" => number.parse().ok().map(Self::Started),
            "refused" => number.parse().ok().map(Self::Refused),
            "ended" => number.parse().ok().map(Self::Ended),
            _ => None,
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid) => write!(f, "started {pid}"),
            Self::Refused(error) => write!(f, "refused {error}"),
            Self::Ended(status) => write!(f, "ended {status}"),
        }
    }
}

/// What a keeper is told: to send Claude's group a signal.
pub(super) const TERMINATE: &str = "terminate";
pub(super) const KILL: &str = "kill";

static OFFERED: AtomicBool = AtomicBool::new(false);

/// This program knows the [`WORD`]. Without this, Claude is started without a keeper.
pub fn offer() {
    OFFERED.store(Path::new(OURSELVES).exists(), Ordering::Relaxed);
}

/// The command that starts a keeper for `program`, whose arguments may follow, and where it will call; `None`: this
/// program has no keepers.
pub(super) fn around(program: &str, marker: &str) -> io::Result<Option<(tokio::process::Command, UnixListener)>> {
    if !OFFERED.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let name = format!("programmator-{}", uuid::Uuid::new_v4());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    let mut command = tokio::process::Command::new(OURSELVES);
    command.arg0("programmator").args([WORD, &name, marker, program]);
    Ok(Some((command, listener)))
}

/// The keeper's life: `words` are those behind the [`WORD`].
pub fn main(words: &[OsString]) -> ExitCode {
    let [name, marker, command @ ..] = words else { return ExitCode::FAILURE };
    let marker = marker.to_string_lossy().into_owned();
    let Ok(line) = SocketAddr::from_abstract_name(name.as_bytes()).and_then(|at| UnixStream::connect_addr(&at)) else {
        return ExitCode::FAILURE;
    };
    // Before Claude is there: all of it is in the group.
    let family = Family::of(std::process::id(), &marker);
    let kept = keep(line, &marker, command);
    // Usually nobody is left. All of them descend from here, whatever mark they carry.
    orphans::end(&[], &family);
    family.leave();
    if kept.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Keeps Claude until programmator hangs up.
fn keep(line: UnixStream, marker: &str, command: &[OsString]) -> io::Result<()> {
    // Any id means yes.
    set_child_subreaper(Some(getpid()))?;
    // Not ours: who stops programmator by its name leaves it to programmator to stop Claude.
    rustix::thread::set_name(c"keep-claude").ok();
    line.set_nonblocking(true)?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut children = signal(SignalKind::child())?;
        let (mut int, mut term) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let (mut hup, mut quit) = (signal(SignalKind::hangup())?, signal(SignalKind::quit())?);
        let (heard, mut said) = tokio::net::UnixStream::from_std(line)?.into_split();
        // Nobody who hears it is left where it cannot be said.
        let mut say = async |words: Said| said.write_all(format!("{words}\n").as_bytes()).await.ok();
        let claude = match start(command, marker) {
            Ok(claude) => claude,
            Err(error) => {
                say(Said::Refused(error.raw_os_error().unwrap_or_default())).await;
                return Ok(());
            }
        };
        say(Said::Started(claude.as_raw_nonzero().get().unsigned_abs())).await;
        let mut heard = BufReader::new(heard).lines();
        let mut alive = true;
        let mut deadline = None;
        loop {
            while let Ok(Some((ended, status))) = wait(WaitOptions::NOHANG) {
                if ended == claude {
                    alive = false;
                    say(Said::Ended(status.as_raw())).await;
                }
            }
            if deadline.is_some_and(|at| !alive || Instant::now() >= at) {
                return Ok(());
            }
            let signal = tokio::select! {
                _ = children.recv() => continue,
                order = heard.next_line(), if deadline.is_none() => match order.ok().flatten().as_deref() {
                    Some(TERMINATE) => Signal::TERM,
                    Some(KILL) => Signal::KILL,
                    Some(_) => continue,
                    None => {
                        deadline = Some(Instant::now() + GRACE);
                        Signal::INT
                    }
                },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => continue,
                _ = int.recv() => Signal::INT,
                _ = term.recv() => Signal::TERM,
                _ = hup.recv() => Signal::HUP,
                _ = quit.recv() => Signal::QUIT,
            };
            if alive {
                // It was not waited for: the number is still its own.
                kill_process_group(claude, signal).ok();
            }
        }
    })
}

fn start(command: &[OsString], marker: &str) -> io::Result<Pid> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut claude = Command::new(program);
    // In a group of its own: what is sent to ours reaches it once.
    claude.args(args).env(MARKER, marker).process_group(0);
    die_with_parent(&mut claude);
    let claude = claude.spawn()?.id();
    // Who looks at the pipes' ends sees Claude's only.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    i32::try_from(claude).ok().and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::NotFound.into())
}
