//! Asking the ledger of all programs for a call.

use super::Effects;
use crate::domain::limits::admission::Ask;
use crate::orchestrator::input::Input;
use crate::runtime::storage::{Next, StorageWait};

impl Effects {
    /// Asks until there is an answer: no call is made that is not counted.
    pub(super) fn admit(&mut self, ask: Ask) {
        let (store, clock, run) = (self.store.clone(), self.clock.clone(), self.run);
        let patience = self.config.storage.patience;
        let mut storage = StorageWait::new(run, &self.ticket, patience, &self.clock, &self.reporter);
        self.answer_with(async move {
            let (n, purpose) = (ask.n, ask.purpose);
            loop {
                let (store, ask, now) = (store.clone(), ask.clone(), clock.moment());
                let asked = tokio::task::spawn_blocking(move || store.admit(run, &ask, now)).await;
                let error = match asked {
                    Ok(Ok(admission)) => return Input::Admitted { n, purpose, admission: Box::new(admission) },
                    Ok(Err(error)) => error,
                    Err(error) => return Input::Faulted { message: format!("internal error: {error}") },
                };
                match storage.failed(&error) {
                    Next::Again(wait) => tokio::time::sleep(wait).await,
                    Next::GiveUp(message) => return Input::StorageFailed { message },
                }
            }
        });
    }
}
