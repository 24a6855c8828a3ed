//! What only one process for each state folder may be: which process is it, and that it is there. Gone with its process.

use super::agent::orphans;
use super::private_file::create_private;
use rustix::process::Signal;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often it is tried to take it, and how far apart that, and looks whether it is given up, are.
const TRIES: u32 = 10;
const MOMENT: Duration = Duration::from_millis(20);

/// What one process at most is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// As people call it.
    pub name: &'static str,
    /// What it was started with.
    pub command: &'static str,
    /// Its lock in the state folder.
    pub file: &'static str,
}

/// Asks on the phone what runs ask.
pub const RELAY: Role = Role { name: "the phone relay", command: "programmator away relay", file: "away.lock" };
/// Resumes background runs that were interrupted.
pub const HOST: Role = Role { name: "the host", command: "programmator host", file: "host.lock" };

/// Held for as long as this process has the role.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it. `None`: another process has it.
    pub fn take(state: &Path, role: Role) -> io::Result<Option<Self>> {
        let mut file = open(state, role)?;
        // Who only looks whether it is held has it for a moment.
        let mut tries = 0..TRIES;
        while let Err(held) = file.try_lock() {
            match held {
                TryLockError::Error(error) => return Err(error),
                TryLockError::WouldBlock if tries.next().is_some() => std::thread::sleep(MOMENT),
                TryLockError::WouldBlock => return Ok(None),
            }
        }
        file.set_len(0)?;
        file.rewind()?;
        let (pid, started) = (std::process::id(), orphans::identity(std::process::id()).unwrap_or_default());
        write!(file, "{pid}\n{started}\n")?;
        Ok(Some(Self { _file: file }))
    }
}

/// Who has it, as its file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// 0 where it has not said so yet.
    pub pid: i32,
    /// What tells it from others that had its number before, or get it later.
    started: String,
}

impl Holder {
    /// Sends it a signal. `false`: its number means another process, or none.
    pub fn signal(&self, signal: Signal) -> bool {
        u32::try_from(self.pid).is_ok_and(|pid| orphans::signal(pid, &self.started, signal))
    }

    /// That process is there. An older version has not written which it is.
    fn is_there(&self) -> bool {
        let identity = u32::try_from(self.pid).ok().and_then(orphans::identity);
        self.started.is_empty() || identity.is_some_and(|identity| identity == self.started)
    }

    /// Why it cannot be sent a signal, and what the person can do; words for them.
    pub fn unknown(&self, role: Role) -> String {
        let (pid, Role { name, command, file }) = (self.pid, role);
        // An older version has written only its number, which may be another's by now.
        if self.started.is_empty() && u32::try_from(pid).is_ok_and(orphans::is_there) {
            return format!(
                "`{file}` in the state folder names process {pid}, but not when it started, so it may not be {name}. \
                 If `ps -p {pid}` shows `{command}`, end it with `kill {pid}`"
            );
        }
        format!(
            "`{file}` in the state folder is held by an unknown process, and the one that it names is not running: \
             end the `{command}` that `ps` shows"
        )
    }
}

/// The process that has the role, 0 where it has not said yet which it is; `None`: none has.
pub fn holder(state: &Path, role: Role) -> io::Result<Option<i32>> {
    // Who has just taken it has not written yet: what stands there is of the one before.
    Ok(held_by(state, role)?.map(|holder| if holder.is_there() { holder.pid } else { 0 }))
}

/// The same, to be sent a signal.
pub fn held_by(state: &Path, role: Role) -> io::Result<Option<Holder>> {
    if !state.join(role.file).exists() {
        return Ok(None);
    }
    let mut file = open(state, role)?;
    // Others that only look are in nobody's way.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            let (pid, started) = text.split_once('\n').unwrap_or((&text, ""));
            Ok(Some(Holder { pid: pid.trim().parse().unwrap_or(0), started: started.trim().to_owned() }))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// What ending it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// There was none.
    None,
    Ended,
    /// It did not end when it was asked to.
    Killed,
}

/// Why it did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum NotEnded {
    #[error(transparent)]
    Lock(#[from] io::Error),
    /// It was asked to, if it could be; words for the person.
    #[error("{0}")]
    Still(String),
}

