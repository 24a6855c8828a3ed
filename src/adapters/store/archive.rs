//! Which tickets the person has archived: they are left out of the table, and their files stay as they are.

use super::error::StoreError;
use super::handle::Store;
use std::collections::BTreeSet;
use std::sync::PoisonError;

impl Store {
    /// Archives these files, or takes them back.
    pub fn archive(&self, files: &[String], archived: bool) -> Result<(), StoreError> {
        let sql = if archived {
            "INSERT OR IGNORE INTO archived VALUES (?1)"
        } else {
            "DELETE FROM archived WHERE ticket_path = ?1"
        };
        let db = self.inner.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let write = || -> rusqlite::Result<()> {
            let mut statement = db.prepare_cached(sql)?;
            files.iter().try_for_each(|file| statement.execute([file]).map(drop))
        };
        write().map_err(StoreError::sql(&self.inner.database))
    }

    pub fn archived(&self) -> Result<BTreeSet<String>, StoreError> {
        let db = self.reader();
        let read = || -> rusqlite::Result<BTreeSet<String>> {
            db.prepare_cached("SELECT ticket_path FROM archived")?.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(StoreError::sql(&self.inner.database))
    }
}
