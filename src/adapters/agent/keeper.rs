//! The small process between programmator and Claude, on Linux: the same program, started with another word. Its life is
//! told here; `held` is the other end of its line. It may be started ahead of time: it waits for its order.
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
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
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

/// What a keeper is to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) folder: PathBuf,
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// The whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
}

impl Order {
    /// As it goes over the line: a line with the numbers of arguments, of variables and of bytes, then all of them, each
    /// ended by a NUL, which none of them can hold.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut words = Vec::new();
        let mut put = |parts: &[&OsStr]| {
            words.extend(parts.iter().flat_map(|part| part.as_bytes()));
            words.push(0);
        };
        put(&[self.folder.as_os_str()]);
        self.command.iter().for_each(|word| put(&[word]));
        self.env.iter().for_each(|(key, value)| put(&[key, OsStr::new("="), value]));
        [format!("{} {} {}\n", self.command.len(), self.env.len(), words.len()).into_bytes(), words].concat()
    }

    /// `None`: the other end has hung up.
    async fn read(line: &mut (impl AsyncBufRead + Unpin)) -> Option<Self> {
        let mut head = String::new();
        line.read_line(&mut head).await.ok()?;
        let mut numbers = head.split_whitespace().map(|number| number.parse::<usize>().ok());
        let (args, variables, bytes) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let mut words = vec![0; bytes];
        line.read_exact(&mut words).await.ok()?;
        let mut words = words.split(|&byte| byte == 0).map(|word| OsStr::from_bytes(word).to_owned());
        let folder = words.next()?.into();
        let command = words.by_ref().take(args).collect();
        let variable = |word: OsString| {
            // A name may begin with it.
            let at = word.as_bytes().iter().skip(1).position(|&byte| byte == b'=')? + 1;
            let (key, value) = (&word.as_bytes()[..at], &word.as_bytes()[at + 1..]);
            Some((OsStr::from_bytes(key).to_owned(), OsStr::from_bytes(value).to_owned()))
        };
        Some(Self { folder, command, env: words.take(variables).filter_map(variable).collect() })
    }
}

/// The command that starts a keeper, and where it will call for its order; `None`: this program has no keepers.
pub(super) fn around(marker: &str) -> io::Result<Option<(tokio::process::Command, UnixListener)>> {
    if !OFFERED.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let name = format!("programmator-{}", uuid::Uuid::new_v4());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    let mut command = tokio::process::Command::new(OURSELVES);
    command.arg0("programmator").args([WORD, &name, marker]);
    Ok(Some((command, listener)))
}

/// The keeper's life: `words` are those behind the [`WORD`].
pub fn main(words: &[OsString]) -> ExitCode {
    let [name, marker] = words else { return ExitCode::FAILURE };
    let marker = marker.to_string_lossy().into_owned();
    let Ok(line) = SocketAddr::from_abstract_name(name.as_bytes()).and_then(|at| UnixStream::connect_addr(&at)) else {
        return ExitCode::FAILURE;
    };
    // Before Claude is there: all of it is in the group.
    let family = Family::of(std::process::id(), &marker);
    let kept = keep(line, &marker);
    // Usually nobody is left. All of them descend from here, whatever mark they carry.
    orphans::end(&[], &family);
    family.leave();
    if kept.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Keeps Claude until programmator hangs up.
fn keep(line: UnixStream, marker: &str) -> io::Result<()> {
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
        let mut heard = BufReader::new(heard);
        let order = tokio::select! {
            order = Order::read(&mut heard) => order,
            _ = int.recv() => None,
            _ = term.recv() => None,
            _ = hup.recv() => None,
            _ = quit.recv() => None,
        };
        let Some(order) = order else { return Ok(()) };
        let claude = match start(&order, marker) {
            Ok(claude) => claude,
            Err(error) => {
                say(Said::Refused(error.raw_os_error().unwrap_or_default())).await;
                return Ok(());
            }
        };
        say(Said::Started(claude.as_raw_nonzero().get().unsigned_abs())).await;
        let mut heard = heard.lines();
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

fn start(order: &Order, marker: &str) -> io::Result<Pid> {
    let (program, args) = order.command.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut claude = Command::new(program);
    let env = order.env.iter().map(|(key, value)| (key, value));
    claude.args(args).current_dir(&order.folder).env_clear().envs(env).env(MARKER, marker);
    // In a group of its own: what is sent to ours reaches it once.
    claude.process_group(0);
    die_with_parent(&mut claude);
    let claude = claude.spawn()?.id();
    // Who looks at the pipes' ends sees Claude's only.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    i32::try_from(claude).ok().and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_order_comes_as_it_was_given_and_half_a_one_is_none() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect();
        let order = Order {
            folder: "/a folder\nof two lines".into(),
            command: words(&["claude", "", "-p", "a\nb=c", "\u{e9}"]),
            env: vec![("A".into(), "=1\n".into()), ("EMPTY".into(), OsString::new())],
        };
        let told = order.encode();
        assert_eq!(Order::read(&mut &told[..]).await.as_ref(), Some(&order));
        for end in 0..told.len() {
            assert_eq!(Order::read(&mut &told[..end]).await, None, "{end}");
        }
    }
}
