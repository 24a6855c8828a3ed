//! The ledger: calls, tokens and money of all programs of the person, and what the provider refuses.
//!
//! A call is asked for and counted in one transaction ([`Store::admit`]); everything else is summed up from records in
//! the transaction of their append. Who may call is decided in `domain::limits::admission`.

use super::error::StoreError;
use super::handle::Store;
use super::ledger::{count, stored};
use super::schema;
use crate::adapters::clock::zone;
use crate::base::id::RunId;
use crate::base::time::{Moment, Timestamp};
use crate::domain::limits::admission::{Admission, Ask, Facts, Hold, Purpose, Reserved, Verdict, admit};
use crate::domain::limits::provider::{Reset, Window};
use crate::domain::limits::{Limits, Spent, hour};
use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

/// How far ahead of now anything may lie: more means that the clock was set back.
const AHEAD: i64 = 3_600_000;
/// A clock that differs by less was not set, but corrected.
const STEP: i64 = 30_000;
/// What is older counts for no limit.
const DAYS: i64 = 2 * 86_400_000;
/// No iteration lasts longer.
const LONGEST: Duration = Duration::from_secs(48 * 3_600);

/// A connection for the ledger. It never waits for the disk: what is granted is spent only behind a record that does,
/// which takes it along.
pub(super) fn connect(database: &Path) -> Result<Connection, StoreError> {
    let db = schema::connect(database)?;
    db.pragma_update(None, "synchronous", "normal").map_err(StoreError::sql(database))?;
    Ok(db)
}

impl Store {
    /// Asks for a call of `run` at `now`. It is counted when it may be made, in the same transaction; the same call
    /// (run, iteration, purpose) is counted once, however often it is asked for. Blocks for milliseconds, or as long
    /// as another program writes.
    pub fn admit(&self, run: RunId, ask: &Ask, now: impl Into<Moment>) -> Result<Admission, StoreError> {
        let moment = now.into();
        let sql = StoreError::sql(&self.inner.database);
        self.inner.opened.is_in_place()?;
        let mut db = self.inner.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&sql)?;
        follow_clock(&tx, &moment).map_err(&sql)?;
        let admission = decide(&tx, run, ask, moment.now).map_err(&sql)?;
        tx.commit().map_err(&sql)?;
        Ok(admission)
    }

    /// What is known about limits at `now`, as a run with these limits would be judged by. Changes nothing.
    pub fn limit_facts(&self, run: RunId, limits: &Limits, now: Timestamp) -> Result<Facts, StoreError> {
        facts(&self.reader(), &run.to_string(), limits, now, &zone()).map_err(StoreError::sql(&self.inner.database))
    }
}

fn decide(db: &Connection, run: RunId, ask: &Ask, now: Timestamp) -> rusqlite::Result<Admission> {
    let (id, zone) = (run.to_string(), zone());
    notice_clock(db, now)?;
    // Asked for before, and perhaps never made: it gives its place back, and takes it again.
    // One that was made stays: a person and the timer may have asked at once.
    db.prepare_cached(
        "DELETE FROM calls WHERE run = ?1 AND n = ?2 AND purpose = ?3
         AND NOT EXISTS (SELECT 1 FROM iterations WHERE run = ?1 AND n = ?2 AND ?3 = 'iteration')",
    )?
    .execute(params![id, ask.n, ask.purpose.word()])?;
    let facts = facts(db, &id, &ask.limits, now, &zone)?;
    let admission = admit(&facts, ask, run, now, &zone);
    if let Verdict::Go { probes } = &admission.verdict {
        count(db, &id, ask.n, ask.purpose, now.millis())?;
        if has_left_off(db, &id)? {
            return Ok(admission);
        }
        if ask.purpose == Purpose::Iteration {
            reserve(db, &id, ask, admission.ledger.granted_usd, now)?;
        }
        for scope in probes {
            db.prepare_cached("UPDATE holds SET probe = ?2, probe_until = ?3 WHERE scope = ?1")?.execute(params![
                scope,
                id,
                now.plus(ask.lasts).millis()
            ])?;
        }
    }
    Ok(admission)
}

