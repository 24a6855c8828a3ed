//! Who works on a ticket, who works in a folder: locks of the system on files in the state folder that are never
//! deleted, and on the ticket's file itself or a file that goes with the working directory (`beside`).
//!
//! The second lock is there for programs that do not see the first: with another state folder, or after ours was
//! deleted. A file system that knows no such locks gives only the first.
//!
//! The lock is the system's (`flock` where there is one), so it dies with its holder, however that dies.
//! What the file says is for people, and tells whom to ask ([`holders`]); nothing is ever decided or killed by it.

mod any;
mod holders;

pub use any::{is_any_held, is_any_ticket_held};

use super::error::StoreError;
use super::handle::Store;
use super::{beside, os};
use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::chat;
use crate::domain::workspace::Workspace;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How often is looked whether a lock is free that is not waited for in the system.
const LOOK: Duration = Duration::from_millis(10);

/// Who holds a lock, as the file tells others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    pub ticket: TicketId,
    /// The run; `None` until it is known.
    pub run: Option<RunId>,
    pub since: Timestamp,
}

impl Holder {
    /// The program that has a ticket.
    fn program(&self) -> String {
        let run = self.run.map(|run| format!(", run {}", run.short())).unwrap_or_default();
        let (Self { pid, ticket, since, .. }, zone) = (self, TimeZone::system());
        format!("programmator (pid {pid}{run}, ticket {ticket}, since {} {})", since.day(&zone), since.minute(&zone))
    }

    /// The ticket, or the chat, that has a directory.
    fn work(&self) -> String {
        let who = if chat::is_id(&self.ticket) { "a chat" } else { self.ticket.as_str() };
        match self.pid {
            own if own == std::process::id() => who.to_owned(),
            pid => format!("{who} in another process, pid {pid}"),
        }
    }
}

/// Why a lock was not given.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LockError {
    #[error("held by {holder}")]
    Held { holder: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The right to work on a ticket; given up when dropped.
#[derive(Debug)]
pub struct TicketLock {
    /// The ticket's file, which others may replace. Given up before the other lock.
    file: Mutex<Option<Own>>,
    held: Held,
}

/// The right to let Claude work in a folder; given up when dropped.
#[derive(Debug)]
pub struct TreeLock {
    /// Held by being there. Given up before the other.
    _own: Option<Own>,
    _held: Held,
}

/// The right to move the files of a whole working tree, in whichever folder of it runs work; given up when dropped.
#[derive(Debug)]
pub struct FilesLock {
    _held: Held,
}

/// The right to clear away what interrupted runs of a ticket, or old runs of all tickets, have left; given up when dropped.
#[derive(Debug)]
pub struct SweepLock {
    _held: Held,
}

/// A lock on the thing itself. Given up when dropped.
#[derive(Debug)]
struct Own(File);

/// A lock that is given up when dropped.
#[derive(Debug)]
pub(super) struct Held {
    file: File,
    path: PathBuf,
}

/// What a ticket's lock tells.
enum Asked {
    Free,
    /// By whom, as far as that can be read.
    Held(Option<Holder>),
}

impl TicketLock {
    /// Says anew who holds it, when the run has become known.
    pub fn describe(&mut self, holder: &Holder) -> Result<(), StoreError> {
        self.held.describe(holder)
    }

    /// Holds the file that stands at `path` now, when it is another one than before. An error: another program has
    /// it already.
    pub fn follow(&self, path: &Path) -> Result<(), LockError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|data| os::identity(&data));
        let (now, before) = (identity(fs::metadata(path)), file.as_ref().and_then(|own| identity(own.0.metadata())));
        if now.is_some() && now != before {
            *file = Own::take(os::open_to_lock(path))?;
        }
        Ok(())
    }
}

