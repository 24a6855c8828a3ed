//! A call of `git commit`: what it reads and writes, in a folder that outlives this program.
//!
//! Whether it still runs is seen by a lock on the message, which git holds as its input for as long as it lives.

use crate::adapters::git::error::EvidenceError;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The end of what git and hooks said: so many bytes are looked at.
const END: i64 = 64 << 10;

/// The files of a call.
#[derive(Debug)]
pub(super) struct Job {
    folder: PathBuf,
}

impl Job {
    /// The one that `keep` has.
    pub(super) fn at(keep: &Path) -> Self {
        Self { folder: keep.join("commit") }
    }

    /// What an earlier one left is gone.
    pub(super) fn begin(&self) -> Result<(), EvidenceError> {
        self.remove();
        fs::create_dir_all(&self.folder).map_err(|error| self.trouble(error))
    }

    /// The index that the commit is made from.
    pub(super) fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    fn message(&self) -> PathBuf {
        self.folder.join("message")
    }

    fn output(&self) -> PathBuf {
        self.folder.join("output")
    }

    /// Input and output of the call.
    pub(super) fn files(&self, message: &str) -> Result<(File, File), EvidenceError> {
        let open = || {
            fs::write(self.message(), message)?;
            let input = File::open(self.message())?;
            // A file system without locks: then it is not seen that it runs.
            let _ = input.try_lock();
            Ok((input, File::create(self.output())?))
        };
        open().map_err(|error| self.trouble(error))
    }

    /// Git was called, and has not ended.
    pub(super) fn runs(&self) -> bool {
        File::open(self.message()).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// The end of what git and hooks said.
    pub(super) fn said(&self) -> Vec<u8> {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(self.output())?;
            let length = i64::try_from(file.metadata()?.len()).unwrap_or(i64::MAX);
            file.seek(SeekFrom::End(-length.min(END)))?;
            let mut said = Vec::new();
            file.take(END.unsigned_abs()).read_to_end(&mut said)?;
            Ok(said)
        };
        read().unwrap_or_default()
    }

    pub(super) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    fn trouble(&self, source: io::Error) -> EvidenceError {
        EvidenceError::Io { what: "preparing the commit".to_owned(), path: self.folder.clone(), source }
    }
}
