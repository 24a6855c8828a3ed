//! A person's tick of a phase, and its taking back, from outside the run: obeyed at once, whoever works on the ticket.
//!
//! While a program does, its run is left a wish in the store, which it notes and obeys itself; one that it does not note
//! soon is taken back, so that nothing happens later that the person was told did not. While none does, the record goes
//! behind the journal of the latest run, and the box is written here.

use crate::adapters::store::Wish;
use crate::adapters::tickets;
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{BoxSettled, PhaseByPerson, Record, Stored, WishTaken, WriteOutcome};
use crate::domain::request::{BoxOf, BoxOutcome};
use crate::orchestrator::state::{PhaseState, State};
use crate::runtime::offline::{Offline, state_of};
use crate::runtime::supervisor::OpenError;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{block_in_place, spawn_blocking};

/// How long a run is waited for that was left a wish, and how often is looked.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
pub(super) const LOOK: Duration = Duration::from_millis(20);
/// How long the box of a phase may differ from what the run knows: it is written after the record.
const SETTLES: Duration = Duration::from_secs(1);

impl Offline {
    /// Ticks the box of a phase of the ticket in this file, or takes its tick back.
    pub async fn set_box(&self, path: &Path, wanted: &BoxOf, by: Answerer) -> Result<BoxOutcome, OpenError> {
        self.set_box_because(path, wanted, by, None).await
    }

    pub(super) async fn set_box_because(
        &self,
        path: &Path,
        wanted: &BoxOf,
        by: Answerer,
        why: Option<&str>,
    ) -> Result<BoxOutcome, OpenError> {
        let stored = match self.append(path, |state| records(state, wanted, &by, why)).await {
            Ok(stored) => stored,
            Err(OpenError::Held { holder, .. }) => return self.hand_over(path, wanted, by, holder).await,
            Err(error) => return Err(error),
        };
        let (file, BoxOf { text, nth, done }) = (path.to_owned(), wanted.clone());
        let (change, locks) = (if done { tickets::tick } else { tickets::reopen }, self.store.folder().join("locks"));
        let written = spawn_blocking(move || change(&file, &text, nth, &locks)).await;
        let outcome = written.unwrap_or_else(|error| WriteOutcome::Failed(error.to_string()));
        let trouble = outcome.clone().box_trouble();
        if trouble.is_none()
            && let Err(error) = self.append(path, |state| settled(state, wanted, &outcome)).await
        {
            // Whoever works on the ticket now reads the file.
            tracing::warn!(%error, "the journal does not say that the box was written");
        }
        Ok(match outcome {
            WriteOutcome::AlreadySo if !stored => BoxOutcome::Already,
            _ => trouble.map_or(BoxOutcome::Done, BoxOutcome::NotWritten),
        })
    }

    /// Takes back every tick of the ticket in this file. Why not, in words, where one cannot be.
    pub async fn reopen(&self, path: &Path, by: &Answerer) -> Result<Option<String>, OpenError> {
        let ticket = match tickets::load(path) {
            Ok(ticket) => ticket,
            Err(error) => return Ok(Some(error.to_string())),
        };
        // Where another program works on it, none is taken back: its run would obey.
        self.append(path, |_| Vec::new()).await?;
        for (at, phase) in ticket.phases.iter().enumerate().filter(|(_, phase)| phase.done) {
            let nth = ticket.phases[..at].iter().filter(|before| before.text == phase.text).count();
            let wanted = BoxOf { text: phase.text.clone(), nth, done: false };
            match self.set_box(path, &wanted, by.clone()).await? {
                BoxOutcome::NotWritten(why) => return Ok(Some(why)),
                BoxOutcome::Handed { holder }
                | BoxOutcome::Noted { holder }
                | BoxOutcome::NotTaken { holder }
                | BoxOutcome::Unknown { holder } => {
                    return Ok(Some(format!("{holder} is running it")));
                }
                BoxOutcome::Done | BoxOutcome::Already => {}
            }
        }
        Ok(None)
    }