impl Own {
    /// Does not wait. `None`: there is no such file, or it cannot be locked.
    fn take(file: io::Result<File>) -> Result<Option<Self>, LockError> {
        let Ok(file) = file else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => {
                Err(LockError::Held { holder: "a programmator with a different or deleted state folder".to_owned() })
            }
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Store {
    /// Locks a ticket by the path of its file, or says who has it. Does not wait.
    pub fn lock_ticket(&self, ticket_path: &Path, holder: &Holder) -> Result<TicketLock, LockError> {
        let held = self.lock("ticket", ticket_path, holder)?;
        let file = Mutex::new(Own::take(os::open_to_lock(ticket_path))?);
        Ok(TicketLock { file, held })
    }

    /// Locks a workspace, or says who has it or moves the files around it. Does not wait.
    pub fn lock_tree(&self, workspace: &Workspace, holder: &Holder) -> Result<TreeLock, LockError> {
        let lock = self.lock_within(workspace, holder)?;
        // Behind it: whoever moves files later finds us, and whoever does so now is found.
        match self.mover(workspace.lock_path())? {
            None => Ok(lock),
            Some(holder) => Err(LockError::Held { holder }),
        }
    }

    /// Locks all files of a working tree against runs that [begin](Self::lock_tree) in it. Those that are at work there
    /// already are [looked for](Self::lock_within) behind this.
    pub fn lock_files(&self, top: &Path, holder: &Holder) -> Result<FilesLock, LockError> {
        Ok(FilesLock { _held: self.lock("files", &real(top)?, holder)? })
    }

    /// Who moves the files of a working tree that the folder is in.
    fn mover(&self, folder: &Path) -> Result<Option<String>, StoreError> {
        let folder = real(folder)?;
        for top in folder.ancestors().filter(|top| top.join(".git").exists()) {
            if let Asked::Held(holder) = self.ask("files", top)? {
                return Ok(Some(in_words("files", holder)));
            }
        }
        Ok(None)
    }

    /// Locks a workspace for whoever has the files around it, or says who is at work in it. Does not wait.
    pub fn lock_within(&self, workspace: &Workspace, holder: &Holder) -> Result<TreeLock, LockError> {
        let held = self.lock("tree", workspace.lock_path(), holder)?;
        Ok(TreeLock { _own: Own::take(beside::open(workspace.lock_path()))?, _held: held })
    }

    /// Waits until the workspace is free and locks it.
    pub async fn wait_tree(&self, workspace: &Workspace, holder: &Holder) -> Result<TreeLock, StoreError> {
        loop {
            match self.lock_tree(workspace, holder) {
                Ok(lock) => return Ok(lock),
                Err(LockError::Store(error)) => return Err(error),
                Err(LockError::Held { .. }) => {
                    self.until_free(workspace.lock_path()).await?;
                    while self.mover(workspace.lock_path())?.is_some() {
                        tokio::time::sleep(LOOK).await;
                    }
                }
            }
        }
    }

    /// Waits until whoever works in the folder is done. A thread of its own waits in the system, for one lock after the
    /// other, and keeps neither; when the future is dropped, it goes as soon as it gets what it waits for.
    async fn until_free(&self, folder: &Path) -> Result<(), StoreError> {
        let (file, path) = self.lock_file("tree", folder)?;
        let own = beside::open(folder);
        let (give, got) = oneshot::channel();
        let named = path.clone();
        std::thread::Builder::new()
            .name("tree-lock".to_owned())
            .spawn(move || {
                // It is held longest. One that cannot be locked is not asked for.
                let _ = own.and_then(|own| wait(&own).and_then(|()| own.unlock()));
                let free = wait(&file).and_then(|()| file.unlock());
                let _ = give.send(free.map_err(StoreError::file("lock", &path)));
            })
            .map_err(StoreError::file("wait for", &named))?;
        got.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Waits until nobody clears away what interrupted runs of the ticket have left, and keeps others from it until
    /// dropped. An error where that takes longer than `patience`: a program that is halted would be waited for in vain.
    pub fn lock_sweep(&self, ticket_path: &Path, patience: Duration) -> Result<SweepLock, StoreError> {
        let (file, path) = self.lock_file("sweep", ticket_path)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(SweepLock { _held: Held { file, path } }),
                Err(TryLockError::Error(error)) => return Err(StoreError::file("lock", &path)(error)),
                Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => {
                    return Err(StoreError::Sweeping { ticket: ticket_path.to_owned() });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
            }
        }
    }

    /// Keeps others from clearing away what old runs have left; `None`: another program does it now.
    pub fn lock_cleanup(&self) -> Result<Option<SweepLock>, StoreError> {
        self.lock_now("cleanup", self.folder())
    }

    /// Keeps others from answering the end of the ticket's run; `None`: another program does it now.
    pub fn lock_answer(&self, ticket_path: &Path) -> Result<Option<SweepLock>, StoreError> {
        self.lock_now("answer", ticket_path)
    }

    fn lock_now(&self, kind: &str, what: &Path) -> Result<Option<SweepLock>, StoreError> {
        let (file, path) = self.lock_file(kind, what)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(SweepLock { _held: Held { file, path } })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::file("lock", &path)(error)),
        }
    }

