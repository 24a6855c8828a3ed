//! The loop of one run: input → decide → store → tell → effects.
//!
//! Nothing is done that is not stored first. When the store cannot write, a verdict becomes a block and everything
//! else waits until it can, but not without end.

use crate::adapters::agent::orphans;
use crate::adapters::scratch_folder;
use crate::adapters::store::{Append, Store, StoreError};
use crate::base::id::{RunId, TicketId};
use crate::base::time::{Clock, Timestamp};
use crate::domain::command::UserCommand;
use crate::domain::messages::reason_words;
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::domain::verdict::Verdict;
use crate::orchestrator::apply::after;
use crate::orchestrator::decide::decide;
use crate::orchestrator::effect::{Decision, Effect};
use crate::orchestrator::input::Input;
use crate::orchestrator::state::State;
use crate::orchestrator::summary::summary;
use crate::runtime::chat_log::ChatLogger;
use crate::runtime::effects::Effects;
use crate::runtime::offline::state_of;
use crate::runtime::reporter::Reporter;
use crate::runtime::storage::{Next, StorageWait};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Commands, by their ids, whose decision somebody waits for.
pub type Awaited = Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>;

/// One run of one ticket.
pub struct TicketTask {
    pub run: RunId,
    pub ticket: TicketId,
    /// The fold of its records so far.
    pub state: Arc<State>,
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub reporter: Reporter,
    /// Writes the log of a run that is a chat.
    pub chat_log: Arc<Mutex<ChatLogger>>,
    /// For storage that cannot be written.
    pub storage: StorageWait,
    pub effects: Effects,
    pub inputs: mpsc::Receiver<Input>,
    /// It is left as it is.
    pub given_up: CancellationToken,
    /// Who waits for what becomes of a command.
    pub awaited: Awaited,
    /// Verdicts that were given as blocks because they could not be stored: they come before whatever is stored next.
    pub owed: Vec<Record>,
    /// What happened while the store could not be written. Read from the channel so that a stop is heard. It stays short
    /// though nothing bounds it: text does not come this way, Claude waits for the answer to each of its calls, and
    /// `storage.patience` ends the wait.
    pub later: VecDeque<Input>,
}

/// What came of storing records.
enum Storing {
    Done,
    /// A verdict could not be stored, for this reason: it becomes a block.
    Refused(String),
    /// They follow from a wish that was taken back meanwhile: nothing of it happens.
    Withdrawn,
    /// Nothing can be stored, and that has taken too long: words for the person.
    OutOfPatience(String),
    /// It was the end of the run that could not be stored.
    GivenUp(Ending),
    Abandoned,
}

/// How a run's task came to its end.
#[derive(Debug, Default)]
pub struct Ending {
    /// Why; `None`: its program gave it up.
    pub reason: Option<ExitReason>,
    /// No record says so: words for the person.
    pub unstored: Option<String>,
}

impl TicketTask {
    /// Runs until the run has ended or is given up.
    pub async fn run(mut self) -> Ending {
        let mut left = None;
        // A run that is resumed may have ended before: its first input opens it again.
        while let Some(input) = self.next().await {
            let command = match &input {
                Input::Commanded { id, .. } | Input::DoneBeside { id, .. } => Some(id.clone()),
                _ => None,
            };
            left = self.take(input).await;
            let awaited = |id| self.awaited.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            if let Some(decided) = command.filter(|_| left.is_none()).and_then(awaited) {
                // Nobody may wait any more.
                let _: Result<(), ()> = decided.send(());
            }
            if left.is_some() || self.state.ended.is_some() {
                break;
            }
        }
        self.effects.finish().await;
        left.unwrap_or_else(|| Ending { reason: self.state.ended.as_ref().map(|ended| ended.reason), unstored: None })
    }

    /// [`run`](Self::run), kept apart from the rest of the program: a panic in it ends this run only.
    pub async fn guarded(self) -> Ending {
        let (run, ticket, store, clock) = (self.run, self.ticket.clone(), self.store.clone(), self.clock.clone());
        let (reporter, chat_log) = (self.reporter.clone(), self.chat_log.clone());
        let error = match tokio::spawn(self.run()).await {
            Ok(ending) => return ending,
            Err(error) => error,
        };
        tracing::error!(%run, %error, "the task of a run crashed");
        let message =
            "internal error: the run's task ended; Claude's work is kept, continue with `programmator resume`"
                .to_owned();
        orphans::sweep(&[run.to_string()]);
        scratch_folder::remove(run);
        let recorded = async {
            let (state, now) = (state_of(&store, run).ok()?, clock.now());
            let decision = decide(&state, Input::Faulted { message: message.clone() }, now);
            let summary = summary(decision.next.as_ref()?)?;
            let append = Append { run, ticket, time: now, records: decision.records, summary };
            Some((store.append(append).await.ok()?, decision.next?))
        };
        let stored = recorded.await;
        let unstored = stored.is_none().then_some(message);
        for (stored, state) in stored.iter().flat_map(|(all, state)| all.iter().map(move |stored| (stored, state))) {
            chat_log.lock().unwrap_or_else(PoisonError::into_inner).heard(stored, state);
            reporter.recorded(stored.clone());
        }
        Ending { reason: Some(ExitReason::Error), unstored }
    }

