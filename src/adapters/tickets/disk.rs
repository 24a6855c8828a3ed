//! The few steps on files that writing a ticket is made of, as a trait: file systems differ in what they
//! can do in one step, and the order of the steps is what keeps a person's edit safe.
//!
//! The order itself is in `write`.

pub use super::os::Swapped;
use super::{load, os};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

/// Steps on ticket files. Every step may be followed by somebody else's.
pub trait Disk {
    /// An open file: it stays the same file when names change.
    type File;

    /// Opens a regular file for reading.
    fn open(&mut self, path: &Path) -> io::Result<Self::File>;
    /// The whole content as it is now, whether or not the file still has a name.
    fn read(&mut self, file: &mut Self::File) -> io::Result<Vec<u8>>;
    fn is_same(&mut self, a: &Self::File, b: &Self::File) -> bool;
    /// The file was written to a moment ago: somebody may be in the middle of it.
    fn is_fresh(&mut self, file: &Self::File) -> bool;
    /// The file may be written: it is neither read-only nor somebody else's.
    fn is_writable(&mut self, path: &Path) -> io::Result<bool>;
    /// Writes a new file, which must not exist yet, safely to disk, with mode and owner of `like`.
    fn stage(&mut self, path: &Path, text: &[u8], like: &Self::File) -> io::Result<()>;
    /// Puts `new` in the place of `target`. `NotFound` when there is no target.
    fn swap(&mut self, new: &Path, target: &Path) -> io::Result<Swapped>;
    fn remove(&mut self, path: &Path) -> io::Result<()>;
    /// Makes the names in the folder safe.
    fn sync_folder(&mut self) -> io::Result<()>;
    /// Gives somebody who is in the middle of saving the time to finish.
    fn pause(&mut self);
}

/// Longer than any editor needs from opening a file of this size to closing it.
pub(super) const PAUSE: Duration = Duration::from_millis(40);

/// The real one: the files of one folder. Links are not followed.
#[derive(Debug)]
pub struct RealDisk {
    folder: os::Folder,
    first: Option<First>,
    owe: Option<Owe>,
}

/// What has to be done before two names are exchanged: a new file may be written meanwhile.
pub(super) struct First(pub(super) Box<dyn FnOnce() -> io::Result<()> + Send>);

/// Takes a sync that is under way, until its sender is dropped.
#[derive(Clone)]
pub(super) struct Owe(pub(super) Arc<dyn Fn(Receiver<()>) + Send + Sync>);

impl fmt::Debug for First {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("First")
    }
}

impl fmt::Debug for Owe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owe")
    }
}

impl RealDisk {
    /// For the file at `path` and those beside it.
    pub fn of(path: &Path) -> Result<Self, load::LoadError> {
        let folder = os::Folder::of(path).map_err(|error| load::LoadError::of(path, error))?;
        Ok(Self { folder, first: None, owe: None })
    }

    pub(super) fn wait(&mut self, first: Option<First>, owe: Option<Owe>) {
        (self.first, self.owe) = (first, owe);
    }
}

impl Disk for RealDisk {
    type File = File;

    fn open(&mut self, path: &Path) -> io::Result<File> {
        load::open_in(&self.folder, path).map_err(|error| match error {
            load::LoadError::Gone { .. } => io::ErrorKind::NotFound.into(),
            other => io::Error::other(other),
        })
    }

    fn read(&mut self, file: &mut File) -> io::Result<Vec<u8>> {
        file.rewind()?;
        let mut text = Vec::new();
        file.take(load::MAX_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > load::MAX_BYTES {
            return Err(io::Error::other(load::too_large()));
        }
        Ok(text)
    }

    fn is_same(&mut self, a: &File, b: &File) -> bool {
        matches!((os::identity(a), os::identity(b)), (Ok(a), Ok(b)) if a == b)
    }

    fn is_fresh(&mut self, file: &File) -> bool {
        let written = file.metadata().and_then(|about| about.modified());
        // A time to come is a clock that was set: as good as now.
        written.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age < 2 * PAUSE))
    }

    fn is_writable(&mut self, path: &Path) -> io::Result<bool> {
        self.folder.is_writable(path)
    }

    fn stage(&mut self, path: &Path, text: &[u8], like: &File) -> io::Result<()> {
        let mut file = self.folder.create(path)?;
        let written =
            file.write_all(text).and_then(|()| os::copy_attributes(like, &file)).and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = self.folder.remove(path);
        }
        written
    }

    fn swap(&mut self, new: &Path, target: &Path) -> io::Result<Swapped> {
        if let Some(First(first)) = self.first.take() {
            first()?;
        }
        self.folder.swap(new, target)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.folder.remove(path)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        let Some(Owe(owe)) = &self.owe else { return self.folder.sync() };
        let (folder, (ends, under_way)) = (self.folder.again()?, channel());
        let sync = move || {
            if let Err(error) = folder.sync() {
                tracing::warn!(%error, "a ticket was saved, but a power failure now could undo that");
            }
            drop(ends);
        };
        std::thread::Builder::new().name("sync-ticket".into()).spawn(sync)?;
        owe(under_way);
        Ok(())
    }

    fn pause(&mut self) {
        std::thread::sleep(PAUSE);
    }
}
