//! The loop of one run: input → decide → store → fold → tell → effects.
//!
//! Nothing is done that is not stored first. When the store cannot write, a verdict becomes a block and
//! everything else waits until it can.

use crate::adapters::agent::orphans;
use crate::adapters::store::{Append, Store, StoreError};
use crate::base::id::{RunId, TicketId};
use crate::base::time::{Clock, Timestamp};
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
}

impl TicketTask {
    /// Runs until the run has ended, or nobody can send inputs any more. Gives the exit reason.
    pub async fn run(mut self) -> Option<ExitReason> {
        while self.state.ended.is_none() {
            let Some(input) = self.inputs.recv().await else {
                break;
            };
            self.take(input).await;
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

    async fn take(&mut self, input: Input) {
        let decision = decide(&self.state, input, self.clock.now());
        let refused = self.store_all(decision.records, &decision.effects).await;
        for effect in decision.effects {
            let effect = match (&refused, effect) {
                (Some(why), Effect::Answer { request, .. }) => {
                    Effect::Answer { request, verdict: Verdict::Block, reason: why.clone() }
                }
                (_, effect) => effect,
            };
            self.effects.perform(effect, &self.state).await;
        }
    }

    /// Stores the records and folds them. `Some`: a verdict could not be stored, for this reason.
    async fn store_all(&mut self, records: Vec<Record>, effects: &[Effect]) -> Option<String> {
        if records.is_empty() {
            return None;
        }
        let is_verdict = effects.iter().any(|effect| matches!(effect, Effect::Answer { .. }));
        let mut told = false;
        loop {
            match self.append(records.clone()).await {
                Ok(stored) => {
                    for stored in stored {
                        apply(&mut self.state, &stored);
                        self.reporter.recorded(stored);
                    }
                    return None;
                }
                Err(error) => {
                    tracing::error!(run = %self.run, %error, "a record could not be stored");
                    if !told {
                        self.reporter.trouble(&self.ticket, &error.to_string());
                        told = true;
                    }
                    if is_verdict {
                        return Some(format!("programmator cannot store its verdict: {error}"));
                    }
                    tokio::time::sleep(STORE_RETRY).await;
                }
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
