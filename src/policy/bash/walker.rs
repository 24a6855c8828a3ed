//! What a walk over a script knows and has found.

use super::shell::Shell;
use crate::policy::place::Place;
use crate::policy::unit::{Names, Target, Unit};
use std::sync::Arc;

/// The walk, and what it has found.
pub struct Walker<'a> {
    /// The script, for what can be seen in the text alone.
    pub(super) text: &'a str,
    pub(super) place: Place<'a>,
    pub(super) shell: Shell,
    pub(super) units: Vec<Unit>,
    /// What comes through the pipe, when that is names of files.
    pub(super) feed: Option<Arc<Names>>,
    pub(super) depth: usize,
    /// Commands, assignments and redirections so far.
    pub(super) commands: usize,
    /// Nothing in the script changes files, so a folder that is there now is there when its `cd` runs.
    pub(super) steady: bool,
    /// There is a `cd` in the script.
    pub(super) moves: bool,
    /// Files that hold what came from a network.
    pub(super) fetched: Vec<Target>,
    /// Each command ends before the next begins, and runs once: its units stand in the order in which they happen.
    pub(super) in_order: bool,
}