/// After the clock was set, calls and costs of the last days are dated anew, so that they are as old as they are: set
/// ahead, it would else open every limit at once. Where it cannot be told whether a row was dated before or after, it
/// counts as the younger one.
fn follow_clock(db: &Connection, moment: &Moment) -> rusqlite::Result<()> {
    let (now, Some(uptime)) = (moment.now.millis(), &moment.uptime) else { return Ok(()) };
    let last: Option<(i64, i64)> = db
        .prepare_cached("SELECT wall, up FROM clock WHERE boot = ?1")?
        .query_row([&uptime.boot], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((wall, up)) = last {
        let unset = wall.saturating_add(uptime.millis.saturating_sub(up));
        let set = now.saturating_sub(unset);
        if set.abs() > STEP {
            let (from, to) = if set > 0 { (unset.saturating_sub(DAYS), unset) } else { (now, i64::MAX) };
            for table in ["calls", "spends"] {
                db.prepare_cached(&format!(
                    "UPDATE {table} SET time = time + ?1, noticed = NULL WHERE time > ?2 AND time <= ?3"
                ))?
                .execute([set, from, to])?;
            }
        }
    }
    db.execute("DELETE FROM clock", [])?;
    db.prepare_cached("INSERT INTO clock (boot, wall, up) VALUES (?1, ?2, ?3)")?
        .execute(params![uptime.boot, now, uptime.millis])?;
    Ok(())
}

/// After the clock was set back, what lies more than an hour ahead would keep limits closed for as long as it was
/// wrong. Until the clock has come back it counts as if it lay an hour ahead of the moment at which that was noticed
/// (a hold: as if it began then), so that nothing opens early and nothing waits for ever. When it happened is kept.
fn notice_clock(db: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let ahead = now.millis().saturating_add(AHEAD);
    for (table, time) in [("calls", "time"), ("spends", "time"), ("holds", "seen")] {
        db.prepare_cached(&format!(
            "UPDATE {table} SET noticed = iif({time} > ?2, ?1, NULL)
             WHERE {time} > ?2 AND (noticed IS NULL OR noticed > ?2) OR {time} <= ?2 AND noticed IS NOT NULL"
        ))?
        .execute([now.millis(), ahead])?;
    }
    Ok(())
}

/// When a row counts to have happened; `?1` is now, `?2` the hour ahead of it.
const TIME: &str = "iif(time > ?2, coalesce(noticed, ?1) + ?2 - ?1, time)";

fn facts(db: &Connection, run: &str, limits: &Limits, now: Timestamp, zone: &TimeZone) -> rusqlite::Result<Facts> {
    let hour = hour::start(now, limits.window, zone).millis();
    let day = hour::day_start(now, zone).millis();
    let since = |start: i64| [now.millis(), now.millis().saturating_add(AHEAD), start];
    let rows = |weight: &str, table: &str| -> rusqlite::Result<Vec<(Timestamp, u64)>> {
        let mut query = db.prepare_cached(&format!(
            "SELECT {TIME} AS at, {weight} AS weight FROM {table} WHERE time >= ?3 AND at >= ?3 AND weight > 0 ORDER BY at"
        ))?;
        let rows = query.query_map(since(hour), |row| Ok((Timestamp::from_millis(row.get(0)?), whole(row.get(1)?))))?;
        rows.collect()
    };
    // Parted by tickets, tokens are in `spends` only, money also in the runs of earlier programs.
    let ticket = db
        .prepare_cached(
            "SELECT total(cost_usd), (SELECT coalesce(sum(tokens), 0) FROM spends WHERE run IN
                 (SELECT run FROM runs WHERE ticket_path = mine.ticket_path))
             FROM runs, (SELECT ticket_path FROM runs WHERE run = ?1) AS mine
             WHERE runs.ticket_path = mine.ticket_path",
        )?
        .query_row([run], spent_row)
        .optional()?
        .unwrap_or_default();
    let today = db
        .prepare_cached(&format!(
            "SELECT total(usd), coalesce(sum(tokens), 0) FROM spends WHERE time >= ?3 AND {TIME} >= ?3"
        ))?
        .query_row(since(day), spent_row)?;
    Ok(Facts {
        calls: rows("1", "calls")?,
        tokens: rows("counted", "spends")?,
        ticket,
        day: today,
        reserved: reserved(db, run, now)?,
        holds: holds(db, now)?,
        windows: windows(db)?,
    })
}

