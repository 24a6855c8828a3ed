//! Reading the database: journals, the list of runs, the rate ledger. Blocking, in milliseconds; a journal of
//! 100,000 records takes longer, so call [`Store::load`] off the async runtime.

use super::error::StoreError;
use super::handle::Store;
use super::tables::{self, SUMMARY};
use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::record::{FORMAT, Record, Stored};
use crate::domain::summary::RunSummary;
use rusqlite::{Connection, OptionalExtension, Params, params, params_from_iter};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, MutexGuard, PoisonError};

/// A journal as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The records, oldest first.
    pub records: Vec<Arc<Stored>>,
    /// What could not be read: kinds of a newer program, mostly.
    pub skipped: Vec<Skipped>,
}

/// A record that is in the store but means nothing to this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub seq: u64,
    pub kind: String,
    pub why: String,
}

impl Store {
    /// The run's whole journal, oldest first; empty for a run that is not known.
    pub fn load(&self, run: RunId) -> Result<Loaded, StoreError> {
        self.load_after(run, 0)
    }

    /// The records behind position `seq`.
    pub fn load_after(&self, run: RunId, seq: u64) -> Result<Loaded, StoreError> {
        let db = self.reader();
        journal(&db, run, seq).map_err(StoreError::sql(&self.inner.database))
    }

    /// The run's records of these kinds that this program knows, oldest first.
    pub fn records_of(&self, run: RunId, kinds: &[&str]) -> Result<Vec<Record>, StoreError> {
        Ok(self.timed_records_of(run, kinds)?.into_iter().map(|(_, record)| record).collect())
    }

    /// The same, each with its time.
    pub fn timed_records_of(&self, run: RunId, kinds: &[&str]) -> Result<Vec<(Timestamp, Record)>, StoreError> {
        let marks = vec!["?"; kinds.len()].join(", ");
        let db = self.reader();
        let read = || -> rusqlite::Result<Vec<(Timestamp, Record)>> {
            let sql = format!("SELECT json, time FROM records WHERE run = ? AND kind IN ({marks}) ORDER BY seq");
            let mut query = db.prepare_cached(&sql)?;
            let id = run.to_string();
            let mut rows = query.query(params_from_iter([id.as_str()].iter().chain(kinds)))?;
            let mut records = Vec::new();
            while let Some(row) = rows.next()? {
                let time = Timestamp::from_millis(row.get(1)?);
                records.extend(serde_json::from_str(row.get_ref(0)?.as_str()?).ok().map(|record| (time, record)));
            }
            Ok(records)
        };
        read().map_err(StoreError::sql(&self.inner.database))
    }

