//! One relay for each state folder: who it is, and that it is there. Gone with its process.

use crate::adapters::agent::orphans;
use crate::cli::error::CliError;
use rustix::process::Signal;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// How often, and how far apart, it is tried to take it.
const TRIES: u32 = 10;
const MOMENT: Duration = Duration::from_millis(20);

/// Held for as long as this process relays.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it. An error: another process has it.
    pub fn take(state: &Path) -> Result<Self, CliError> {
        let mut file = open(state)?;
        // Who only looks whether it is held has it for a moment.
        let mut tries = 0..TRIES;
        while let Err(held) = file.try_lock() {
            match held {
                TryLockError::Error(error) => return Err(error.into()),
                TryLockError::WouldBlock if tries.next().is_some() => std::thread::sleep(MOMENT),
                TryLockError::WouldBlock => {
                    return Err(CliError::failure(
                        "the phone relay is already running: see `programmator away status`",
                    ));
                }
            }
        }
        file.set_len(0)?;
        file.rewind()?;
        let (pid, started) = (std::process::id(), orphans::identity(std::process::id()).unwrap_or_default());
        write!(file, "{pid}\n{started}\n")?;
        Ok(Self { _file: file })
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
    pub fn unknown(&self) -> String {
        let pid = self.pid;
        // An older version has written only its number, which may be another's by now.
        if self.started.is_empty() && u32::try_from(pid).is_ok_and(orphans::is_there) {
            return format!(
                "`away.lock` in the state folder names process {pid}, but not when it started, so it may not be the relay. \
                 If `ps -p {pid}` shows `programmator away relay`, end it with `kill {pid}`"
            );
        }
        "`away.lock` in the state folder is held by an unknown process, and the one that it names is not running: \
         end the `programmator away relay` that `ps` shows"
            .to_owned()
    }
}

/// The process that relays, 0 where it has not said yet which it is; `None`: nobody does.
pub fn holder(state: &Path) -> Result<Option<i32>, CliError> {
    // Who has just taken it has not written yet: what stands there is of the one before.
    Ok(held_by(state)?.map(|holder| if holder.is_there() { holder.pid } else { 0 }))
}

/// The same, to be sent a signal.
pub fn held_by(state: &Path) -> Result<Option<Holder>, CliError> {
    if !state.join(FILE).exists() {
        return Ok(None);
    }
    let mut file = open(state)?;
    // Others that only look are in nobody's way.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            let (pid, started) = text.split_once('\n').unwrap_or((&text, ""));
            Ok(Some(Holder { pid: pid.trim().parse().unwrap_or(0), started: started.trim().to_owned() }))
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Somebody relays. Of no use for taking it; who only looks does not disturb others that do.
pub fn is_held(state: &Path) -> bool {
    let held = File::open(state.join(FILE)).map(|file| file.try_lock_shared());
    matches!(held, Ok(Err(TryLockError::WouldBlock)))
}

const FILE: &str = "away.lock";

fn open(state: &Path) -> Result<File, CliError> {
    std::fs::create_dir_all(state)?;
    Ok(File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(state.join(FILE))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_only_looks_is_not_taken_for_the_relay_that_was_there_before() {
        let state = tempfile::tempdir().unwrap();
        drop(Lock::take(state.path()).unwrap());
        let looks = File::open(state.path().join(FILE)).unwrap();
        looks.try_lock_shared().unwrap();
        assert_eq!(held_by(state.path()).unwrap(), None, "another looks, and nobody relays");
        drop(looks);

        let relay = Lock::take(state.path()).unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(holder(state.path()).unwrap(), Some(pid));
        // One that has taken it and not yet written who it is.
        std::fs::write(state.path().join(FILE), format!("{pid}\nanother start\n")).unwrap();
        assert_eq!(holder(state.path()).unwrap(), Some(0));
        drop(relay);
        assert_eq!(holder(state.path()).unwrap(), None);
    }
}
