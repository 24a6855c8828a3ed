//! What a record means for the tables: the journal row, and what the others sum up from it, all in the
//! transaction of the append.

use super::ledger;
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::chat;
use crate::domain::record::{AgentReady, FORMAT, Record, SessionLost, Stored, TurnEnded, WishTaken};
use crate::domain::session::SessionEnded;
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::turn::Usage;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The columns that make a [`RunSummary`], in the order that [`summary`] reads.
pub(super) const SUMMARY: &str = "run, ticket, ticket_path, folder, state, phase, phases_done, phases, \
     iterations, cost_usd, reason, started, updated, \
     (SELECT json ->> '$.title' FROM records WHERE records.run = runs.run AND seq = 1), \
     marks, unverified, needs, parked_until, worked_ms, commit_id, committing, added, removed, worktree, aside, \
     CASE WHEN ticket LIKE 'chat-%' THEN (SELECT json ->> '$.text' FROM records
         WHERE records.run = runs.run AND kind = 'note_given' ORDER BY seq LIMIT 1) END, merged, taken_back, \
         carried_usd";

/// Why one append cannot be written.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Json(serde_json::Error),
    /// It notes a wish that was taken back.
    Withdrawn,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// Writes the records of one append and the run's summary; gives the records their numbers.
pub(super) fn append(
    db: &Connection,
    run: RunId,
    ticket: &TicketId,
    time: Timestamp,
    records: &[Record],
    summary: &RunSummary,
) -> Result<Vec<Arc<Stored>>, Fault> {
    let id = run.to_string();
    // SQLite's integers are signed; a run's numbers stay far below.
    let last: i64 = db
        .prepare_cached("SELECT last_seq FROM runs WHERE run = ?1")?
        .query_row([&id], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    let cost = ledger::cost(db, &id)?;
    put_summary(db, &id, ticket, summary, last + records.len() as i64)?;
    if summary.cost_usd > cost {
        ledger::spent(db, &id, time.millis(), summary.cost_usd - cost, &Usage::default())?;
    }

    let mut stored = Vec::with_capacity(records.len());
    for (seq, record) in (last + 1..).zip(records) {
        let json = serde_json::to_string(record)?;
        db.prepare_cached("INSERT INTO records (run, seq, time, kind, json) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![id, seq, time.millis(), kind_of(&json), json])?;
        sum_up(db, &id, ticket, time, record)?;
        stored.push(Arc::new(Stored {
            v: FORMAT,
            seq: seq.cast_unsigned(),
            time,
            run,
            ticket: ticket.clone(),
            record: record.clone(),
        }));
    }
    Ok(stored)
}

pub(super) fn put_summary(
    db: &Connection,
    id: &str,
    ticket: &TicketId,
    summary: &RunSummary,
    last_seq: i64,
) -> Result<(), Fault> {
    db.prepare_cached(
        "INSERT INTO runs (run, ticket, ticket_path, folder, state, phase, phases_done, phases, iterations, cost_usd,
             reason, started, updated, last_seq, marks, unverified, needs, parked_until, worked_ms, commit_id,
             committing, added, removed, worktree, aside, merged, taken_back, carried_usd)
         VALUES (:run, :ticket, :ticket_path, :folder, :state, :phase, :phases_done, :phases,
             :iterations, :cost_usd, :reason, :started, :updated, :last_seq, :marks, :unverified, :needs, :parked_until,
             :worked_ms, :commit_id, :committing, :added, :removed, :worktree, :aside, :merged,
             :taken_back, :carried_usd)
         ON CONFLICT (run) DO UPDATE SET ticket_path = :ticket_path, folder = :folder, state = :state,
             phase = :phase, phases_done = :phases_done, phases = :phases, iterations = :iterations,
             cost_usd = :cost_usd, reason = :reason, updated = :updated, last_seq = :last_seq,
             marks = :marks, unverified = :unverified, needs = :needs, parked_until = :parked_until,
             worked_ms = :worked_ms, commit_id = :commit_id, committing = :committing, added = :added,
             removed = :removed, worktree = :worktree, aside = :aside, merged = :merged,
             taken_back = :taken_back, carried_usd = :carried_usd",
    )?
    .execute(named_params! {
        ":run": id,
        ":ticket": ticket.as_str(),
        ":ticket_path": summary.ticket_path,
        ":folder": summary.folder,
        ":state": summary.state.word(),
        ":phase": summary.phase,
        ":phases_done": summary.phases_done,
        ":phases": summary.phases,
        ":iterations": summary.iterations,
        ":cost_usd": summary.cost_usd,
        ":reason": summary.reason,
        ":started": summary.started.millis(),
        ":updated": summary.updated.millis(),
        ":last_seq": last_seq,
        ":marks": serde_json::to_string(&summary.marks)?,
        ":unverified": summary.unverified,
        ":needs": summary.needs,
        ":parked_until": summary.until.map(Timestamp::millis),
        ":worked_ms": ledger::stored(summary.worked_ms),
        ":commit_id": summary.commit,
        ":committing": summary.committing,
        ":added": ledger::stored(summary.added),
        ":removed": ledger::stored(summary.removed),
        ":aside": (!summary.aside.is_empty()).then(|| serde_json::to_string(&summary.aside)).transpose()?,
        ":merged": summary.merged,
        ":taken_back": (!summary.taken_back.is_empty()).then(|| serde_json::to_string(&summary.taken_back)).transpose()?,
        ":carried_usd": summary.carried_usd,
        ":worktree": summary.worktree.as_ref().map(serde_json::to_string).transpose()?,
    })?;
    Ok(())
}

/// Reads a row of [`SUMMARY`]. A state of another program's making counts as interrupted.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<Option<RunSummary>> {
    let (run, ticket): (String, String) = (row.get(0)?, row.get(1)?);
    let (Some(run), Ok(ticket)) = (RunId::parse(&run), ticket_id(&ticket)) else { return Ok(None) };
    // A chat is called by its first message.
    let said = row.get::<_, Option<String>>(25)?.filter(|_| chat::is_id(&ticket)).map(|text| chat::topic(&text));
    Ok(Some(RunSummary {
        run,
        ticket,
        title: said.or(row.get(13)?).unwrap_or_default(),
        ticket_path: row.get(2)?,
        folder: row.get(3)?,
        state: RunState::from_word(&row.get::<_, String>(4)?).unwrap_or(RunState::Interrupted),
        phase: row.get(5)?,
        phases_done: row.get(6)?,
        phases: row.get(7)?,
        iterations: row.get(8)?,
        cost_usd: row.get(9)?,
        reason: row.get(10)?,
        started: Timestamp::from_millis(row.get(11)?),
        updated: Timestamp::from_millis(row.get(12)?),
        // Marks of a newer program are none.
        marks: serde_json::from_str(&row.get::<_, String>(14)?).unwrap_or_default(),
        unverified: row.get(15)?,
        needs: row.get(16)?,
        until: row.get::<_, Option<i64>>(17)?.map(Timestamp::from_millis),
        worked_ms: row.get::<_, i64>(18)?.cast_unsigned(),
        commit: row.get(19)?,
        committing: row.get(20)?,
        added: row.get::<_, i64>(21)?.cast_unsigned(),
        removed: row.get::<_, i64>(22)?.cast_unsigned(),
        worktree: row.get::<_, Option<String>>(23)?.and_then(|text| serde_json::from_str(&text).ok()),
        aside: list(row.get(24)?),
        merged: row.get(26)?,
        taken_back: list(row.get(27)?),
        carried_usd: row.get(28)?,
    }))
}

