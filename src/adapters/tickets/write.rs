//! Changes a ticket's file while a person may be editing it: atomically, and so that no byte of theirs is lost.
//!
//! A link is not followed: the file may have been made one since its path was found. Read, edit the bytes, write a new
//! file beside the ticket, look again, exchange the two names in one step, and look at what came out. If that is not
//! what was read, a person saved in between: they get their file back and the edit is made anew on their text. A save
//! into the old file that comes after the exchange is found too, after a pause, and carried over.
//!
//! What stays possible: an editor that holds the old file open for longer than that pause before it writes
//! (or writes in it while this program is killed), and, on file systems that cannot exchange, a rename in
//! the instant between the last look and ours.
//!
//! How the text changes is `domain::ticket::edit`'s part.

use super::disk::{Disk, RealDisk, Swapped};
use super::load::{LoadError, shown};
use crate::domain::record::WriteOutcome;
use crate::domain::ticket::TicketStatus;
use crate::domain::ticket::edit::{self, Unchanged};
use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the edit is made anew because the file changed meanwhile.
const TRIES: usize = 6;

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

/// An edit: the new bytes, or why there is nothing to change.
pub type Edit<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<u8>, Unchanged>;

fn locked(path: &Path, locks: &Path, edit: Edit<'_>) -> WriteOutcome {
    let lock = match lock(path, locks) {
        Ok(lock) => lock,
        Err(error) => return WriteOutcome::Failed(format!("{} cannot be locked: {error}", shown(path))),
    };
    let outcome = match RealDisk::of(path) {
        Ok(mut disk) => write(&mut disk, path, edit),
        Err(LoadError::Gone { .. }) => WriteOutcome::FileGone,
        Err(error) => WriteOutcome::Failed(error.to_string()),
    };
    drop(lock);
    outcome
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

/// Makes the edit on the file at `path`, by the steps of `disk`. Without a lock: [`tick`] and [`set_status`] take it.
pub fn write<D: Disk>(disk: &mut D, path: &Path, edit: Edit<'_>) -> WriteOutcome {
    let mut writer = Writer { disk, edit, late: None };
    let mut last = WriteOutcome::FileGone;
    for _ in 0..TRIES {
        last = match writer.attempt(path) {
            Ok(Attempt::Settled(outcome)) => return outcome,
            // Editors that save by renaming leave a moment without a file, others one with half a text.
            Ok(Attempt::InDoubt(outcome)) => outcome,
            Err(error) if error.kind() == io::ErrorKind::NotFound => WriteOutcome::FileGone,
            Err(error) => return WriteOutcome::Failed(format!("{} cannot be written: {error}", shown(path))),
        };
        writer.disk.pause();
    }
    last
}

enum Attempt {
    Settled(WriteOutcome),
    InDoubt(WriteOutcome),
}

impl Attempt {
    fn overtaken() -> Self {
        Self::InDoubt(WriteOutcome::Failed(
            "the ticket keeps changing while it is edited: nothing was written".to_owned(),
        ))
    }
}

/// A person's save that reached a file after it had lost its name.
struct Late {
    instead: Vec<u8>,
    text: Vec<u8>,
}

/// Where a new text waits for the exchange: hidden, in the same folder, the same name for every program, so
/// that the next one can clear up.
fn staged_name(target: &Path, number: u32) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.programmator-{number}"))
}

struct Writer<'a, D: Disk> {
    disk: &'a mut D,
    edit: Edit<'a>,
    late: Option<Late>,
}