    /// Ticks the phase that this run of the ticket knows by this number.
    pub async fn tick(&self, path: &Path, run: RunId, id: PhaseId, by: Answerer) -> Result<BoxOutcome, OpenError> {
        let state = block_in_place(|| state_of(&self.store, run))?;
        let Some((text, nth)) = state.place(id) else { return Ok(BoxOutcome::Already) };
        self.set_box(path, &BoxOf { text: text.to_owned(), nth, done: true }, by).await
    }

    /// Asks the run that works on the ticket, and waits a moment until it has noted that.
    async fn hand_over(
        &self,
        path: &Path,
        wanted: &BoxOf,
        by: Answerer,
        holder: String,
    ) -> Result<BoxOutcome, OpenError> {
        let store = &self.store;
        let Some(latest) = store.latest_for(&path.display().to_string())? else {
            return Ok(BoxOutcome::Unknown { holder });
        };
        let begun = Instant::now();
        let id = loop {
            let state = block_in_place(|| state_of(store, latest.run))?;
            let known = phase(&state, &wanted.text, wanted.nth).filter(|_| state.ended.is_none());
            let Some(PhaseState { id, mark, ticked, .. }) = known else { return Ok(BoxOutcome::Unknown { holder }) };
            let is_done = matches!(mark, Mark::Done(_));
            let stands = is_done == wanted.done && (wanted.done || *mark != Mark::Skipped);
            match (stands, *ticked == wanted.done) {
                (true, true) => return Ok(BoxOutcome::Already),
                // Somebody has just asked for the same.
                (true, false) if begun.elapsed() < SETTLES => tokio::time::sleep(LOOK).await,
                _ => break *id,
            }
        };
        let taken = self.wish(latest.run, &Wish { by, command: command(id, wanted.done) }).await?;
        Ok(if taken { BoxOutcome::Handed { holder } } else { BoxOutcome::NotTaken { holder } })
    }

    /// Leaves a wish for the run that a program works on, and waits a moment until it has noted that. Whether it has.
    pub(super) async fn wish(&self, run: RunId, wish: &Wish) -> Result<bool, OpenError> {
        let store = &self.store;
        let wish = store.wish(run, self.clock.now(), wish)?;
        let begun = Instant::now();
        while store.still_waits(wish)? {
            if begun.elapsed() > PATIENCE {
                store.withdraw(wish)?;
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        // The run's own word counts: another process may have taken the wish back when it took the run over.
        let is_it = |stored: &Arc<Stored>| matches!(stored.record, Record::WishTaken(WishTaken { wish: noted }) if noted == wish);
        Ok(store.load(run)?.records.iter().any(is_it))
    }
}

fn records(state: &State, wanted: &BoxOf, by: &Answerer, why: Option<&str>) -> Vec<Record> {
    let Some(phase) = phase(state, &wanted.text, wanted.nth) else { return Vec::new() };
    let said = PhaseByPerson { of: phase.named(), by: by.clone(), why: why.map(str::to_owned) };
    match (wanted.done, phase.stands()) {
        (true, Mark::Done(_)) => Vec::new(),
        (true, _) => vec![Record::PhaseTicked(said)],
        (false, Mark::Done(_) | Mark::Skipped) => vec![Record::PhaseReopened(said)],
        (false, _) => Vec::new(),
    }
}

/// The box is as wanted, where the run does not know that.
fn settled(state: &State, wanted: &BoxOf, outcome: &WriteOutcome) -> Vec<Record> {
    let Some(phase) = phase(state, &wanted.text, wanted.nth).filter(|phase| phase.ticked != wanted.done) else {
        return Vec::new();
    };
    let settled = BoxSettled { phase: phase.named(), outcome: outcome.clone(), reading: None };
    vec![if wanted.done { Record::TickSettled(settled) } else { Record::UntickSettled(settled) }]
}

pub(super) fn phase<'a>(state: &'a State, text: &str, nth: usize) -> Option<&'a PhaseState> {
    state.phases.iter().filter(|phase| phase.text == text).nth(nth)
}

fn command(phase: PhaseId, done: bool) -> UserCommand {
    if done { UserCommand::TickPhase { phase } } else { UserCommand::RetryPhase { phase } }
}