/// A list as JSON; what cannot be read is none.
fn list<T: DeserializeOwned>(text: Option<String>) -> Vec<T> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// The id as it was stored: it was checked when it was made, and plans may bear names that `parse` refuses.
pub(super) fn ticket_id(text: &str) -> serde_json::Result<TicketId> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
}

/// The tag that serde writes first.
fn kind_of(json: &str) -> &str {
    json.strip_prefix("{\"kind\":\"").and_then(|rest| rest.split('"').next()).unwrap_or("")
}

/// A unit variant's word, as serde writes it.
fn word(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Some(word),
        _ => None,
    }
}

fn sum_up(db: &Connection, run: &str, ticket: &TicketId, time: Timestamp, record: &Record) -> Result<(), Fault> {
    let time = time.millis();
    match record {
        Record::RunStarted { ticket_path, title, .. } => {
            db.prepare_cached(
                "INSERT INTO tickets_seen (path, ticket, title, first, last) VALUES (?1, ?2, ?3, ?4, ?4)
                 ON CONFLICT (path) DO UPDATE SET ticket = ?2, title = ?3, last = ?4",
            )?
            .execute(params![ticket_path, ticket.as_str(), title, time])?;
        }
        Record::IterationStarted { n, phase, .. } => {
            db.prepare_cached("INSERT OR REPLACE INTO iterations (run, n, phase, started) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![run, n, phase, time])?;
        }
        Record::IterationEnded { n, outcome, changed, .. } => {
            db.prepare_cached(
                "UPDATE iterations SET ended = ?3, outcome = ?4, changed = ?5 WHERE run = ?1 AND n = ?2",
            )?
            .execute(params![run, n, time, word(outcome), changed])?;
            ledger::released(db, run)?;
        }
        Record::AgentExited { n, cost_usd, .. } => {
            db.prepare_cached("UPDATE iterations SET cost_usd = coalesce(cost_usd, 0) + ?3 WHERE run = ?1 AND n = ?2")?
                .execute(params![run, n, cost_usd])?;
        }
        // What comes between an admitted call and its iteration.
        Record::RunResumed { .. }
        | Record::RunEnded { .. }
        | Record::Paused
        | Record::TickIntended(_)
        | Record::UntickIntended(_)
        | Record::CommitDue
        | Record::MergeIntended(_)
        | Record::ConflictStaged(_)
        | Record::StatusIntended { .. } => ledger::released(db, run)?,
        Record::CallCounted(counted) => ledger::count(db, run, counted.n, counted.purpose, time)?,
        Record::LimitSeen(_) | Record::LimitHit(_) => ledger::refused(db, record, time)?,
        Record::TurnEnded(TurnEnded { usage, .. }) => ledger::spent(db, run, time, 0.0, usage)?,
        Record::ToolJudged { .. }
        | Record::ClaimMade { .. }
        | Record::CritiqueMade { .. }
        | Record::EvaluationMade { .. }
        | Record::DraftMade { .. }
        | Record::ChatAnswered(_)
        | Record::ClaimMissing { .. } => {
            ledger::answered(db, run)?;
        }
        Record::WishTaken(WishTaken { wish }) => {
            let taken =
                db.prepare_cached("DELETE FROM wishes WHERE id = ?1 AND run = ?2")?.execute(params![wish, run])?;
            if taken == 0 {
                return Err(Fault::Withdrawn);
            }
        }
        Record::AgentReady(AgentReady { n, session, model, version, .. }) => {
            db.prepare_cached(
                "INSERT INTO sessions (session, run, model, version, state) VALUES (?1, ?2, ?3, ?4, 'open')
                 ON CONFLICT (session) DO UPDATE SET model = ?3, version = ?4, state = 'open'",
            )?
            .execute(params![session, run, model, version])?;
            turn_session(db, run, *n, session, time, "open")?;
        }
        Record::SessionLost(SessionLost { n, session }) => {
            db.prepare_cached(
                "INSERT INTO sessions (session, run, state) VALUES (?1, ?2, 'lost')
                 ON CONFLICT (session) DO UPDATE SET state = 'lost'",
            )?
            .execute(params![session, run])?;
            turn_session(db, run, *n, session, time, "lost")?;
        }
        Record::SessionEnded(SessionEnded { n, session, to, .. }) => {
            db.prepare_cached(
                "INSERT INTO sessions (session, run, state) VALUES (?1, ?2, ?3)
                 ON CONFLICT (session) DO UPDATE SET state = ?3",
            )?
            .execute(params![session, run, to.word()])?;
            turn_session(db, run, *n, session, time, to.word())?;
        }
        _ => {}
    }
    Ok(())
}

fn turn_session(db: &Connection, run: &str, n: u32, session: &str, time: i64, state: &str) -> rusqlite::Result<usize> {
    db.prepare_cached("INSERT INTO session_transitions (session, run, n, time, state) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![session, run, n, time, state])
}