    async fn next(&mut self) -> Option<Input> {
        if let Some(input) = self.later.pop_front() {
            return Some(input);
        }
        tokio::select! {
            biased;
            () = self.given_up.cancelled() => self.unheard(),
            input = self.inputs.recv() => input,
        }
    }

    /// What the person had said when it was given up: it is recorded, and whoever goes on with the run obeys it.
    fn unheard(&mut self) -> Option<Input> {
        self.inputs.close();
        while let Ok(input) = self.inputs.try_recv() {
            if matches!(
                input,
                Input::Commanded { .. }
                    | Input::HandedOver
                    | Input::Unlocked { .. }
                    | Input::DoneBeside { .. }
                    | Input::RuleSaved { .. }
            ) {
                return Some(input);
            }
        }
        None
    }

    /// Takes one thing that happened. `Some`: the run is left as it is, without a last record.
    async fn take(&mut self, input: Input) -> Option<Ending> {
        // Nothing is decided while the state lacks what Claude was told, but for what Claude is told next.
        if !self.owed.is_empty() && !matches!(input, Input::Judged { .. }) {
            let now = self.clock.now();
            let owed = Arc::new(after(&self.state, &self.owed, now));
            match self.store_all(now, Vec::new(), Some(owed), &[], self.last_words(&input)).await {
                Storing::Done | Storing::Refused(_) | Storing::Withdrawn => {}
                failed => return self.leave(failed).await,
            }
        }
        let last_try = self.last_words(&input);
        // The time of the decision is the time of its records, however long it takes to store them.
        let now = self.clock.now();
        let again = self.effects.is_counting().then(|| input.clone());
        let mut decision = decide(&self.state, input, now);
        // What the last iteration has changed is told before the end.
        if let (Some(input), Some(_)) = (again, decision.next.as_ref().and_then(|next| next.ended.as_ref()))
            && let Some((added, removed)) = self.effects.lines().await
        {
            let counted = decide(&self.state, Input::LinesCounted { added, removed }, now);
            match self.store_all(now, counted.records, counted.next, &[], self.last_words(&input)).await {
                Storing::Done => decision = decide(&self.state, input, now),
                failed => return self.leave(failed).await,
            }
        }
        let Decision { records, effects, mut next } = decision;
        if !self.owed.is_empty() && next.is_some() {
            // It was decided without what is owed, and is stored behind it.
            next = Some(Arc::new(after(&self.state, &[self.owed.as_slice(), &records].concat(), now)));
        }
        let refused = match self.store_all(now, records, next, &effects, last_try).await {
            Storing::Done => None,
            Storing::Refused(why) => Some(why),
            Storing::Withdrawn => return None,
            failed => return self.leave(failed).await,
        };
        let mut verdicts = Vec::new();
        for effect in effects {
            let effect = match (&refused, effect) {
                (Some(why), Effect::Answer { request, .. }) => {
                    Effect::Answer { request, verdict: Verdict::Block, reason: why.clone() }
                }
                (_, effect) => effect,
            };
            verdicts.extend(self.effects.perform(effect, &self.state).await);
        }
        verdicts.into_iter().rev().for_each(|verdict| self.later.push_front(verdict));
        None
    }

    /// Ends the run for what could not be stored. There may be just room for that.
    async fn leave(&mut self, failed: Storing) -> Option<Ending> {
        let words = match failed {
            Storing::OutOfPatience(words) => words,
            Storing::GivenUp(ending) => return Some(ending),
            _ => return Some(Ending::default()),
        };
        let now = self.clock.now();
        let end = decide(&self.state, Input::StorageFailed { message: words.clone() }, now);
        // A run that has not begun has no end either.
        if let Some(next) = end.next
            && self.append(now, end.records, next, false).await.is_ok()
        {
            return None;
        }
        Some(Ending { reason: Some(ExitReason::StorageFailed), unstored: Some(words) })
    }