/// What other runs have reserved. An iteration that died has it until it cannot run any more.
fn reserved(db: &Connection, run: &str, now: Timestamp) -> rusqlite::Result<Reserved> {
    let mut reserved = Reserved::default();
    let mut query = db.prepare_cached(
        "SELECT runs.ticket_path = (SELECT ticket_path FROM runs WHERE run = ?1), total(usd), sum(tokens), max(until)
         FROM runs LEFT JOIN calls ON calls.run = runs.run AND until > ?2 AND time <= ?3
         WHERE runs.run <> ?1 AND (until IS NOT NULL OR state IN ('running', 'waiting', 'parked') AND updated > ?4)
         GROUP BY runs.run",
    )?;
    let (now, hour) = (now.millis(), hour::HOUR.as_millis() as i64);
    let mut rows = query.query(params![run, now, now.saturating_add(AHEAD), now.saturating_sub(hour)])?;
    while let Some(row) = rows.next()? {
        let mine = row.get::<_, Option<bool>>(0)?.unwrap_or(false);
        let (usd, tokens) = (row.get::<_, f64>(1)?, whole(row.get::<_, Option<i64>>(2)?.unwrap_or(0)));
        let until = row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis);
        let others = u32::from(until.is_none());
        let add = |sum: &mut Spent| (sum.usd, sum.tokens) = (sum.usd + usd, sum.tokens.saturating_add(tokens));
        add(&mut reserved.day);
        reserved.day_others += others;
        if mine {
            add(&mut reserved.ticket);
            reserved.ticket_others += others;
        }
        reserved.until = reserved.until.max(until);
    }
    Ok(reserved)
}

/// Reserves what an iteration may spend: what is handed down to it, else what it is expected to cost.
fn reserve(db: &Connection, run: &str, ask: &Ask, granted: Option<f64>, now: Timestamp) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE calls SET usd = ?3, tokens = ?4, until = ?5 WHERE run = ?1 AND n = ?2 AND purpose = 'iteration'
         AND NOT EXISTS (SELECT 1 FROM iterations WHERE run = ?1 AND n = ?2)",
    )?
    .execute(params![
        run,
        ask.n,
        granted.unwrap_or(ask.forecast.usd),
        stored(ask.forecast.tokens),
        now.plus(ask.lasts).millis()
    ])?;
    Ok(())
}

/// A run that was paused or has ended since it asked makes no call: nobody is to wait for it.
fn has_left_off(db: &Connection, run: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM runs WHERE run = ?1 AND state IN ('paused', 'ended')")?.exists([run])
}

fn spent_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Spent> {
    Ok(Spent { usd: row.get(0)?, tokens: whole(row.get::<_, Option<i64>>(1)?.unwrap_or(0)) })
}

fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn holds(db: &Connection, now: Timestamp) -> rusqlite::Result<Vec<Hold>> {
    let mut query = db.prepare_cached(
        "SELECT scope, about, iif(seen > ?2, coalesce(noticed, ?1) + max(until - seen, 0), until), reset, tries,
             probe, probe_until
         FROM holds",
    )?;
    let rows = query.query_map([now.millis(), now.millis().saturating_add(AHEAD)], |row| {
        let by = row.get::<_, Option<String>>(5)?.and_then(|run| RunId::parse(&run));
        // One that lies further ahead than any was given: the clock was set back, and nobody waits for it.
        let given = row.get::<_, Option<i64>>(6)?.map(Timestamp::from_millis);
        let probe_until = given.filter(|until| until.since(now) <= LONGEST);
        Ok(Hold {
            scope: row.get(0)?,
            about: row.get(1)?,
            until: Timestamp::from_millis(row.get(2)?),
            reset: if row.get::<_, String>(3)? == "known" { Reset::Known } else { Reset::Unknown },
            tries: row.get(4)?,
            probe: by.zip(probe_until),
        })
    })?;
    rows.collect()
}

fn windows(db: &Connection) -> rusqlite::Result<Vec<Window>> {
    let mut query = db.prepare_cached("SELECT json FROM provider_windows ORDER BY kind")?;
    let rows = query.query_map([], |row| row.get::<_, String>(0))?;
    // What a newer program wrote and we cannot read is not known to us.
    rows.filter_map(|json| json.map(|json| serde_json::from_str(&json).ok()).transpose()).collect()
}