/// Asks the process that has the role to end, and waits for that so long; after `grace` it is killed. Blocks.
pub fn end(state: &Path, role: Role, grace: Option<Duration>, patience: Duration) -> Result<Off, NotEnded> {
    let begun = Instant::now();
    let (mut was, mut asked) = (Off::None, None);
    while let Some(holder) = held_by(state, role)? {
        match &asked {
            Some((known, since)) if *known == holder => {
                let is_overdue = grace.is_some_and(|grace| Instant::now().duration_since(*since) > grace);
                was = if is_overdue && was != Off::Killed && holder.signal(Signal::KILL) { Off::Killed } else { was };
            }
            // Its number is not there yet while it begins, or is that of the one before.
            _ if holder.signal(Signal::TERM) => (was, asked) = (Off::Ended, Some((holder.clone(), Instant::now()))),
            _ => {}
        }
        if begun.elapsed() > patience {
            return Err(NotEnded::Still(match asked {
                Some((holder, _)) if was == Off::Killed => {
                    format!("{} was killed but has not exited yet (pid {})", role.name, holder.pid)
                }
                Some((holder, _)) => format!("{} has not exited yet (pid {}): try again", role.name, holder.pid),
                None => holder.unknown(role),
            }));
        }
        std::thread::sleep(MOMENT);
    }
    Ok(was)
}

/// A process has the role. Of no use for taking it; who only looks does not disturb others that do.
pub fn is_held(state: &Path, role: Role) -> bool {
    let held = File::open(state.join(role.file)).map(|file| file.try_lock_shared());
    matches!(held, Ok(Err(TryLockError::WouldBlock)))
}

fn open(state: &Path, role: Role) -> io::Result<File> {
    create_private(state)?;
    File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(state.join(role.file))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that is just being started elsewhere has the lock, too, until it begins.
    fn given_up(state: &Path) {
        let deadline = Instant::now() + Duration::from_secs(15);
        while holder(state, RELAY).unwrap().is_some() {
            assert!(Instant::now() < deadline, "the lock is still held");
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_only_looks_is_not_taken_for_the_relay_that_was_there_before() {
        let state = tempfile::tempdir().unwrap();
        drop(Lock::take(state.path(), RELAY).unwrap().unwrap());
        given_up(state.path());
        let looks = File::open(state.path().join(RELAY.file)).unwrap();
        looks.try_lock_shared().unwrap();
        assert_eq!(held_by(state.path(), RELAY).unwrap(), None, "another looks, and nobody relays");
        drop(looks);

        let relay = Lock::take(state.path(), RELAY).unwrap().unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(holder(state.path(), RELAY).unwrap(), Some(pid));
        // One that has taken it and not yet written who it is.
        std::fs::write(state.path().join(RELAY.file), format!("{pid}\nanother start\n")).unwrap();
        assert_eq!(holder(state.path(), RELAY).unwrap(), Some(0));
        assert!(Lock::take(state.path(), RELAY).unwrap().is_none(), "there is one already");
        assert!(Lock::take(state.path(), HOST).unwrap().is_some(), "another role");
        drop(relay);
        given_up(state.path());
    }

    #[test]
    fn a_process_that_has_only_the_number_of_the_relay_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = std::process::Command::new("/bin/sleep").arg("600").spawn().unwrap();
        let lock = Lock::take(folder.path(), RELAY).unwrap().unwrap();
        // As if the relay that wrote this were gone, and its number were given to another process.
        let says = |text: String| std::fs::write(folder.path().join(RELAY.file), text).unwrap();
        let end_it = format!("end it with `kill {}`", other.id());
        let told = "held by an unknown process";
        for (text, told) in [(format!("{}\n1\n", other.id()), told), (other.id().to_string(), &end_it)] {
            says(text);
            let why = end(folder.path(), RELAY, None, Duration::ZERO).unwrap_err().to_string();
            assert!(why.contains(told), "{why}");
            assert!(other.try_wait().unwrap().is_none(), "another process was ended");
        }
        says(format!("{}\n{}\n", other.id(), orphans::identity(other.id()).unwrap()));
        assert!(end(folder.path(), RELAY, None, Duration::ZERO).is_err(), "we hold the lock");
        assert!(!other.wait().unwrap().success(), "it was asked to end");
        drop(lock);
        // A program that is just being started has the lock until it begins.
        assert_eq!(end(folder.path(), RELAY, None, Duration::from_secs(15)).unwrap(), Off::None);
    }
}
