//! The background processes of this machine, each by a file in the state folder that it holds for as long as it lives.
//! A file that nobody holds is work that was interrupted.

use super::agent::orphans;
use super::private_file::{PrivateFileError, failed, read, write_locked};
use crate::adapters::clock::{boot_id, fresh_id};
use crate::base::time::Timestamp;
use crate::domain::background_work::{Background, Told};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The folder of them in the state folder.
const FOLDER: &str = "background";
/// Begins the second line of a file: its process was told to end, at this millisecond and in this start of the machine.
const TOLD: &str = "told ";

/// What this process does, for as long as it lives. Forgotten when dropped, unless it was told to end before.
#[derive(Debug)]
pub struct Entry {
    path: PathBuf,
    file: File,
    is_told: bool,
}

impl Entry {
    /// Writes it down.
    pub fn enter(state: &Path, process: &Background) -> Result<Self, PrivateFileError> {
        let path = state.join(FOLDER).join(format!("{}.json", fresh_id()));
        let text = serde_json::to_string(process).map_err(|error| failed(&path, &error))?;
        let file = write_locked(&path, &format!("{text}\n"))?;
        Ok(Self { path, file, is_told: false })
    }

    /// A signal tells the process to end, as when the machine is shut down.
    pub fn told(&mut self, now: Timestamp) {
        self.is_told = true;
        if let Err(error) = writeln!(self.file, "{TOLD}{} {}", now.millis(), boot_id()) {
            tracing::warn!(%error, "it cannot be written down that this process was told to end");
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.is_told {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A process that was found.
#[derive(Debug)]
pub struct Found {
    pub process: Background,
    /// When it was told to end.
    pub told: Option<Told>,
    path: PathBuf,
    /// Ours while nobody else holds it: the process itself, or another that looks.
    left: Option<File>,
    /// Its process is there, as far as that can be told.
    is_there: bool,
}

impl Found {
    /// It is at work.
    pub fn is_alive(&self) -> bool {
        self.left.is_none() && self.is_there
    }

    /// It is not, and nobody else goes on with it as long as this is kept.
    pub fn is_ours(&self) -> bool {
        self.left.is_some()
    }

    /// Its file, which no other has had or will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Nothing goes on with it any more.
    pub fn forget(&self) {
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %self.path.display(), "a background process cannot be forgotten");
        }
    }
}

/// All of them, the oldest first. What cannot be read is left out, and logged. Those whose process is gone are held until what is
/// given is dropped, so that no two go on with one.
pub fn all(state: &Path) -> Vec<Found> {
    let entries = fs::read_dir(state.join(FOLDER)).into_iter().flatten().flatten();
    let mut found: Vec<Found> = entries.filter_map(|entry| one(entry.path())).collect();
    found.sort_by_key(|one| (one.process.since, one.process.pid));
    found
}

fn one(path: PathBuf) -> Option<Found> {
    if path.extension().is_none_or(|end| end != "json") {
        return None;
    }
    let shown = path.display().to_string();
    read_one(path)
        .inspect_err(|error| tracing::debug!(%error, path = shown, "a background process cannot be read"))
        .ok()?
}

/// `None`: its process has just come to its end.
fn read_one(path: PathBuf) -> Result<Option<Found>, PrivateFileError> {
    // What is no file would be waited for.
    if !fs::symlink_metadata(&path).is_ok_and(|data| data.is_file()) {
        return Ok(None);
    }
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&path, &error)),
    };
    let left = match file.try_lock() {
        Ok(()) => Some(file),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Error(error)) => return Err(failed(&path, &error)),
    };
    let Some(text) = read(&path)? else { return Ok(None) };
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let told = rest.lines().find_map(told);
    let process: Background = serde_json::from_str(first).map_err(|error| failed(&path, &error))?;
    let is_there = process.identity.is_empty() || orphans::identity(process.pid).as_ref() == Some(&process.identity);
    Ok(Some(Found { process, told, path, left, is_there }))
}

fn told(line: &str) -> Option<Told> {
    let rest = line.strip_prefix(TOLD)?;
    // An older version has written only when.
    let (at, boot) = rest.split_once(' ').unwrap_or((rest, ""));
    Some(Told { at: Timestamp::from_millis(at.parse().ok()?), boot: boot.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::background_work::Work;

    fn process(pid: u32) -> Background {
        let work = Work::Tickets { options: vec!["--max-iterations=3".into()], files: vec!["/w/tk-1.md".into()] };
        Background {
            pid,
            identity: String::new(),
            work,
            folder: "/w".into(),
            path: None,
            since: Timestamp::from_millis(i64::from(pid)),
            resumed: Vec::new(),
        }
    }

    #[test]
    fn a_process_is_found_while_it_lives_and_afterwards_until_it_is_forgotten() {
        let state = tempfile::tempdir().unwrap();
        let of = || all(state.path());
        assert!(of().is_empty());
        let (done, mut told) =
            (Entry::enter(state.path(), &process(2)).unwrap(), Entry::enter(state.path(), &process(1)).unwrap());
        let found = of();
        assert_eq!(found.iter().map(|one| one.process.pid).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(found[1].process, process(2));
        assert!(found.iter().all(Found::is_alive));
        drop(done);
        assert_eq!(of().len(), 1);
        told.told(Timestamp::from_millis(9));
        let found = of();
        assert!(found[0].is_alive(), "it is still ending");
        assert_eq!(found[0].told, Some(Told { at: Timestamp::from_millis(9), boot: boot_id() }));
        drop(told);
        // A program that is just being started elsewhere holds it, too, until it begins.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(15);
        while of()[0].is_alive() {
            assert!(std::time::Instant::now() < deadline, "nobody is there any more");
            std::thread::yield_now();
        }
        let path = of()[0].path().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.lines().next().unwrap().to_owned() + "\ntold 9\n").unwrap();
        assert_eq!(of()[0].told, Some(Told { at: Timestamp::from_millis(9), boot: String::new() }), "an older version");
        of()[0].forget();
        assert!(of().is_empty());
    }

    #[test]
    fn what_nobody_holds_was_interrupted_and_is_held_by_one_that_looks() {
        let state = tempfile::tempdir().unwrap();
        let path = state.path().join(FOLDER).join("a.json");
        drop(write_locked(&path, &serde_json::to_string(&process(1)).unwrap()).unwrap());
        fs::write(path.with_file_name("half.json"), "{\"pid\":").unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path.with_file_name("pipe.json"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        let first = all(state.path());
        assert!(!first[0].is_alive() && first.len() == 1, "half a file is none");
        assert!(!all(state.path())[0].is_ours(), "another goes on with it");
        let gone = Background { identity: "an earlier start".into(), ..process(std::process::id()) };
        let entry = Entry::enter(state.path(), &gone).unwrap();
        let seen = all(state.path());
        let seen = seen.iter().find(|one| one.process == gone).unwrap();
        assert!(!seen.is_alive() && !seen.is_ours(), "whoever holds it, its process is gone");
        drop(entry);
        drop(first);
        assert!(!all(state.path())[0].is_alive());
    }
}