    /// What `pick` makes of the newest of the run's records of these kinds of which it makes something. What is older is not read.
    pub fn newest_of<T>(
        &self,
        run: RunId,
        kinds: &[&str],
        mut pick: impl FnMut(Record) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let marks = vec!["?"; kinds.len()].join(", ");
        let db = self.reader();
        let mut read = || -> rusqlite::Result<Option<T>> {
            let sql = format!("SELECT json FROM records WHERE run = ? AND kind IN ({marks}) ORDER BY seq DESC");
            let mut query = db.prepare_cached(&sql)?;
            let id = run.to_string();
            let mut rows = query.query(params_from_iter([id.as_str()].iter().chain(kinds)))?;
            while let Some(row) = rows.next()? {
                let record = serde_json::from_str(row.get_ref(0)?.as_str()?).ok();
                if let Some(found) = record.and_then(&mut pick) {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        };
        read().map_err(StoreError::sql(&self.inner.database))
    }

    /// How many records of these kinds there are, in all runs.
    pub fn count_records(&self, kinds: &[&str]) -> Result<BTreeMap<String, u64>, StoreError> {
        let marks = vec!["?"; kinds.len()].join(", ");
        let db = self.reader();
        let read = || -> rusqlite::Result<BTreeMap<String, u64>> {
            let sql = format!("SELECT kind, count(*) FROM records WHERE kind IN ({marks}) GROUP BY kind");
            let mut query = db.prepare_cached(&sql)?;
            let rows = query
                .query_map(params_from_iter(kinds), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
            rows.collect()
        };
        read().map_err(StoreError::sql(&self.inner.database))
    }

    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.summaries("", [])
    }

    /// Those of whose work a commit was begun, of which it is not known what came.
    pub fn runs_committing(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.summaries("WHERE committing", [])
    }

    /// The newest run of the ticket file at this absolute path.
    pub fn latest_for(&self, ticket_path: &str) -> Result<Option<RunSummary>, StoreError> {
        Ok(self.summaries("WHERE ticket_path = ?1", [ticket_path])?.into_iter().next())
    }

    /// The newest run of each file whose ticket has this id, newest first.
    pub fn runs_of(&self, ticket: &str) -> Result<Vec<RunSummary>, StoreError> {
        Ok(newest_of_each(self.summaries("WHERE ticket = ?1", [ticket])?))
    }

    /// The runs whose own id begins or ends like this, with or without hyphens, then the newest of each other file
    /// whose ticket's id contains it.
    pub fn runs_like(&self, part: &str) -> Result<Vec<RunSummary>, StoreError> {
        let digits = part.replace('-', "").to_ascii_lowercase();
        let mut found = Vec::new();
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            found = self.summaries(
                "WHERE replace(run, '-', '') LIKE ?1 || '%' OR replace(run, '-', '') LIKE '%' || ?1",
                [digits],
            )?;
        }
        let by_part = newest_of_each(self.summaries("WHERE ?1 <> '' AND instr(ticket, ?1) > 0", [part])?);
        found.extend(
            by_part.into_iter().filter(|run| found.iter().all(|known| known.run != run.run)).collect::<Vec<_>>(),
        );
        Ok(found)
    }

    /// A run and the number of its last record; `None`: there is none.
    pub fn run(&self, run: RunId) -> Result<Option<(RunSummary, u64)>, StoreError> {
        let id = run.to_string();
        let Some(summary) = self.summaries("WHERE run = ?1", [&id])?.pop() else { return Ok(None) };
        let last = self
            .reader()
            .prepare_cached("SELECT last_seq FROM runs WHERE run = ?1")
            .and_then(|mut query| query.query_row([&id], |row| row.get::<_, i64>(0)))
            .map_err(StoreError::sql(&self.inner.database))?;
        Ok(Some((summary, last.cast_unsigned())))
    }

    /// The number of each run's last record.
    pub fn last_seqs(&self) -> Result<HashMap<RunId, u64>, StoreError> {
        let db = self.reader();
        let read = || -> rusqlite::Result<HashMap<RunId, u64>> {
            let mut query = db.prepare_cached("SELECT run, last_seq FROM runs")?;
            let rows = query.query_map([], |row| {
                let (run, last): (String, i64) = (row.get(0)?, row.get(1)?);
                Ok(RunId::parse(&run).map(|run| (run, last.cast_unsigned())))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(StoreError::sql(&self.inner.database))
    }

    /// The runs whose last record is another than `told` has for them, newest first, and those last records.
    pub(super) fn runs_changed(
        &self,
        told: &HashMap<String, i64>,
    ) -> Result<(Vec<RunSummary>, HashMap<String, i64>), StoreError> {
        let changed: HashMap<String, i64> = {
            let db = self.reader();
            let read = || -> rusqlite::Result<_> {
                let mut query = db.prepare_cached("SELECT run, last_seq FROM runs")?;
                let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                rows.filter(|row| row.as_ref().map_or(true, |(run, seq)| told.get(run) != Some(seq))).collect()
            };
            read().map_err(StoreError::sql(&self.inner.database))?
        };
        // One query for many: a list of ids would be one of unbounded length.
        let mut runs = match changed.keys().next() {
            None => Vec::new(),
            Some(run) if changed.len() == 1 => self.summaries("WHERE run = ?1", [run])?,
            Some(_) => self.runs()?,
        };
        runs.retain(|run| changed.contains_key(&run.run.to_string()));
        Ok((runs, changed))
    }

    /// How many calls of Claude all programs of the person have made since `time`, inclusive.
    pub fn calls_since(&self, time: Timestamp) -> Result<u64, StoreError> {
        self.reader()
            .prepare_cached("SELECT count(*) FROM calls WHERE time >= ?1")
            .and_then(|mut query| query.query_row([time.millis()], |row| row.get::<_, i64>(0)))
            .map(i64::cast_unsigned)
            .map_err(StoreError::sql(&self.inner.database))
    }

    /// US dollars that runs have spent since `time`: those of this directory, and all.
    pub fn spent_since(&self, time: Timestamp, folder: &str) -> Result<(f64, f64), StoreError> {
        self.reader()
            .prepare_cached(
                "SELECT total(CASE WHEN runs.folder = ?2 THEN usd END), total(usd)
                 FROM spends JOIN runs ON runs.run = spends.run WHERE time >= ?1",
            )
            .and_then(|mut query| query.query_row(params![time.millis(), folder], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(StoreError::sql(&self.inner.database))
    }

    fn summaries(&self, which: &str, with: impl Params) -> Result<Vec<RunSummary>, StoreError> {
        let db = self.reader();
        let read = || -> rusqlite::Result<Vec<RunSummary>> {
            // Version 7 ids sort by time: they settle equal milliseconds.
            let sql = format!("SELECT {SUMMARY} FROM runs {which} ORDER BY started DESC, run DESC");
            let mut query = db.prepare_cached(&sql)?;
            let rows = query.query_map(with, tables::summary)?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(StoreError::sql(&self.inner.database))
    }

    pub(super) fn reader(&self) -> MutexGuard<'_, Connection> {
        self.inner.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The latest run of each ticket file, of runs that stand newest first.
pub fn newest_of_each(runs: Vec<RunSummary>) -> Vec<RunSummary> {
    let mut seen = BTreeSet::new();
    runs.into_iter().filter(|run| seen.insert(run.ticket_path.clone())).collect()
}

fn journal(db: &Connection, run: RunId, after: u64) -> rusqlite::Result<Loaded> {
    let id = run.to_string();
    let ticket: Option<String> =
        db.prepare_cached("SELECT ticket FROM runs WHERE run = ?1")?.query_row([&id], |row| row.get(0)).optional()?;
    let Some(Ok(ticket)) = ticket.map(|ticket| tables::ticket_id(&ticket)) else { return Ok(Loaded::default()) };
    let mut loaded = Loaded::default();
    let mut query =
        db.prepare_cached("SELECT seq, time, kind, json FROM records WHERE run = ?1 AND seq > ?2 ORDER BY seq")?;
    let mut rows = query.query(params![id, after.cast_signed()])?;
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, i64>(0)?.cast_unsigned();
        match serde_json::from_str::<Record>(row.get_ref(3)?.as_str()?) {
            Ok(record) => loaded.records.push(Arc::new(Stored {
                v: FORMAT,
                seq,
                time: Timestamp::from_millis(row.get(1)?),
                run,
                ticket: ticket.clone(),
                record,
            })),
            Err(error) => loaded.skipped.push(Skipped { seq, kind: row.get(2)?, why: error.to_string() }),
        }
    }
    Ok(loaded)
}
