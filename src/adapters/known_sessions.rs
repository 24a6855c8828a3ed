//! The Claude sessions of the person's own that have begun and not ended, with the terminal in which each sits: a small file
//! for each in the state folder, kept by its hooks. What is not there any more is forgotten by whoever looks.

use super::agent::orphans;
use super::private_file::{self, PrivateFileError};
use crate::base::id::TicketId;
use crate::base::time::Timestamp;
use crate::domain::own_session::is_id;
use crate::domain::own_terminal::Terminal;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a hook that was killed has left half written is removed after this time.
const LEFT: Duration = Duration::from_secs(60);

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub session: TicketId,
    /// The directory that Claude was in when the hook saw it.
    pub folder: String,
    pub terminal: Terminal,
    /// The file in which Claude Code writes it down; `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
    /// Claude's process.
    pub process: Process,
    pub since: Timestamp,
}

/// A process, and what tells it from others that are given its number later; empty where the system does not say that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    started: String,
}

impl Process {
    /// The one with this number.
    pub fn of(pid: u32) -> Self {
        Self { pid, started: orphans::started(pid).unwrap_or_default() }
    }

    fn is_there(&self) -> bool {
        orphans::is_there(self.pid) && orphans::started(self.pid).is_none_or(|now| now == self.started)
    }
}

/// Keeps it. Whatever else was known of its process has become it: a process has one session at a time.
pub fn keep(state: &Path, known: &Known) -> Result<(), PrivateFileError> {
    let text = serde_json::to_string(known).unwrap_or_default();
    private_file::write_for_now(&file(state, &known.session), &text)?;
    for other in read_all(state).filter(|other| other.session != known.session && other.process == known.process) {
        forget(state, &other.session);
    }
    Ok(())
}

/// It has ended.
pub fn forget(state: &Path, session: &TicketId) {
    // It need not be known.
    let _ = fs::remove_file(file(state, session));
}

/// The sessions that are there, the oldest first.
pub fn known(state: &Path) -> Vec<Known> {
    let (mut there, gone): (Vec<Known>, Vec<Known>) = read_all(state).partition(|known| known.process.is_there());
    for gone in gone {
        forget(state, &gone.session);
    }
    there.sort_by(|one, other| (one.since, &one.session).cmp(&(other.since, &other.session)));
    there
}

/// What is known of this one; it may be gone.
pub fn find(state: &Path, session: &TicketId) -> Option<Known> {
    read(&file(state, session)).filter(|known| known.session == *session)
}

/// Where they are kept; need not be there.
pub fn folder(state: &Path) -> PathBuf {
    state.join("hooks").join("sessions")
}

fn file(state: &Path, session: &TicketId) -> PathBuf {
    folder(state).join(format!("{session}.json"))
}

/// What cannot be read says nothing.
fn read(path: &Path) -> Option<Known> {
    let text = private_file::read(path).ok()??;
    serde_json::from_str::<Known>(&text).ok().filter(|known| is_id(&known.session))
}

fn read_all(state: &Path) -> impl Iterator<Item = Known> {
    let files = fs::read_dir(folder(state)).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter_map(|path| {
        let known = read(&path);
        if known.is_none() && is_left(&path) {
            let _ = fs::remove_file(&path);
        }
        known.filter(|known| path.file_stem().is_some_and(|name| name == known.session.as_str()))
    })
}

fn is_left(path: &Path) -> bool {
    let written = path.symlink_metadata().and_then(|data| data.modified());
    written.is_ok_and(|written| SystemTime::now().duration_since(written).is_ok_and(|age| age > LEFT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};

    fn a(mark: &str, process: Process, since: i64) -> Known {
        Known {
            session: TicketId::parse(&format!("session-{mark}")).unwrap(),
            folder: "/w/shop".into(),
            terminal: Terminal::find(|_| None, Some("pts/3"), process.pid),
            transcript: None,
            process,
            since: Timestamp::from_millis(since),
        }
    }

    fn names(state: &Path) -> Vec<String> {
        known(state).iter().map(|known| known.session.to_string()).collect()
    }

    #[test]
    fn a_process_has_one_session_and_what_is_gone_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        assert!(known(state).is_empty());
        let mut claude = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let (first, other) = (Process::of(claude.id()), Process::of(std::process::id()));
        keep(state, &a("00000002", other.clone(), 2)).unwrap();
        keep(state, &a("00000001", first.clone(), 1)).unwrap();
        assert_eq!(names(state), ["session-00000001", "session-00000002"], "two in one terminal");
        // Cleared: the same process has another session.
        keep(state, &a("00000003", first, 3)).unwrap();
        assert_eq!(names(state), ["session-00000002", "session-00000003"]);
        // Another process with its number, later.
        keep(state, &a("00000004", Process { started: "long ago".into(), ..other }, 4)).unwrap();
        assert_eq!(names(state), ["session-00000002", "session-00000003"]);
        drop(claude.stdin.take());
        claude.wait().unwrap();
        assert_eq!(names(state), ["session-00000002"]);
        assert_eq!(fs::read_dir(state.join("hooks/sessions")).unwrap().count(), 1, "of what is gone nothing is left");
        forget(state, &TicketId::parse("session-00000002").unwrap());
        assert!(known(state).is_empty());
    }

    #[test]
    fn what_is_broken_or_of_somebody_else_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let own = a("00000001", Process::of(std::process::id()), 1);
        keep(state, &own).unwrap();
        let path = file(state, &own.session);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        // Under another name it would be there twice.
        fs::copy(&path, path.with_file_name("session-00000002.json")).unwrap();
        assert_eq!(names(state), ["session-00000001"]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(names(state).is_empty() && find(state, &own.session).is_none());
        let broken = path.with_file_name(".half");
        fs::write(&broken, "{").unwrap();
        assert!(names(state).is_empty() && broken.exists(), "it may be at work on it");
        let long_ago = SystemTime::now() - LEFT * 2;
        fs::File::options().write(true).open(&broken).unwrap().set_modified(long_ago).unwrap();
        assert!(names(state).is_empty() && !broken.exists());
    }
}
