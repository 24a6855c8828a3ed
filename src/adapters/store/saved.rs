//! A whole copy of the database, as it is at one moment, while others write.

use super::error::StoreError;
use super::handle::Store;
use super::{os, schema};
use std::path::Path;

impl Store {
    /// Writes it to a new file that only its owner can read.
    pub fn save_database(&self, to: &Path) -> Result<(), StoreError> {
        let made = os::private_file().write(true).create_new(true).open(to);
        made.map_err(StoreError::file("create", to))?;
        let db = schema::connect(&self.inner.database)?;
        // An empty file may stand there, and keeps its mode.
        let name = to.to_str().ok_or_else(|| std::io::Error::other("its name is no UTF-8"));
        let written = db.execute("VACUUM INTO ?1", [name.map_err(StoreError::file("name", to))?]);
        written.map(drop).map_err(StoreError::sql(to))
    }

    /// An error when a page of the database is damaged.
    pub fn check_database(&self) -> Result<(), StoreError> {
        let path = &self.inner.database;
        let said: String = self
            .reader()
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(StoreError::sql(path))?;
        if said == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: path.clone(), why: said }) }
    }
}
