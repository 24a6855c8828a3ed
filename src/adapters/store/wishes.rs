//! What the person asks of a run from another process: a row for each wish, until a record of the run notes it
//! (`tables` removes it in the same transaction), or whoever asked takes it back. Whichever comes first holds: a record
//! of a wish that was taken back is refused. Who works on the run is woken by a bell of its own.

use super::Store;
use super::bell::{Notifier, hear};
use super::error::StoreError;
use crate::adapters::system_watch::SystemWatch;
use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use std::sync::PoisonError;
use tokio::sync::mpsc;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    #[serde(default)]
    pub by: Answerer,
    #[serde(flatten)]
    pub command: UserCommand,
}

impl Store {
    /// Leaves a wish for the run, and wakes who works on it. Gives its number.
    pub fn wish(&self, run: RunId, time: Timestamp, wish: &Wish) -> Result<i64, StoreError> {
        let json = serde_json::to_string(wish)
            .map_err(|error| StoreError::file("write to", &self.inner.database)(std::io::Error::other(error)))?;
        let db = self.inner.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        db.execute(
            "INSERT INTO wishes (run, time, command) VALUES (?1, ?2, ?3)",
            params![run.to_string(), time.millis(), json],
        )
        .map_err(StoreError::sql(&self.inner.database))?;
        let wish = db.last_insert_rowid();
        drop(db);
        Notifier::open(&self.inner.wishes)?.notify();
        Ok(wish)
    }

    /// Whether the wish still waits for its run.
    pub fn still_waits(&self, wish: i64) -> Result<bool, StoreError> {
        let left = self.reader().query_row("SELECT 1 FROM wishes WHERE id = ?1", [wish], |_| Ok(())).optional();
        Ok(left.map_err(StoreError::sql(&self.inner.database))?.is_some())
    }

    /// Takes a wish back that its run has not noted.
    pub fn withdraw(&self, wish: i64) -> Result<(), StoreError> {
        self.delete("DELETE FROM wishes WHERE id = ?1", params![wish]).map(drop)
    }

    /// Takes back what was asked of the run and never noted: by a process that ended before it could take it back. How
    /// much that was.
    pub fn forget_wishes(&self, run: RunId) -> Result<usize, StoreError> {
        self.delete("DELETE FROM wishes WHERE run = ?1", params![run.to_string()])
    }

    fn delete(&self, sql: &str, which: &[&dyn rusqlite::ToSql]) -> Result<usize, StoreError> {
        let db = self.inner.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        db.execute(sql, which).map_err(StoreError::sql(&self.inner.database))
    }

    /// Follows the wishes for a run: those that are there, then those that come.
    pub fn wishes(&self, run: RunId) -> Result<Wishes, StoreError> {
        drop(Notifier::open(&self.inner.wishes)?);
        let (watch, rung) = hear(&self.inner.wishes)?;
        Ok(Wishes { store: self.clone(), run, after: 0, rung, _watch: watch })
    }

    fn wish_after(&self, run: RunId, after: i64) -> Result<Option<(i64, String)>, StoreError> {
        let db = self.reader();
        let mut query = db
            .prepare_cached("SELECT id, command FROM wishes WHERE run = ?1 AND id > ?2 ORDER BY id LIMIT 1")
            .map_err(StoreError::sql(&self.inner.database))?;
        let row = query.query_row(params![run.to_string(), after], |row| Ok((row.get(0)?, row.get(1)?))).optional();
        row.map_err(StoreError::sql(&self.inner.database))
    }
}

/// A reader of one run's wishes as they come. Dropping it ends the watch.
#[derive(Debug)]
pub struct Wishes {
    store: Store,
    run: RunId,
    after: i64,
    rung: mpsc::Receiver<()>,
    _watch: SystemWatch,
}

impl Wishes {
    /// The next wish, with its number, each once. One of a newer program's making is left alone. Cancel-safe.
    pub async fn next(&mut self) -> Result<(i64, Wish), StoreError> {
        loop {
            while let Some((wish, json)) = self.store.wish_after(self.run, self.after)? {
                self.after = wish;
                match serde_json::from_str(&json) {
                    Ok(read) => return Ok((wish, read)),
                    Err(error) => tracing::warn!(wish, %error, "a wish of the person's cannot be read"),
                }
            }
            self.rung.recv().await.ok_or(StoreError::Closed)?;
        }
    }
}
