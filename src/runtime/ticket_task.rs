//! The loop of one run: input → decide → store → fold → tell → effects.
//!
//! Nothing is done that is not stored first. When the store cannot write, a verdict becomes a block and
//! everything else waits until it can.

use crate::adapters::agent::orphans;
use crate::adapters::store::{Append, Store, StoreError};
use crate::base::id::{RunId, TicketId};
use crate::base::time::{Clock, Timestamp};
use crate::domain::command::UserCommand;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{FORMAT, Record, Stored, Verdict};
use crate::domain::summary::RunSummary;
use crate::orchestrator::apply::apply;
use crate::orchestrator::decide::decide;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::input::Input;
use crate::orchestrator::state::State;
use crate::orchestrator::summary::summary;
use crate::runtime::effects::Effects;
use crate::runtime::reporter::Reporter;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Wait between two tries to write to a store that is full or unreachable.
const STORE_RETRY: Duration = Duration::from_secs(2);

/// One run of one ticket.
pub struct TicketTask {
    /// The run.
    pub run: RunId,
    /// Its ticket.
    pub ticket: TicketId,
    /// The fold of its records so far.
    pub state: State,
    /// Where records go.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Front ends.
    pub reporter: Reporter,
    /// The world.
    pub effects: Effects,
    /// What happens.
    pub inputs: mpsc::Receiver<Input>,
    /// What happened while the store could not be written.
    pub later: VecDeque<Input>,
}

/// Whether the run goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Going {
    On,
    /// Left as it is, without a last record.
    Abandoned,
}

/// What came of storing records.
enum Storing {
    Done,
    /// A verdict could not be stored, for this reason: it becomes a block.
    Refused(String),
    /// The person stopped the run while nothing could be stored.
    Abandoned,
}

/// How long a record that finds no place is tried again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// Until it is stored, or the person stops the run.
    UntilStored,
    /// Not at all: the record is the stop itself.
    None,
}

impl TicketTask {
    /// Runs until the run has ended, or nobody can send inputs any more. Gives the exit reason.
    pub async fn run(mut self) -> Option<ExitReason> {
        // A run that is gone on with may have ended before: its first input opens it again.
        while let Some(input) = self.next().await {
            if self.take(input).await == Going::Abandoned || self.state.ended.is_some() {
                break;
            }
        }
        self.effects.finish().await;
        self.state.ended.map(|ended| ended.reason)
    }

    /// [`run`](Self::run), kept apart from the rest of the program: a panic in it ends this run only.
    pub async fn guarded(self) -> Option<ExitReason> {
        let (run, ticket, store, clock) = (self.run, self.ticket.clone(), self.store.clone(), self.clock.clone());
        let reporter = self.reporter.clone();
        match tokio::spawn(self.run()).await {
            Ok(reason) => reason,
            Err(error) => {
                tracing::error!(%run, %error, "the task of a run went down");
                let message = "a fault in programmator ended the run's task; what Claude did is kept, `programmator \
                               resume` goes on"
                    .to_owned();
                let mut state = State::default();
                for stored in store.load(run).ok()?.records {
                    apply(&mut state, &stored);
                }
                let decision = decide(&state, Input::Faulted { message }, clock.now());
                let mut after = state;
                let summary = look_ahead(&mut after, run, &ticket, clock.now(), &decision.records)?;
                let append = Append { run, ticket, time: clock.now(), records: decision.records, summary };
                for stored in store.append(append).await.ok()? {
                    reporter.recorded(stored);
                }
                orphans::sweep(&[run.to_string()]);
                Some(ExitReason::Error)
            }
        }
    }

    async fn next(&mut self) -> Option<Input> {
        match self.later.pop_front() {
            Some(input) => Some(input),
            None => self.inputs.recv().await,
        }
    }

    async fn take(&mut self, input: Input) -> Going {
        let patience = if is_stop(&input) { Patience::None } else { Patience::UntilStored };
        let decision = decide(&self.state, input, self.clock.now());
        let stored = self.store_all(decision.records, &decision.effects, patience).await;
        if matches!(stored, Storing::Abandoned) {
            return Going::Abandoned;
        }
        for effect in decision.effects {
            let effect = match (&stored, effect) {
                (Storing::Refused(why), Effect::Answer { request, .. }) => {
                    Effect::Answer { request, verdict: Verdict::Block, reason: why.clone() }
                }
                (_, effect) => effect,
            };
            self.effects.perform(effect, &self.state).await;
        }
        Going::On
    }

    /// Stores the records and folds them. Tries again until it can be done, or the person stops the run.
    async fn store_all(&mut self, records: Vec<Record>, effects: &[Effect], patience: Patience) -> Storing {
        if records.is_empty() {
            return Storing::Done;
        }
        let is_verdict = effects.iter().any(|effect| matches!(effect, Effect::Answer { .. }));
        let mut told = false;
        loop {
            let error = match self.append(records.clone()).await {
                Ok(stored) => {
                    for stored in stored {
                        apply(&mut self.state, &stored);
                        self.reporter.recorded(stored);
                    }
                    return Storing::Done;
                }
                Err(error) => error,
            };
            tracing::error!(run = %self.run, %error, "a record could not be stored");
            if !told {
                self.reporter.trouble(&self.ticket, &error.to_string());
                told = true;
            }
            if is_verdict {
                return Storing::Refused(format!("programmator cannot store its verdict: {error}"));
            }
            if patience == Patience::None || self.wait_for_store().await == Going::Abandoned {
                return Storing::Abandoned;
            }
        }
    }

    /// Waits before the next try. What happens meanwhile is kept; a stop is obeyed, though it cannot be recorded:
    /// the run is then found interrupted, and can be gone on with.
    async fn wait_for_store(&mut self) -> Going {
        let again = tokio::time::sleep(STORE_RETRY);
        tokio::pin!(again);
        loop {
            tokio::select! {
                () = &mut again => return Going::On,
                input = self.inputs.recv() => match input {
                    None => return Going::Abandoned,
                    Some(input) if is_stop(&input) => return Going::Abandoned,
                    Some(input) => self.later.push_back(input),
                },
            }
        }
    }

    async fn append(&self, records: Vec<Record>) -> Result<Vec<Arc<Stored>>, StoreError> {
        let time = self.clock.now();
        let mut after = self.state.clone();
        let Some(summary) = look_ahead(&mut after, self.run, &self.ticket, time, &records) else {
            return Ok(Vec::new());
        };
        let append = Append { run: self.run, ticket: self.ticket.clone(), time, records, summary };
        self.store.append(append).await
    }
}

/// The person wants the run to end.
fn is_stop(input: &Input) -> bool {
    matches!(input, Input::Commanded { command: UserCommand::Stop | UserCommand::FinishAndStop, .. })
}

/// The summary belongs to the state after the records: they are folded on a copy.
fn look_ahead(
    after: &mut State,
    run: RunId,
    ticket: &TicketId,
    time: Timestamp,
    records: &[Record],
) -> Option<RunSummary> {
    for (seq, record) in (after.seq + 1..).zip(records) {
        let (ticket, record) = (ticket.clone(), record.clone());
        apply(after, &Stored { v: FORMAT, seq, time, run, ticket, record });
    }
    summary(after)
}
