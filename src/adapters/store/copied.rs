//! A run as another machine's program needs it to show it, and the copy that is kept of one there: records and what Claude
//! printed, to the byte. Nothing else of the database follows from the records of a copy: its calls were made, and its limits
//! hit, elsewhere.

use super::error::StoreError;
use super::handle::Store;
use super::{os, tables};
use crate::base::id::RunId;
use crate::domain::summary::RunSummary;
use crate::domain::wire::Copied;
use rusqlite::{TransactionBehavior, params};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::PoisonError;

impl Store {
    /// At most `most` records of the run behind position `seq`, as they are stored, in order.
    pub fn records_to_copy(&self, run: RunId, seq: u64, most: u32) -> Result<Vec<Copied>, StoreError> {
        let db = self.reader();
        let read = || -> rusqlite::Result<Vec<Copied>> {
            let mut query = db.prepare_cached(
                "SELECT seq, time, kind, json FROM records WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            )?;
            let rows = query.query_map(params![run.to_string(), seq.cast_signed(), most], |row| {
                Ok(Copied {
                    seq: row.get::<_, i64>(0)?.cast_unsigned(),
                    time: row.get(1)?,
                    kind: row.get(2)?,
                    json: row.get(3)?,
                    goes_on: false,
                })
            })?;
            rows.collect()
        };
        read().map_err(StoreError::sql(&self.inner.database))
    }

    /// Writes how a run of another machine stands and its next records: all of it, or nothing and an error. A record that is
    /// there already is an error.
    pub fn copy(&self, run: &RunSummary, last_seq: u64, records: &[Copied]) -> Result<(), StoreError> {
        let mut db = self.inner.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let id = run.run.to_string();
        let mut write = || -> Result<(), tables::Fault> {
            let all = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            tables::put_summary(&all, &id, &run.ticket, run, last_seq.cast_signed())?;
            for record in records {
                all.prepare_cached("INSERT INTO records (run, seq, time, kind, json) VALUES (?1, ?2, ?3, ?4, ?5)")?
                    .execute(params![id, record.seq.cast_signed(), record.time, record.kind, record.json])?;
            }
            Ok(all.commit()?)
        };
        write().map_err(|fault| match fault {
            tables::Fault::Sql(error) => StoreError::sql(&self.inner.database)(error),
            tables::Fault::Json(error) => StoreError::file("write to", &self.inner.database)(io::Error::other(error)),
            tables::Fault::Withdrawn => StoreError::Closed,
        })
    }

    /// The bytes that Claude has printed so far in each iteration of the run.
    pub fn printed(&self, run: RunId) -> Result<BTreeMap<u32, u64>, StoreError> {
        let folder = self.run_folder(run);
        let read = || -> io::Result<BTreeMap<u32, u64>> {
            let mut printed = BTreeMap::new();
            for file in fs::read_dir(&folder)? {
                let file = file?;
                let name = file.file_name();
                if let Some(Ok(n)) = name.to_str().and_then(|name| name.strip_suffix(".ndjson")).map(str::parse) {
                    printed.insert(n, file.metadata()?.len());
                }
            }
            Ok(printed)
        };
        match read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            read => read.map_err(StoreError::file("read", &folder)),
        }
    }

    /// At most `most` bytes of what Claude printed in an iteration, from `at` on.
    pub fn printed_from(&self, run: RunId, iteration: u32, at: u64, most: usize) -> Result<Vec<u8>, StoreError> {
        let path = self.printed_file(run, iteration);
        let mut bytes = vec![0; most];
        let read = File::open(&path).and_then(|file| os::read_at(&file, &mut bytes, at));
        bytes.truncate(read.map_err(StoreError::file("read", &path))?);
        Ok(bytes)
    }

    /// Has the copy of what Claude printed in an iteration go on with these bytes from `at` on; what stood behind is gone.
    pub fn copy_printed(&self, run: RunId, iteration: u32, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let (folder, path) = (self.run_folder(run), self.printed_file(run, iteration));
        let write = || -> io::Result<()> {
            os::create_folder(&folder)?;
            let mut file = os::private_file().append(true).create(true).open(&path)?;
            if file.metadata()?.len() != at {
                file.set_len(at)?;
            }
            file.write_all(bytes)
        };
        write().map_err(StoreError::file("write", &path))
    }

    fn printed_file(&self, run: RunId, iteration: u32) -> PathBuf {
        self.run_folder(run).join(format!("{iteration}.ndjson"))
    }
}
