//! What only one process for each state folder may be: which process is it, and that it is there. Gone with its process.

use super::agent::orphans;
use super::private_file::create_private;
use rustix::process::Signal;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// How often, and how far apart, it is tried to take it.
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
/// Resumes background runs that were cut off.
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

    #[test]
    fn who_only_looks_is_not_taken_for_the_relay_that_was_there_before() {
        let state = tempfile::tempdir().unwrap();
        drop(Lock::take(state.path(), RELAY).unwrap().unwrap());
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
        assert_eq!(holder(state.path(), RELAY).unwrap(), None);
    }
}
