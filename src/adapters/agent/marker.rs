//! What tells a run's processes from others.

/// The variable that every process of a run carries; [`super::orphans`] finds them by it.
pub const MARKER: &str = "PROGRAMMATOR_RUN_ID";
