//! The store: one `SQLite` file per person with the facts, files with what Claude printed, locks.
//!
//! [`Store`] is a cheap handle on all three. An append is stored when it returns, in order, and numbered by
//! the store, and on the disk where it could not be found again; several programs at once are normal. `folder` says where it lives, `schema` opens it, `writer`
//! and `tables` write it, `read`, `follow` and `wishes` read it; `scrollback` and `locks` are files beside it. What a
//! record means is `domain::record`'s; how a run follows from its records is the core's.

mod archive;
mod bell;
mod beside;
mod copied;
mod error;
mod folder;
mod follow;
mod handle;
mod ledger;
mod limits;
mod locks;
mod os;
mod read;
mod saved;
mod schema;
mod scrollback;
mod tables;
mod wishes;
mod writer;

pub use error::StoreError;
pub use folder::state_dir;
pub use follow::{Follower, RunsFollower};
pub use handle::Store;
pub use locks::{Holder, LockError, SweepLock, TicketLock, TreeLock};
pub use locks::{is_any_held, is_any_ticket_held};
pub use read::{Loaded, Skipped, newest_of_each};
pub use scrollback::{Bounds, Classify, RunScrollback, RunSink, drain};
pub use wishes::{Wish, Wishes};
pub use writer::Append;

use crate::base::id::RunId;
use crate::domain::record::Stored;
use handle::Inner;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use writer::Owed;

/// A file of the database's.
fn beside_database(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

impl Store {
    /// There is one in the folder.
    pub fn is_there(folder: &Path) -> bool {
        folder.join("programmator.db").is_file()
    }

    /// Opens the store in `folder` (see [`state_dir`]); creates what is missing and brings an older database
    /// up to date. Waits while another program does the same. Refuses a folder that others control, a
    /// database of a newer program and what is no database; none of them is changed.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let folder = folder::prepare(folder)?;
        let locks = folder.join("locks");
        os::create_folder(&locks).map_err(StoreError::file("create", &locks))?;
        let _opening = locks::wait_for(locks.join("opening"))?;

        let database = folder.join("programmator.db");
        let bell = folder.join("bell");
        let wishes = folder.join("wishes");
        let db = schema::open(&database)?;
        let reader = Mutex::new(schema::open_reader(&database)?);
        let ledger = Mutex::new(limits::connect(&database)?);
        let opened = folder::Database::at(database.clone())?;
        let owed = Owed::default();
        let writer = writer::Writer::start(db, opened.clone(), bell::Notifier::open(&bell)?, owed.clone())?;
        let inner = Inner { folder, database, opened, bell, wishes, locks, reader, ledger, writer, owed };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Opens a store that is there where it cannot be written, for looking at it. Changes nothing; what would write
    /// is an error.
    pub fn open_to_read(folder: &Path) -> Result<Self, StoreError> {
        let folder = folder::prepare(folder)?;
        let (locks, database, bell) = (folder.join("locks"), folder.join("programmator.db"), folder.join("bell"));
        let wishes = folder.join("wishes");
        let connect = || schema::open_read_only(&database);
        let (reader, ledger) = (Mutex::new(connect()?), Mutex::new(connect()?));
        let opened = folder::Database::at(database.clone())?;
        let owed = Owed::default();
        let writer = writer::Writer::start(connect()?, opened.clone(), bell::Notifier::none(), owed.clone())?;
        let inner = Inner { folder, database, opened, bell, wishes, locks, reader, ledger, writer, owed };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The store in the folder is of an earlier version of the program: to open it would change it.
    pub fn is_older(folder: &Path) -> bool {
        schema::is_older(&folder.join("programmator.db"))
    }

    /// Opens such a store for looking at it, by a copy of its database in `scratch` that is brought up to date. Nothing else is
    /// changed; what is written goes with the copy.
    pub fn open_older(folder: &Path, scratch: &Path) -> Result<Self, StoreError> {
        let folder = folder::prepare(folder)?;
        let (locks, bell) = (folder.join("locks"), folder.join("bell"));
        let wishes = folder.join("wishes");
        let database = scratch.join("programmator.db");
        schema::copy(&folder.join("programmator.db"), &database)?;
        let db = schema::open(&database)?;
        let reader = Mutex::new(schema::open_reader(&database)?);
        let ledger = Mutex::new(limits::connect(&database)?);
        let opened = folder::Database::at(database.clone())?;
        let owed = Owed::default();
        let writer = writer::Writer::start(db, opened.clone(), bell::Notifier::none(), owed.clone())?;
        let inner = Inner { folder, database, opened, bell, wishes, locks, reader, ledger, writer, owed };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The state folder, its real path.
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// Stores records and the run's summary: all of it durably, or nothing and an error. Returns the
    /// records with their numbers, which go up by one within a run. A call that is counted
    /// ([`CallCounted`](crate::domain::record::Record::CallCounted)) enters the rate ledger in the same
    /// transaction. A future that is dropped after its first poll may have stored them.
    pub async fn append(&self, append: Append) -> Result<Vec<Arc<Stored>>, StoreError> {
        self.inner.writer.append(append).await
    }

    /// The same for who waits for [`synced`](Self::synced) before anything that cannot be repeated is done because of it.
    pub async fn append_early(&self, append: Append) -> Result<Vec<Arc<Stored>>, StoreError> {
        self.inner.writer.append_early(append).await
    }

    /// All that was answered before this call is on the disk when it ends, and what is [owed](Self::owe) too. The wait
    /// begins with the call.
    pub fn synced(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let (owed, log) = (self.inner.owed.clone(), beside_database(&self.inner.database, "-wal"));
        let synced = tokio::task::spawn_blocking(move || {
            owed.wait();
            // Commits that are not there any more have been moved on, behind a sync.
            match File::open(&log) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                opened => opened.and_then(|log| log.sync_data()).map_err(StoreError::file("sync", &log)),
            }
        });
        async { synced.await.unwrap_or(Err(StoreError::Closed)) }
    }

    /// A sync of something that records tell of is under way, and ends with the sender: none of these records comes to the
    /// disk before it.
    pub fn owe(&self, sync: Receiver<()>) {
        self.inner.owed.add(sync);
    }

    /// [`append`](Self::append) for threads outside the async runtime.
    pub fn append_blocking(&self, append: Append) -> Result<Vec<Arc<Stored>>, StoreError> {
        self.inner.writer.append_blocking(append)
    }

    /// Writes as much as many records need, beside the database, and takes it away again: quotas and the like are
    /// seen no other way.
    pub fn try_to_write(&self) -> Result<(), StoreError> {
        let path = self.folder().join("a file of this size");
        let write = || -> io::Result<()> {
            let mut file = tempfile::tempfile_in(self.folder())?;
            file.write_all(&vec![0; 256 << 10])?;
            file.sync_all()
        };
        self.inner.opened.is_in_place()?;
        write().map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StoreError::Full { path: self.inner.database.clone() }
            }
            _ => StoreError::file("write", &path)(error),
        })
    }

    /// The run's own folder, for its scrollback and the output of its commands. May not exist yet.
    pub fn run_folder(&self, run: RunId) -> PathBuf {
        self.inner.folder.join("runs").join(run.to_string())
    }

    /// What Claude printed in the run. Reads no file but a list of names. `classify` says what a line shows,
    /// for lines whose index is lost.
    pub fn scrollback(&self, run: RunId, classify: Classify) -> Result<RunScrollback, StoreError> {
        RunScrollback::open(self.run_folder(run), classify)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.inner.folder).finish()
    }
}