    /// What ends the run is tried once: with these words it is left when that cannot be stored. It is then found
    /// interrupted, and can be resumed.
    fn last_words(&self, input: &Input) -> Option<Ending> {
        let (reason, words) = match input {
            Input::Commanded { command: UserCommand::Stop | UserCommand::FinishAndStop, by, .. } => {
                let reason = if by.is_hangup() { ExitReason::TerminalClosed } else { ExitReason::UserStopped };
                let words = format!(
                    "{} while nothing could be stored: the last records are missing; continue with `programmator run {}`",
                    reason_words(reason),
                    self.ticket
                );
                (reason, words)
            }
            Input::StorageFailed { message } => (ExitReason::StorageFailed, message.clone()),
            _ => return None,
        };
        Some(Ending { reason: Some(reason), unstored: Some(words) })
    }

    /// Stores the records, behind what is owed; `next` is the state after all of them, `None`: nothing is to be stored.
    /// Tries again until it can be done, or has taken too long.
    async fn store_all(
        &mut self,
        now: Timestamp,
        records: Vec<Record>,
        next: Option<Arc<State>>,
        effects: &[Effect],
        mut last_try: Option<Ending>,
    ) -> Storing {
        let Some(next) = next else { return Storing::Done };
        let is_verdict = effects.iter().any(|effect| matches!(effect, Effect::Answer { .. }));
        let is_early = self.owed.is_empty() && !effects.is_empty() && effects.iter().all(Effect::waits_for_the_disk);
        loop {
            let all = self.owed.iter().chain(&records).cloned().collect();
            let error = match self.append(now, all, next.clone(), is_early).await {
                Ok(()) => {
                    self.owed.clear();
                    return Storing::Done;
                }
                Err(StoreError::Withdrawn) => {
                    // It could have been stored.
                    self.storage_works();
                    return Storing::Withdrawn;
                }
                Err(error) => error,
            };
            match (last_try.take(), self.storage.failed(&error)) {
                (Some(ending), _) => return Storing::GivenUp(ending),
                (None, Next::GiveUp(words)) => return Storing::OutOfPatience(words),
                (None, Next::Again(_)) if is_verdict => {
                    let why = format!("programmator cannot store its verdict: {error}");
                    self.owed.extend(records.into_iter().filter_map(|record| as_block(record, &why)));
                    return Storing::Refused(why);
                }
                (None, Next::Again(wait)) => {
                    if let Some(end) = self.wait_for_store(wait).await {
                        return end;
                    }
                }
            }
        }
    }

    /// Stores the records; then the state is the one after them, and who looks on is told. `is_early`: their effects wait
    /// for the disk.
    async fn append(
        &mut self,
        time: Timestamp,
        records: Vec<Record>,
        next: Arc<State>,
        is_early: bool,
    ) -> Result<(), StoreError> {
        let Some(summary) = summary(&next) else { return Ok(()) };
        let append = Append { run: self.run, ticket: self.ticket.clone(), time, records, summary };
        let stored = if is_early { self.store.append_early(append).await? } else { self.store.append(append).await? };
        self.storage_works();
        self.state = next;
        if self.state.ended.is_some() {
            // Known before anybody hears of it: a run that has ended takes nothing more.
            self.inputs.close();
        }
        for stored in stored {
            self.chat_log.lock().unwrap_or_else(PoisonError::into_inner).heard(&stored, &self.state);
            self.reporter.recorded(stored);
        }
        Ok(())
    }

    fn storage_works(&mut self) {
        if let Some(waited) = self.storage.worked() {
            self.later.push_front(Input::StorageWorked { waited });
        }
    }

    /// Waits before the next try. What happens meanwhile is kept; a stop is obeyed, though it cannot be recorded.
    async fn wait_for_store(&mut self, wait: Duration) -> Option<Storing> {
        let again = tokio::time::sleep(wait);
        tokio::pin!(again);
        loop {
            tokio::select! {
                () = &mut again => return None,
                input = self.inputs.recv() => match input {
                    None => return Some(Storing::Abandoned),
                    Some(input) => match self.last_words(&input) {
                        Some(ending) => return Some(Storing::GivenUp(ending)),
                        None => self.later.push_back(input),
                    },
                },
            }
        }
    }
}

/// The verdict as it was given in the end: a call that no record knows of would count as one past the gate.
fn as_block(record: Record, why: &str) -> Option<Record> {
    match record {
        Record::ToolJudged { n, tool_use_id, tool, target, units, cwd, .. } => {
            let (verdict, reason) = (Verdict::Block, why.to_owned());
            Some(Record::ToolJudged { n, tool_use_id, tool, target, verdict, reason, units, cwd })
        }
        _ => None,
    }
}
