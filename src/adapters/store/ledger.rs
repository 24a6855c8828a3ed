//! What an append tells the ledger: calls, what they spent, what the provider refused.

use crate::domain::limits::admission::Purpose;
use crate::domain::limits::provider::{Hit, Reset};
use crate::domain::record::Record;
use crate::domain::turn::Usage;
use rusqlite::{Connection, OptionalExtension, params};

/// The run's iteration is over, or does not begin: what it did not spend is free, and who likes may be the probe.
pub(super) fn released(db: &Connection, run: &str) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE calls SET usd = 0, tokens = 0, until = NULL WHERE run = ?1 AND until IS NOT NULL")?
        .execute([run])?;
    db.prepare_cached("UPDATE holds SET probe = NULL, probe_until = NULL WHERE probe = ?1")?.execute([run])?;
    Ok(())
}

/// `SQLite`'s integers are signed; sums of these must fit too.
pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX).min(i64::MAX / 1_000_000)
}

/// Counts a call, unless it was counted when it was admitted.
pub(super) fn count(db: &Connection, run: &str, n: u32, purpose: Purpose, time: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO calls (run, n, time, purpose) SELECT ?1, ?2, ?3, ?4
         WHERE NOT EXISTS (SELECT 1 FROM calls WHERE run = ?1 AND n = ?2 AND purpose = ?4)",
    )?
    .execute(params![run, n, time, purpose.word()])?;
    Ok(())
}

/// Cost of the run as it was stored last, in USD.
pub(super) fn cost(db: &Connection, run: &str) -> rusqlite::Result<f64> {
    let cost = db.prepare_cached("SELECT cost_usd FROM runs WHERE run = ?1")?.query_row([run], |row| row.get(0));
    Ok(cost.optional()?.unwrap_or(0.0))
}

pub(super) fn spent(db: &Connection, run: &str, time: i64, usd: f64, usage: &Usage) -> rusqlite::Result<()> {
    if usd > 0.0 || usage.total() > 0 {
        db.prepare_cached("INSERT INTO spends (run, time, usd, tokens, counted) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![run, time, usd, stored(usage.total()), stored(usage.counted())])?;
        // It was reserved.
        db.prepare_cached(
            "UPDATE calls SET usd = max(usd - ?2, 0), tokens = max(tokens - ?3, 0)
             WHERE run = ?1 AND until IS NOT NULL",
        )?
        .execute(params![run, usd, stored(usage.total())])?;
    }
    Ok(())
}

/// Notes what the provider tells of its windows, and what it refused.
pub(super) fn refused(db: &Connection, record: &Record, time: i64) -> rusqlite::Result<()> {
    match record {
        Record::LimitSeen(window) => {
            let Ok(json) = serde_json::to_string(window) else { return Ok(()) };
            db.prepare_cached("INSERT OR REPLACE INTO provider_windows VALUES (?1, ?2, ?3)")?
                .execute(params![window.kind, time, json])?;
        }
        Record::LimitHit(hit) => hold(db, hit, time)?,
        _ => {}
    }
    Ok(())
}

/// A reset that was told replaces what was known. Without one, of two tickets that were refused at the same time the
/// longer wait counts for both, and a told reset that lies ahead stays.
fn hold(db: &Connection, hit: &Hit, time: i64) -> rusqlite::Result<()> {
    let reset = if hit.reset == Reset::Known { "known" } else { "unknown" };
    db.prepare_cached(
        "INSERT INTO holds (scope, about, until, reset, tries, seen) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (scope) DO UPDATE SET about = ?2, until = iif(?4 = 'known', ?3, max(until, ?3)), reset = ?4, tries = max(tries, ?5),
             seen = ?6, noticed = NULL, probe = NULL, probe_until = NULL
         WHERE ?4 = 'known' OR reset <> 'known' OR until <= ?6",
    )?
    .execute(params![hit.scope, hit.about(), hit.until.millis(), reset, hit.tries, time])?;
    Ok(())
}

/// The provider has answered the run: what it was the probe for is over.
pub(super) fn answered(db: &Connection, run: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM holds WHERE probe = ?1")?.execute([run])?;
    Ok(())
}
