//! The handle on the store, and what its clones share.

use super::{folder, writer};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A handle on the person's store. Clones share one writer thread, which ends with the last of them.
#[derive(Clone)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) folder: PathBuf,
    pub(super) database: PathBuf,
    pub(super) opened: folder::Database,
    pub(super) bell: PathBuf,
    pub(super) wishes: PathBuf,
    pub(super) locks: PathBuf,
    pub(super) reader: Mutex<Connection>,
    /// Counts calls: a transaction that reads before it writes cannot wait in the writer's queue.
    pub(super) ledger: Mutex<Connection>,
    pub(super) writer: writer::Writer,
    /// Syncs that records wait for.
    pub(super) owed: writer::Owed,
}
