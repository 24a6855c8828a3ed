//! What a run knows of limits.

use crate::base::time::Timestamp;
use crate::domain::limits::admission::{Ledger, Parking};
use crate::domain::limits::provider::Window;
use crate::domain::limits::receipt::Receipt;
use std::collections::BTreeMap;

/// What a run knows of limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitState {
    /// The provider's windows by kind, and when it told of them.
    pub windows: BTreeMap<String, (Window, Timestamp)>,
    /// The counters at the last call, and when that was.
    pub ledger: Option<(Ledger, Timestamp)>,
    /// What the run waits for.
    pub parked: Option<Parking>,
    /// Iterations that a limit refused: they count as none.
    pub refused: u32,
    /// What the iterations cost, oldest first.
    pub receipts: Vec<Receipt>,
}
