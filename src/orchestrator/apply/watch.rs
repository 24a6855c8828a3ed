//! What records make of the watchdog's facts about an iteration: when Claude was asked, which timer ran out, whether
//! it waits for the service.

use crate::base::time::Timestamp;
use crate::domain::record::{Record, TurnEnded};
use crate::domain::turn::Origin;
use crate::orchestrator::state::{Iteration, Retry};
use std::time::Duration;

/// Folds a record of the iteration in; others are not its business.
pub(super) fn fold(iteration: &mut Iteration, record: &Record, time: Timestamp) {
    match record {
        Record::SpawnRequested { .. } | Record::FollowUpSent { .. } => {
            iteration.prompted = Some(time);
            iteration.answered = false;
            iteration.asked_for_block = matches!(record, Record::FollowUpSent { .. });
        }
        Record::TurnBegan { .. } => iteration.answered = false,
        Record::BackgroundChanged { tasks, .. } => iteration.background.clone_from(tasks),
        Record::ForeignTurn { .. } => iteration.foreign = true,
        Record::AgentExited { .. } => iteration.background.clear(),
        Record::WatchdogFired(fired) => iteration.timer = Some(fired.timer),
        Record::ApiRetried(retried) => {
            let at = time.plus(Duration::from_millis(retried.delay_ms));
            let (attempt, max, error) = (retried.attempt, retried.max_retries, retried.error.clone());
            iteration.retry = Some(Retry { attempt, max, error, at });
        }
        Record::TurnEnded(TurnEnded { origin, .. }) => {
            iteration.retry = None;
            iteration.answered = true;
            iteration.asked_for_block &= *origin != Origin::Ours;
            iteration.foreign &= *origin != Origin::Foreign;
        }
        _ => {}
    }
}