    fn ask(&self, kind: &str, what: &Path) -> Result<Asked, StoreError> {
        let path = self.lock_path(kind, what)?;
        // Nobody ever had it; asking leaves nothing behind.
        if !path.exists() {
            return Ok(Asked::Free);
        }
        let _asking = self.ask_alone()?;
        let mut file = open(&path)?;
        match file.try_lock_shared() {
            Ok(()) => {
                let _ = file.unlock();
                Ok(Asked::Free)
            }
            Err(TryLockError::WouldBlock) => Ok(Asked::Held(said(&mut file))),
            Err(TryLockError::Error(error)) => Err(StoreError::file("lock", &path)(error)),
        }
    }

    fn lock(&self, kind: &str, what: &Path, holder: &Holder) -> Result<Held, LockError> {
        let _asking = self.ask_alone()?;
        let (mut file, path) = self.lock_file(kind, what)?;
        match file.try_lock() {
            Ok(()) => {
                let mut held = Held { file, path };
                held.describe(holder)?;
                Ok(held)
            }
            Err(TryLockError::WouldBlock) => Err(LockError::Held { holder: in_words(kind, said(&mut file)) }),
            Err(TryLockError::Error(error)) => Err(StoreError::file("lock", &path)(error).into()),
        }
    }

    /// One question at a time, for microseconds: asking who holds a lock takes it for a moment, which must
    /// refuse nobody, and a holder's words are written before anyone reads them.
    fn ask_alone(&self) -> Result<Held, StoreError> {
        wait_for(self.inner.locks.join("asking"))
    }

    fn lock_file(&self, kind: &str, what: &Path) -> Result<(File, PathBuf), StoreError> {
        let path = self.lock_path(kind, what)?;
        Ok((open(&path)?, path))
    }

    fn lock_path(&self, kind: &str, what: &Path) -> Result<PathBuf, StoreError> {
        let path =
            if kind == "tree" { real(what)? } else { in_real_folder(what).map_err(StoreError::file("find", what))? };
        Ok(self.inner.locks.join(beside::name(kind, &path)))
    }
}

impl Drop for Held {
    /// Closing is not enough: a process that is being started in another thread has a copy of the file until
    /// it runs its program, and would keep the lock as long.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Held {
    fn describe(&mut self, holder: &Holder) -> Result<(), StoreError> {
        let text = serde_json::to_string(holder).unwrap_or_default();
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(text.as_bytes())
        };
        // The lock counts, not the words: a full disk must not refuse it.
        match write(&mut self.file) {
            Err(error) if !out_of_space(&error) => Err(StoreError::file("write", &self.path)(error)),
            _ => Ok(()),
        }
    }
}

fn real(folder: &Path) -> Result<PathBuf, StoreError> {
    fs::canonicalize(folder).map_err(StoreError::file("find", folder))
}

fn out_of_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// One file, one path, whatever way its folder was named, and the same when it is gone or a link for a while.
fn in_real_folder(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent.exists() => Ok(fs::canonicalize(parent)?.join(name)),
        _ => std::path::absolute(path),
    }
}

/// Waits for the lock on the file `path`, created when missing.
pub(super) fn wait_for(path: PathBuf) -> Result<Held, StoreError> {
    let file = open(&path)?;
    wait(&file).map_err(StoreError::file("lock", &path))?;
    Ok(Held { file, path })
}

fn open(path: &Path) -> Result<File, StoreError> {
    os::private_file()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        // Where nothing can be written a lock can still be asked for.
        .or_else(|error| match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => File::open(path).map_err(|_| error),
            _ => Err(error),
        })
        .map_err(StoreError::file("open", path))
}

fn wait(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn said(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.take(4_096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// `kind`: of the lock.
fn in_words(kind: &str, holder: Option<Holder>) -> String {
    let words = |holder: Holder| if kind == "ticket" { holder.program() } else { holder.work() };
    holder.map_or_else(|| "another programmator".to_owned(), |holder| clean_line(&words(holder), 300))
}
