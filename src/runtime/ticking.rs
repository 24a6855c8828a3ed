//! A person's tick of a phase, and its taking back, from outside the run: obeyed at once, whoever works on the ticket.
//!
//! While a program does, its run is left a wish in the store, which it notes and obeys itself; one that it does not note
//! soon is taken back, so that nothing happens later that the person was told did not. While none does, the record goes
//! behind the journal of the latest run, and the box is written here.

use crate::adapters::store::{Store, Wish};
use crate::adapters::tickets;
use crate::base::time::Clock;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::phase::PhaseId;
use crate::domain::record::{PhaseByPerson, Record, Stored, WishTaken, WriteOutcome};
use crate::orchestrator::state::{Mark, PhaseState, State};
use crate::runtime::offline::{self, state_of};
use crate::runtime::supervisor::OpenError;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a run is waited for that was left a wish, and how often is looked.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// How long the box of a phase may differ from what the run knows: it is written after the record.
const SETTLES: Duration = Duration::from_secs(1);

/// A phase's box, as the person means it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxOf {
    pub text: String,
    /// Of several phases with this text, which, from 0.
    pub nth: usize,
    /// It is to be ticked; else its tick is taken back.
    pub done: bool,
}

/// What became of it.
#[derive(Debug)]
pub enum Outcome {
    /// It is so now; the records that say it.
    Done(Vec<Arc<Stored>>),
    Already,
    /// A program works on the ticket, and has noted it.
    Handed {
        holder: String,
    },
    /// A program works on the ticket, and has not noted it in time: nothing is changed.
    NotTaken {
        holder: String,
    },
    /// A program works on the ticket, and its run does not know the phase.
    Unknown {
        holder: String,
    },
    /// The file could not be written, for this reason.
    NotWritten(String),
}

/// Ticks the box of a phase of the ticket in the file `path` (its real path), or takes its tick back.
pub async fn write(
    store: &Store,
    clock: &dyn Clock,
    path: &Path,
    wanted: &BoxOf,
    by: Answerer,
) -> Result<Outcome, OpenError> {
    let records = |state: &State| records(state, wanted, &by);
    let stored = match offline::append(store, clock, path, records).await {
        Ok(stored) => stored,
        Err(OpenError::Held { holder, .. }) => return hand_over(store, clock, path, wanted, by, holder).await,
        Err(error) => return Err(error),
    };
    let (file, BoxOf { text, nth, done }, locks) = (path.to_owned(), wanted.clone(), store.folder().join("locks"));
    let change = if done { tickets::tick } else { tickets::reopen };
    let written = tokio::task::spawn_blocking(move || change(&file, &text, nth, &locks)).await;
    Ok(match written.unwrap_or_else(|error| WriteOutcome::Failed(error.to_string())) {
        WriteOutcome::AlreadySo if stored.is_empty() => Outcome::Already,
        written => written.box_trouble().map_or(Outcome::Done(stored), Outcome::NotWritten),
    })
}

/// Ticks the phase that the latest run of the ticket knows by this number.
pub async fn tick(
    store: &Store,
    clock: &dyn Clock,
    path: &Path,
    id: PhaseId,
    by: Answerer,
) -> Result<Outcome, OpenError> {
    let Some(latest) = store.latest_for(&path.display().to_string())? else { return Ok(Outcome::Already) };
    let state = state_of(store, latest.run)?;
    let Some((text, nth)) = state.place(id) else { return Ok(Outcome::Already) };
    write(store, clock, path, &BoxOf { text: text.to_owned(), nth, done: true }, by).await
}

fn records(state: &State, wanted: &BoxOf, by: &Answerer) -> Vec<Record> {
    let Some(phase) = phase(state, wanted) else { return Vec::new() };
    let said = PhaseByPerson { of: phase.named(), by: by.clone() };
    match (wanted.done, phase.mark) {
        (true, Mark::Done(_)) => Vec::new(),
        (true, _) => vec![Record::PhaseTicked(said)],
        (false, Mark::Done(_)) => vec![Record::PhaseReopened(said)],
        (false, _) => Vec::new(),
    }
}

fn phase<'a>(state: &'a State, wanted: &BoxOf) -> Option<&'a PhaseState> {
    state.phases.iter().filter(|phase| phase.text == wanted.text).nth(wanted.nth)
}

/// Asks the run that works on the ticket, and waits a moment until it has noted that.
async fn hand_over(
    store: &Store,
    clock: &dyn Clock,
    path: &Path,
    wanted: &BoxOf,
    by: Answerer,
    holder: String,
) -> Result<Outcome, OpenError> {
    let Some(latest) = store.latest_for(&path.display().to_string())? else {
        return Ok(Outcome::Unknown { holder });
    };
    let begun = Instant::now();
    let id = loop {
        let state = state_of(store, latest.run)?;
        let known = phase(&state, wanted).filter(|_| state.ended.is_none());
        let Some(PhaseState { id, mark, ticked, .. }) = known else {
            return Ok(Outcome::Unknown { holder });
        };
        let is_done = matches!(mark, Mark::Done(_));
        match (is_done == wanted.done, *ticked == wanted.done) {
            (true, true) => return Ok(Outcome::Already),
            // Somebody has just asked for the same.
            (true, false) if begun.elapsed() < SETTLES => tokio::time::sleep(LOOK).await,
            _ => break *id,
        }
    };
    let wish = store.wish(latest.run, clock.now(), &Wish { by, command: command(id, wanted.done) })?;
    let begun = Instant::now();
    while store.still_waits(wish)? {
        if begun.elapsed() > PATIENCE {
            store.withdraw(wish)?;
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    // The run's own word counts: another process may have taken the wish back when it took the run over.
    let is_it =
        |stored: &Arc<Stored>| matches!(stored.record, Record::WishTaken(WishTaken { wish: noted }) if noted == wish);
    let taken = store.load(latest.run)?.records.iter().any(is_it);
    Ok(if taken { Outcome::Handed { holder } } else { Outcome::NotTaken { holder } })
}

fn command(phase: PhaseId, done: bool) -> UserCommand {
    if done { UserCommand::TickPhase { phase } } else { UserCommand::RetryPhase { phase } }
}
