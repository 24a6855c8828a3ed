//! What can go wrong with the store, in words for the person: what happened, to which file, and the fix.

use crate::adapters::room::free;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why the store could not do it. Cloneable, because one failed transaction may answer several appends.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither a setting nor a home folder says where the state lives.
    #[error("no home folder for programmator's state; set PROGRAMMATOR_STATE_DIR")]
    NoHome,
    #[error("the state folder {path} cannot be used: {why}; {cure}")]
    Folder { path: PathBuf, why: String, cure: String },
    #[error("cannot {doing} {path}: {source}")]
    File {
        path: PathBuf,
        /// What was tried: `read`, `create`, `lock`, …
        doing: &'static str,
        source: Arc<io::Error>,
    },
    /// No room for the append. Nothing of it was stored.
    #[error("the disk or quota of {path} is full, so nothing more is stored; free some space")]
    Full { path: PathBuf },
    /// The system could not write the database. Nothing of the append was stored.
    #[error("cannot write to the disk of {path}: {source}; nothing is stored until this works again")]
    Disk { path: PathBuf, source: Arc<rusqlite::Error> },
    /// The database that was opened is not at its place any more.
    #[error(
        "{path} was deleted or moved while programmator was running, so nothing more is stored: put it back, or start the ticket again"
    )]
    Gone { path: PathBuf },
    /// The file is no `SQLite` database, or a damaged one. It is left as it is.
    #[error(
        "{path} is damaged or not programmator's database ({why}); it was left untouched: move it (and {name}-wal, if present) aside to start with an empty history; your tickets and working directories are not affected", name = name(path)
    )]
    Damaged { path: PathBuf, why: String },
    /// A newer programmator wrote the database. It is left untouched.
    #[error(
        "{path} was written by a newer programmator (schema {found}, this one knows {known}); it was left untouched: \
         update programmator, or set PROGRAMMATOR_STATE_DIR to another folder"
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("{path} is locked by another program; stop it or try again")]
    Busy { path: PathBuf },
    /// Another program has begun to clear away what interrupted runs of a ticket have left, and does not end.
    #[error(
        "another programmator is cleaning up after an interrupted run of {ticket} and does not finish; it may be suspended: continue (`fg`) or stop it"
    )]
    Sweeping { ticket: PathBuf },
    #[error("programmator is out of memory: close other programs or raise the limit (`ulimit -v`)")]
    Memory,
    #[error("database error in {path}: {source}")]
    Database { path: PathBuf, source: Arc<rusqlite::Error> },
    #[error("a record cannot be written as JSON: {0}")]
    Encode(Arc<serde_json::Error>),
    /// The append notes a wish that was taken back meanwhile. Nothing of it was stored.
    #[error("the request was withdrawn")]
    Withdrawn,
    #[error("the store's writer has stopped; start programmator again and resume the run")]
    Closed,
}

impl StoreError {
    /// The place cannot be written, or not now; it may be read all the same.
    pub fn is_not_writable(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match self {
            Self::Full { .. } | Self::Disk { .. } => true,
            Self::File { source, .. } => {
                matches!(source.kind(), PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
            }
            Self::Database { source, .. } => {
                matches!(source.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
            }
            _ => false,
        }
    }

    /// For `map_err` after a file operation.
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, doing, source: Arc::new(source) }
    }

    /// For `map_err` after a call of `SQLite`.
    pub(super) fn sql(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        let path = path.to_owned();
        move |source| {
            let path = path.clone();
            match source.sqlite_error_code() {
                Some(ErrorCode::OutOfMemory) => Self::Memory,
                Some(ErrorCode::DiskFull) => Self::Full { path },
                // What it keeps beside the database cannot grow.
                Some(ErrorCode::SystemIoFailure) if is_full(&path) => Self::Full { path },
                Some(ErrorCode::SystemIoFailure) => Self::Disk { path, source: Arc::new(source) },
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                    Self::Damaged { path, why: source.to_string() }
                }
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
                _ => Self::Database { path, source: Arc::new(source) },
            }
        }
    }
}

/// Whether there is no room beside the file for what `SQLite` takes at once.
fn is_full(path: &Path) -> bool {
    const ONCE: u64 = 64 * 1024;
    path.parent().and_then(free).is_some_and(|free| free < ONCE)
}

/// The file's own name, for people.
fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_grow_beside_the_database_says_that_the_disk_is_full() {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        let failed = || rusqlite::Error::SqliteFailure(code, None);
        // Nothing is ever free there.
        assert!(matches!(StoreError::sql(Path::new("/proc/x.db"))(failed()), StoreError::Full { .. }));
        let place = std::env::temp_dir().join("x.db");
        assert!(matches!(StoreError::sql(&place)(failed()), StoreError::Disk { .. }));
    }
}
