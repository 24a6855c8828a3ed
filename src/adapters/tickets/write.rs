//! Changes a ticket's file while a person may be editing it: atomically, and so that no byte of theirs is lost.
//!
//! A link is not followed: the file may have been made one since its path was found. Read, edit the bytes, write a new
//! file beside the ticket, look again, exchange the two names in one step, and look at what came out. If that is not
//! what was read, a person saved in between: they get their file back and the edit is made anew on their text. A save
//! into the old file that comes after the exchange is found too, by a look some time later, and carried over.
//!
//! What stays possible: an editor that holds the old file open for longer than that before it writes
//! (or writes in it while this program is killed), and, on file systems that cannot exchange, a rename in
//! the instant between the last look and ours.
//!
//! How the text changes is `domain::ticket::edit`'s part; who writes, and under which lock, `writer`'s.

use super::disk::{Disk, Swapped};
use super::load::shown;
use crate::domain::record::WriteOutcome;
use crate::domain::ticket::edit::Unchanged;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the edit is made anew because the file changed meanwhile.
const TRIES: usize = 6;

/// An edit: the new bytes, or why there is nothing to change.
pub type Edit<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<u8>, Unchanged>;

/// Makes the edit on the file at `path`, by the steps of `disk`, and waits for the look back. Without a lock.
pub fn write<D: Disk>(disk: &mut D, path: &Path, edit: Edit<'_>) -> WriteOutcome {
    let mut writer = Writer::default();
    let mut outcome = writer.write(disk, path, &edit);
    for _ in 0..TRIES {
        if !writer.is_busy() {
            return outcome;
        }
        disk.pause();
        outcome = match writer.look_back(disk, path, Duration::ZERO) {
            Ok(again) => again.unwrap_or(outcome),
            Err(error) => return unwritten(path, &error),
        };
    }
    Attempt::overtaken().outcome()
}

fn unwritten(path: &Path, error: &io::Error) -> WriteOutcome {
    WriteOutcome::Failed(format!("{} cannot be written: {error}", shown(path)))
}

enum Attempt {
    Settled(WriteOutcome),
    InDoubt(WriteOutcome),
}

impl Attempt {
    fn overtaken() -> Self {
        Self::InDoubt(WriteOutcome::Failed("the ticket keeps changing: nothing was written".to_owned()))
    }

    fn outcome(self) -> WriteOutcome {
        match self {
            Self::Settled(outcome) | Self::InDoubt(outcome) => outcome,
        }
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

/// What had the ticket's name before an edit. A person who had it open may still save there.
struct Replaced<E, F> {
    file: F,
    before: Vec<u8>,
    edit: E,
    at: Instant,
}

/// The edits of one file, one after another.
pub(super) struct Writer<E, F> {
    late: Option<Late>,
    /// The oldest first.
    replaced: Vec<Replaced<E, F>>,
    /// What was put in the ticket's place last.
    ours: Option<(F, Vec<u8>)>,
}

impl<E, F> Default for Writer<E, F> {
    fn default() -> Self {
        Self { late: None, replaced: Vec::new(), ours: None }
    }
}

impl<E: Clone + Deref<Target: Fn(&[u8]) -> Result<Vec<u8>, Unchanged>>, F> Writer<E, F> {
    /// Something is to be looked at again.
    pub(super) fn is_busy(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Nothing is.
    pub(super) fn give_up(&mut self) {
        self.replaced.clear();
    }

    /// Makes the edit. What it replaces is to be looked at again.
    pub(super) fn write<D: Disk<File = F>>(&mut self, disk: &mut D, path: &Path, edit: &E) -> WriteOutcome {
        let mut last = WriteOutcome::FileGone;
        for _ in 0..TRIES {
            last = match (Step { writer: self, disk, edit }).attempt(path) {
                Ok(Attempt::Settled(outcome)) => return outcome,
                // Editors that save by renaming leave a moment without a file, others one with half a text.
                Ok(Attempt::InDoubt(outcome)) => outcome,
                Err(error) if error.kind() == io::ErrorKind::NotFound => WriteOutcome::FileGone,
                Err(error) => return unwritten(path, &error),
            };
            disk.pause();
        }
        last
    }

    /// Looks at what was replaced so long ago. Where a person has saved there meanwhile, all edits since are made anew on
    /// the newest such text, unless they have saved the ticket itself: `Some`, what came of that.
    pub(super) fn look_back<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        path: &Path,
        age: Duration,
    ) -> io::Result<Option<WriteOutcome>> {
        let due = self.replaced.iter().take_while(|old| old.at.elapsed() >= age).count();
        let mut saved = None;
        for (at, old) in self.replaced[..due].iter_mut().enumerate() {
            let text = disk.read(&mut old.file)?;
            if text != old.before {
                saved = Some((at, text));
            }
        }
        let Some((at, text)) = saved else {
            self.replaced.drain(..due);
            return Ok(None);
        };
        let edits: Vec<E> = self.replaced.drain(..).skip(at).map(|old| old.edit).collect();
        let Some((last, before)) = edits.split_last() else { return Ok(None) };
        let text = before.iter().fold(text, |text, edit| edit(&text).unwrap_or(text));
        self.late = self.ours.as_ref().map(|(_, instead)| Late { instead: instead.clone(), text });
        Ok(Some(self.write(disk, path, last)))
    }
}

/// One edit under way.
struct Step<'a, D: Disk, E> {
    writer: &'a mut Writer<E, D::File>,
    disk: &'a mut D,
    edit: &'a E,
}

impl<D: Disk, E: Clone + Deref<Target: Fn(&[u8]) -> Result<Vec<u8>, Unchanged>>> Step<'_, D, E> {
    fn attempt(&mut self, target: &Path) -> io::Result<Attempt> {
        let mut file = self.disk.open(target)?;
        let before = self.disk.read(&mut file)?;
        let is_ours = |(ours, text): &(D::File, Vec<u8>)| *text == before && self.disk.is_same(ours, &file);
        if !self.writer.ours.as_ref().is_some_and(is_ours) && self.disk.is_fresh(&file) {
            self.disk.pause();
            if !self.is_still(target, &file, &before)? {
                return Ok(Attempt::overtaken());
            }
        }
        let late = self.writer.late.take().filter(|late| late.instead == before);
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

    /// Removes what a killed program left, if it holds nothing but the text before or after this edit, or how far that was
    /// written; otherwise it might be somebody's, and stays. Whether the name is free now.
    fn clear(&mut self, staged: &Path, new: &[u8]) -> io::Result<bool> {
        let text = match self.disk.open(staged) {
            Ok(mut old) => self.disk.read(&mut old)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        let is_ours = new.starts_with(&text) || (self.edit)(&text).as_deref() == Ok(new);
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
        let out = match swapped {
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
        let (before, edit) = (before.to_vec(), self.edit.clone());
        self.writer.replaced.push(Replaced { file: out, before, edit, at: Instant::now() });
        self.writer.ours = Some((ours, new.to_vec()));
        // A tick that is recorded as made must not be gone after a power failure: it would be taken for the person's. Not
        // all file systems can see to it.
        if let Err(error) = self.disk.sync_folder() {
            tracing::warn!(file = %shown(target), %error, "written, but a power failure may undo it");
        }
        Ok(Attempt::Settled(WriteOutcome::Written))
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
                    self.writer.late = Some(Late { instead: self.disk.read(&mut out)?, text });
                }
                return Ok(Attempt::overtaken());
            }
            (put_in, put_in_text) = (out, out_text);
            (out, out_text) = (back, back_text);
        }
    }
}
