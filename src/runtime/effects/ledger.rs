//! Asking the ledger of all programs for a call.

use super::Effects;
use crate::domain::limits::admission::Ask;
use crate::orchestrator::input::Input;
use std::time::Duration;

/// Wait between two tries while the store cannot be used.
const AGAIN: Duration = Duration::from_secs(2);

impl Effects {
    /// Asks until there is an answer: no call is made that is not counted.
    pub(super) fn admit(&mut self, ask: Ask) {
        let (store, clock, reporter) = (self.store.clone(), self.clock.clone(), self.reporter.clone());
        let (run, ticket) = (self.run, self.ticket.clone());
        self.answer_with(async move {
            let (n, purpose) = (ask.n, ask.purpose);
            let mut told = false;
            loop {
                let (store, ask, now) = (store.clone(), ask.clone(), clock.now());
                let asked = tokio::task::spawn_blocking(move || store.admit(run, &ask, now)).await;
                let error = match asked {
                    Ok(Ok(admission)) => return Input::Admitted { n, purpose, admission: Box::new(admission) },
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                };
                tracing::error!(%run, %error, "a call could not be counted");
                if !std::mem::replace(&mut told, true) {
                    reporter.trouble(&ticket, &error);
                }
                tokio::time::sleep(AGAIN).await;
            }
        });
    }
}