impl<D: Disk> Writer<'_, D> {
    fn attempt(&mut self, target: &Path) -> io::Result<Attempt> {
        let mut file = self.disk.open(target)?;
        let before = self.disk.read(&mut file)?;
        if self.disk.is_fresh(&file) {
            self.disk.pause();
            if !self.is_still(target, &file, &before)? {
                return Ok(Attempt::overtaken());
            }
        }
        let late = self.late.take().filter(|late| late.instead == before);
        let base = late.as_ref().map_or(&before, |late| &late.text);
        let new = match (self.edit)(base) {
            Ok(new) => new,
            Err(_) if late.is_some() => base.clone(),
            Err(Unchanged::AlreadySo) => {
                // Perhaps by a program that was killed before it could clear up.
                self.clear(&staged_name(target, 1), &before)?;
                return Ok(Attempt::Settled(WriteOutcome::AlreadySo));
            }
            Err(Unchanged::NotThere) => return Ok(Attempt::InDoubt(WriteOutcome::NotThere)),
        };
        if !self.disk.is_writable(target)? {
            return Err(io::Error::other("it is read-only; `chmod u+w` lets programmator tick its boxes"));
        }
        let staged = self.stage(target, &new, &file)?;
        let still = self.is_still(target, &file, &before);
        if !matches!(still, Ok(true)) {
            self.disk.remove(&staged)?;
            return still.map(|_| Attempt::overtaken());
        }
        self.replace(&staged, target, file, &before, &new)
    }

    fn is_still(&mut self, target: &Path, file: &D::File, text: &[u8]) -> io::Result<bool> {
        let mut now = self.disk.open(target)?;
        Ok(self.disk.is_same(&now, file) && self.disk.read(&mut now)? == text)
    }

    /// Writes the new file beside the ticket.
    fn stage(&mut self, target: &Path, new: &[u8], like: &D::File) -> io::Result<PathBuf> {
        let mut number = 1;
        loop {
            let staged = staged_name(target, number);
            match self.disk.stage(&staged, new, like) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                    if !self.clear(&staged, new)? {
                        tracing::warn!(file = %shown(&staged), "left by an earlier run, kept");
                        number += 1;
                    }
                }
                done => return done.map(|()| staged),
            }
        }
    }

    /// Removes what a killed program left, if it holds nothing but the text before or after this edit;
    /// otherwise it might be somebody's, and stays. Whether the name is free now.
    fn clear(&mut self, staged: &Path, new: &[u8]) -> io::Result<bool> {
        let text = match self.disk.open(staged) {
            Ok(mut old) => self.disk.read(&mut old)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        let is_ours = text == new || (self.edit)(&text).as_deref() == Ok(new);
        if is_ours {
            self.disk.remove(staged)?;
        }
        Ok(is_ours)
    }

    fn replace(
        &mut self,
        staged: &Path,
        target: &Path,
        old: D::File,
        before: &[u8],
        new: &[u8],
    ) -> io::Result<Attempt> {
        let swapped = self.disk.open(staged).and_then(|ours| Ok((ours, self.disk.swap(staged, target)?)));
        let (ours, swapped) = match swapped {
            Ok(done) => done,
            Err(error) => {
                self.disk.remove(staged)?;
                return Err(error);
            }
        };
        let mut out = match swapped {
            Swapped::Replaced => old,
            Swapped::Exchanged => match self.take_out(staged, before) {
                Ok((out, None)) => out,
                Ok((out, Some(text))) => return self.give_back(staged, target, ours, new.to_vec(), out, text),
                Err(error) => {
                    // Looked at once more: what came out goes only if it is not a person's.
                    let _ = self.clear(staged, new);
                    return Err(error);
                }
            },
        };
        self.disk.sync_folder()?;
        self.disk.pause();
        let text = self.disk.read(&mut out)?;
        if text == before {
            return Ok(Attempt::Settled(WriteOutcome::Written));
        }
        self.late = Some(Late { instead: new.to_vec(), text });
        Ok(Attempt::overtaken())
    }

    /// What the exchange brought out: removed if it is what was read, else with its text.
    fn take_out(&mut self, staged: &Path, before: &[u8]) -> io::Result<(D::File, Option<Vec<u8>>)> {
        let mut out = self.disk.open(staged)?;
        let text = self.disk.read(&mut out)?;
        if text != before {
            return Ok((out, Some(text)));
        }
        self.disk.remove(staged)?;
        Ok((out, None))
    }

    /// Exchanges, also when the ticket has no name for a moment because an editor is saving it.
    fn swap_patiently(&mut self, staged: &Path, target: &Path) -> io::Result<Swapped> {
        for _ in 0..TRIES {
            match self.disk.swap(staged, target) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.disk.pause(),
                done => return done,
            }
        }
        self.disk.swap(staged, target)
    }

    /// A person saved between the last look and the exchange: `out`, now under the name `staged`, is theirs.
    /// Exchanges until the file that comes out is the one that was put in last, unchanged: then nobody
    /// saved between, and the newest is where it belongs.
    fn give_back(
        &mut self,
        staged: &Path,
        target: &Path,
        mut put_in: D::File,
        mut put_in_text: Vec<u8>,
        mut out: D::File,
        mut out_text: Vec<u8>,
    ) -> io::Result<Attempt> {
        loop {
            // Fails when the person has removed the file meanwhile; theirs then stays under the hidden name.
            self.swap_patiently(staged, target)?;
            let mut back = self.disk.open(staged)?;
            let back_text = self.disk.read(&mut back)?;
            if self.disk.is_same(&back, &put_in) && back_text == put_in_text {
                self.disk.remove(staged)?;
                self.disk.pause();
                let text = self.disk.read(&mut back)?;
                if text != back_text {
                    self.late = Some(Late { instead: self.disk.read(&mut out)?, text });
                }
                return Ok(Attempt::overtaken());
            }
            (put_in, put_in_text) = (out, out_text);
            (out, out_text) = (back, back_text);
        }
    }
}
