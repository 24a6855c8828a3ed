//! Who writes a ticket's file: under a lock that all programs of ours share, by the steps of `write`.

use super::disk::{First, Owe, PAUSE, RealDisk};
use super::load::{LoadError, shown};
use super::write::{Edit, Writer, write};
use crate::domain::record::WriteOutcome;
use crate::domain::ticket::edit::{self, Unchanged};
use crate::domain::ticket::{Revision, TicketStatus};
use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Ticks the phase with this text, of several the `nth`. `locks` is the folder of the lock files, the same for all programs.
pub fn tick(path: &Path, phase: &str, nth: usize, locks: &Path) -> WriteOutcome {
    locked(path, locks, &|bytes| edit::complete_phase(bytes, phase, nth))
}

pub fn reopen(path: &Path, phase: &str, nth: usize, locks: &Path) -> WriteOutcome {
    locked(path, locks, &|bytes| edit::reopen_phase(bytes, phase, nth))
}

/// Sets `status:` in the front matter.
pub fn set_status(path: &Path, to: TicketStatus, locks: &Path) -> WriteOutcome {
    locked(path, locks, &|bytes| edit::set_status(bytes, to))
}

/// Changes lines of the ticket.
pub fn revise(path: &Path, revision: &Revision, locks: &Path) -> WriteOutcome {
    locked(path, locks, &|bytes| revision.apply(bytes))
}

/// Makes an edit of the whole file; with others of ours one after the other.
pub fn change(path: &Path, locks: &Path, edit: Edit<'_>) -> WriteOutcome {
    locked(path, locks, edit)
}

/// One that is kept until what it has replaced was looked at again.
type Kept = Arc<dyn Fn(&[u8]) -> Result<Vec<u8>, Unchanged> + Send + Sync>;

fn locked(path: &Path, locks: &Path, edit: Edit<'_>) -> WriteOutcome {
    match Held::of(path, locks) {
        Ok(mut held) => write(&mut held.disk, path, edit),
        Err(outcome) => outcome,
    }
}

/// Writes the file of a ticket for one run, one edit after another. What an edit has replaced is looked at again a little
/// later, by [`look_back`](Self::look_back): the next edit need not wait for that. Until then other programs of ours do.
pub struct TicketWriter {
    path: PathBuf,
    locks: PathBuf,
    held: Option<Held>,
    writer: Writer<Kept, File>,
    first: Option<First>,
    owe: Option<Owe>,
}

/// What is had while somebody may still save into a file that was replaced.
#[derive(Debug)]
struct Held {
    disk: RealDisk,
    #[allow(dead_code, reason = "held by being there")]
    lock: File,
}

impl TicketWriter {
    /// How much later the look back is due.
    pub const PAUSE: Duration = PAUSE;

    /// `locks` is the folder of the lock files, the same for all programs.
    pub fn new(path: PathBuf, locks: PathBuf) -> Self {
        Self { path, locks, held: None, writer: Writer::default(), first: None, owe: None }
    }

    /// New names are synced beside the path: `owe` has each such sync, which ends with its sender.
    #[must_use]
    pub fn owing(mut self, owe: impl Fn(Receiver<()>) + Send + Sync + 'static) -> Self {
        self.owe = Some(Owe(Arc::new(owe)));
        self
    }

    /// The next edit waits for this before it takes the file's place; with an error it does not.
    pub fn after(&mut self, first: impl FnOnce() -> io::Result<()> + Send + 'static) {
        self.first = Some(First(Box::new(first)));
    }

    pub fn tick(&mut self, phase: String, nth: usize) -> WriteOutcome {
        let edit: Kept = Arc::new(move |bytes: &[u8]| edit::complete_phase(bytes, &phase, nth));
        self.make(&edit)
    }

    pub fn reopen(&mut self, phase: String, nth: usize) -> WriteOutcome {
        let edit: Kept = Arc::new(move |bytes: &[u8]| edit::reopen_phase(bytes, &phase, nth));
        self.make(&edit)
    }

    pub fn revise(&mut self, revision: Revision) -> WriteOutcome {
        let edit: Kept = Arc::new(move |bytes: &[u8]| revision.apply(bytes));
        self.make(&edit)
    }

    pub fn set_status(&mut self, to: TicketStatus) -> WriteOutcome {
        let edit: Kept = Arc::new(move |bytes: &[u8]| edit::set_status(bytes, to));
        self.make(&edit)
    }

    fn make(&mut self, edit: &Kept) -> WriteOutcome {
        let mut held = match self.held.take().map_or_else(|| Held::of(&self.path, &self.locks), Ok) {
            Ok(held) => held,
            Err(outcome) => return outcome,
        };
        held.disk.wait(self.first.take(), self.owe.clone());
        let outcome = self.writer.write(&mut held.disk, &self.path, edit);
        held.disk.wait(None, self.owe.clone());
        self.held = self.writer.is_busy().then_some(held);
        outcome
    }

    /// There is something to look back at.
    pub fn is_busy(&self) -> bool {
        self.held.is_some()
    }

    /// Looks at what was replaced long enough ago; what a person has saved there since is carried over.
    pub fn look_back(&mut self) {
        if let Some(mut held) = self.held.take() {
            if let Err(error) = self.writer.look_back(&mut held.disk, &self.path, PAUSE) {
                tracing::warn!(%error, ticket = %shown(&self.path), "what was replaced cannot be looked at again");
                self.writer.give_up();
            }
            self.held = self.writer.is_busy().then_some(held);
        }
    }
}

impl Held {
    fn of(path: &Path, locks: &Path) -> Result<Self, WriteOutcome> {
        let lock = lock(path, locks)
            .map_err(|error| WriteOutcome::Failed(format!("{} cannot be locked: {error}", shown(path))))?;
        match RealDisk::of(path) {
            Ok(disk) => Ok(Self { disk, lock }),
            Err(LoadError::Gone { .. }) => Err(WriteOutcome::FileGone),
            Err(error) => Err(WriteOutcome::Failed(error.to_string())),
        }
    }
}

/// Waits for other programs of ours that write the same ticket; the lock goes with the file.
fn lock(path: &Path, locks: &Path) -> io::Result<File> {
    std::fs::create_dir_all(locks)?;
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let file = File::create(locks.join(format!("ticket-{number:016x}.lock")))?;
    for _ in 0..200 {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(25)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::other("another programmator process has held the lock for 5 s; stop it if it hangs"))
}
