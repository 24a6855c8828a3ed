//! A ticket's sessions of Claude from outside its run.

use crate::adapters::store::Store;
use crate::base::time::Clock;
use crate::domain::answerer::Answerer;
use crate::domain::record::Record;
use crate::domain::session::{SessionEnded, Way};
use crate::domain::step::StepName;
use crate::runtime::behind::{self, Reset};
use crate::runtime::supervisor::OpenError;
use std::path::Path;

/// Gives up every session of the ticket in the file `path` (its real path): its next run opens fresh ones.
pub async fn reset(store: &Store, clock: &dyn Clock, path: &Path, by: &Answerer) -> Result<Reset, OpenError> {
    let ended = |step: &StepName, session: &str| {
        let (step, session, reason) = (step.clone(), session.to_owned(), format!("by {by}"));
        Record::SessionEnded(SessionEnded { n: 0, step, session, to: Way::Reset, reason })
    };
    behind::append(store, clock, path, |state| {
        state.sessions.open.iter().map(|(step, kept)| ended(step, &kept.id)).collect()
    })
    .await
}
