//! Records behind the journal of a ticket's latest run: what the person decides about a ticket that no program works
//! on. While one does, its run has to be asked.

use crate::adapters::store::{Append, Holder, Loaded, LockError, Store, StoreError};
use crate::base::id::RunId;
use crate::base::time::Clock;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::end_answer::{EndAnswer, EndAnswered};
use crate::domain::record::{ByPerson, Record};
use crate::domain::session::{Session, SessionEnded, SessionEvent};
use crate::domain::step::StepName;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunSummary;
use crate::domain::ticket::TicketKey;
use crate::orchestrator::apply::{after, folded};
use crate::orchestrator::input::Input;
use crate::orchestrator::state::State;
use crate::orchestrator::summary::summary;
use crate::runtime::reporter::Reporter;
use crate::runtime::supervisor::OpenError;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::block_in_place;
use uuid::Uuid;

/// The fold of a run's whole journal.
pub fn state_of(store: &Store, run: RunId) -> Result<State, StoreError> {
    let Loaded { records, skipped } = store.load(run)?;
    let mut state = folded(records);
    // What this program cannot read has its place all the same.
    state.seq = skipped.last().map_or(state.seq, |last| last.seq.max(state.seq));
    Ok(state)
}

/// What the person said for Claude with the answer that has the ended run continued: for the first prompt of whatever comes
/// after it. `None`: nothing, or it came to nothing, or a run has begun since.
pub fn words_after(store: &Store, ended: &State) -> Result<Option<Input>, StoreError> {
    let Some(run) = ended.run.filter(|_| ended.ended.is_some()) else { return Ok(None) };
    let last = store.records_of(run, &["run_ended", "end_answered"])?.pop();
    let Some(Record::EndAnswered(EndAnswered { answer: EndAnswer::Resume, words, by, failed: None })) = last else {
        return Ok(None);
    };
    // Earlier versions gave them to the run as they recorded the answer.
    let is_given = ended.notes.all().iter().any(|note| note.text == words && !note.stage.is_over());
    let is_new = !is_given && !words.is_empty();
    let steer = |text| Input::Commanded { id: Uuid::new_v4().to_string(), by, command: UserCommand::Steer { text } };
    Ok(is_new.then(|| steer(words)))
}

/// What is done about tickets from outside of their runs. `path` is always a ticket's file, by its real path.
#[derive(Clone)]
pub struct Offline {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub reporter: Reporter,
    /// Who appends here: what is asked at once waits for each other, not for another program.
    pub turn: Arc<Mutex<()>>,
}

impl Offline {
    /// For one front end, which nobody else listens to.
    pub fn of(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { reporter: Reporter::new(store.clone()), store, clock, turn: Arc::default() }
    }

    /// Appends what `choose` makes of the ticket's latest run, under the ticket's lock, and tells it. Whether that was
    /// anything: it is not where no run has worked on it. An error when a program does.
    pub async fn append(&self, path: &Path, choose: impl FnOnce(&State) -> Vec<Record>) -> Result<bool, OpenError> {
        let _turn = self.turn.lock().await;
        let (store, name) = (&self.store, path.display().to_string());
        let Some(latest) = store.latest_for(&name)? else { return Ok(false) };
        let now = self.clock.now();
        let ticket = latest.ticket.clone();
        let holder = Holder { pid: std::process::id(), ticket: ticket.clone(), run: None, since: now };
        let _lock = store.lock_ticket(path, &holder).map_err(|error| match error {
            LockError::Held { holder } => OpenError::Held { ticket: ticket.clone(), holder },
            LockError::Store(error) => OpenError::Store(error),
        })?;
        // What was the latest run before the lock may not be it any more.
        let run = store.latest_for(&name)?.map_or(latest.run, |latest| latest.run);
        let state = block_in_place(|| state_of(store, run))?;
        let records = choose(&state);
        let summary = if records.is_empty() { None } else { summary(&after(&state, &records, now)) };
        let Some(summary) = summary else { return Ok(false) };
        let stored = store.append(Append { run, ticket, time: now, records, summary }).await?;
        for stored in stored {
            self.reporter.recorded(stored);
        }
        Ok(true)
    }

    /// Appends to a run that nobody works on: the caller has its ticket's lock.
    pub async fn note(&self, run: &RunSummary, record: Record) -> Result<(), StoreError> {
        let (now, records) = (self.clock.now(), vec![record]);
        let state = block_in_place(|| state_of(&self.store, run.run))?;
        let Some(summary) = summary(&after(&state, &records, now)) else { return Ok(()) };
        let append = Append { run: run.run, ticket: run.ticket.clone(), time: now, records, summary };
        for stored in self.store.append(append).await? {
            self.reporter.recorded(stored);
        }
        Ok(())
    }

    /// Tells everything about the ticket's latest run.
    pub fn show_latest(&self, ticket: &TicketKey, path: &Path) -> Result<(), StoreError> {
        let store = &self.store;
        if let Some(latest) = store.latest_for(&path.display().to_string())? {
            let (run, earlier) = (latest.run, store.load(latest.run)?.records.last().map_or(0, |last| last.seq));
            self.reporter.opened(run, ticket, earlier, Arc::new(store.scrollback(run, classify)?));
        }
        Ok(())
    }

    /// Closes the ticket's breaker. Whether it was not at rest.
    pub async fn reset_breaker(&self, path: &Path, by: Answerer) -> Result<bool, OpenError> {
        let close = |state: &State| (!state.breaker.is_at_rest()).then_some(Record::BreakerReset(ByPerson { by }));
        self.append(path, |state| close(state).into_iter().collect()).await
    }

    /// Gives up every session of the ticket: its next run opens fresh ones. Whether there was one.
    pub async fn reset_sessions(&self, path: &Path, by: &Answerer) -> Result<bool, OpenError> {
        let ended = |(step, kept): (&StepName, &Session)| {
            let (step, session, reason) = (step.clone(), kept.id.clone(), format!("by {by}"));
            Record::SessionEnded(SessionEnded { n: 0, step, session, to: SessionEvent::Reset, reason })
        };
        self.append(path, |state| state.sessions.open.iter().map(ended).collect()).await
    }
}
