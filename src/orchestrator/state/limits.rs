//! What a run knows of limits.

use crate::base::time::Timestamp;
use crate::domain::limits::admission::{Ledger, Parking};
use crate::domain::limits::provider::{Window, closes};
use crate::domain::limits::receipt::Receipt;
use std::collections::BTreeMap;

/// What a run knows of limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitState {
    /// The provider's windows by kind, and when it told of them.
    pub windows: BTreeMap<String, (Window, Timestamp)>,
    /// How much of each window was used, and when, as the run was first told of it: with the newest it gives the pace.
    pub first_used: BTreeMap<String, (f64, Timestamp)>,
    /// The counters at the last call, and when that was.
    pub ledger: Option<(Ledger, Timestamp)>,
    /// What the run waits for.
    pub parked: Option<Parking>,
    /// Iterations that a limit refused: they count as none.
    pub refused: u32,
    /// What the iterations cost, oldest first.
    pub receipts: Vec<Receipt>,
}

impl LimitState {
    /// Takes what the provider tells of a window.
    pub fn see(&mut self, window: &Window, time: Timestamp) {
        let before = self.windows.insert(window.kind.clone(), (window.clone(), time));
        if before.is_none_or(|(before, _)| before.resets_at != window.resets_at) {
            self.first_used.remove(&window.kind);
        }
        if let Some(used) = window.used {
            let first = self.first_used.entry(window.kind.clone()).or_insert((used, time));
            if used < first.0 {
                *first = (used, time);
            }
        }
    }

    /// When this window will be used up at the pace of this run; `None`: not before it opens anew, as far as can be told.
    pub fn closes(&self, kind: &str) -> Option<Timestamp> {
        let (window, at) = self.windows.get(kind)?;
        closes(*self.first_used.get(kind)?, (window.used?, *at), window.resets_at)
    }
}
