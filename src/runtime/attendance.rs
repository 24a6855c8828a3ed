//! When the person last touched the screen: told by whoever reads their keys, asked by the timers of questions.

use crate::base::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The last sign of the person, shared by the screen and the runs.
#[derive(Clone, Debug, Default)]
pub struct Attendance(Arc<AtomicI64>);

impl Attendance {
    /// They touched it now.
    pub fn mark(&self, now: Timestamp) {
        self.0.store(now.millis(), Ordering::Relaxed);
    }

    /// When they last did; the epoch when they never did.
    pub fn last(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}
