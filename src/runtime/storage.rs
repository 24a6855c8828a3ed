//! Waiting for storage that cannot be written: told once, with since when and until when, and given up in the end.

use crate::adapters::store::StoreError;
use crate::base::id::{RunId, TicketId};
use crate::base::time::{Clock, Timestamp, human};
use crate::domain::news::StorageAwaited;
use crate::runtime::reporter::Reporter;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Between two tries.
const AGAIN: Duration = Duration::from_secs(2);

/// How one run waits for its storage.
#[derive(Clone)]
pub struct StorageWait {
    run: RunId,
    ticket: TicketId,
    patience: Duration,
    clock: Arc<dyn Clock>,
    reporter: Reporter,
    /// Since when, by both clocks; `None`: all is well.
    began: Option<(Instant, Timestamp)>,
}

/// What comes after a try that failed.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Another one, after this time.
    Again(Duration),
    /// None: words for the person.
    GiveUp(String),
}

impl StorageWait {
    /// Nothing is wrong yet.
    pub fn new(run: RunId, ticket: &TicketId, patience: Duration, clock: &Arc<dyn Clock>, reporter: &Reporter) -> Self {
        let (ticket, clock, reporter) = (ticket.clone(), clock.clone(), reporter.clone());
        Self { run, ticket, patience, clock, reporter, began: None }
    }

    /// Something was stored. How long that was waited for, if it was.
    pub fn worked(&mut self) -> Option<Duration> {
        self.began.take().map(|(_, since)| self.clock.now().since(since))
    }

    /// Something could not be stored. The first time in a row it is told.
    pub fn failed(&mut self, error: &StoreError) -> Next {
        tracing::error!(run = %self.run, %error, "nothing can be stored");
        let (waited, _) = self.began.get_or_insert_with(|| {
            let since = self.clock.now();
            self.reporter.storage_awaited(StorageAwaited {
                run: self.run,
                ticket: self.ticket.clone(),
                why: error.to_string(),
                since,
                until: since.plus(self.patience),
            });
            (Instant::now(), since)
        });
        let left = self.patience.saturating_sub(waited.elapsed());
        if left.is_zero() {
            return Next::GiveUp(format!(
                "{error}. The run waited {} and ended; when storage works again, continue with `programmator run {}`",
                human(self.patience),
                self.ticket
            ));
        }
        Next::Again(left.min(AGAIN))
    }
}
