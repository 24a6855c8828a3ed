//! How the runs of this program stand, for those who wait for their end.

use crate::domain::ticket::TicketKey;
use std::collections::BTreeMap;

/// How the runs of this program stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    pub(super) open: usize,
    /// Those of them that are still being opened.
    pub(super) opening: usize,
    /// Commits and reverts that are being made: git, hooks and a file are not to be left half-way.
    pub(super) commits: usize,
    /// Those of them that are waited for in any case: reverts, and commits for which git is not called yet.
    pub(super) prepared: usize,
    /// Git is not waited for.
    pub(super) leaves_commits: bool,
    /// The exit code that each ticket's last run makes, or the try to begin one.
    pub(super) codes: BTreeMap<TicketKey, u8>,
}
