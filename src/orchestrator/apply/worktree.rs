//! What records make of the worktree that a run works in, and of what becomes of the work there.

use crate::domain::record::Record;
use crate::orchestrator::state::{Stage, State};

/// Folds a record of the worktree in; others are not its business. One that was removed keeps its place: a run that is
/// resumed has it made again there.
pub(super) fn fold(state: &mut State, record: &Record) {
    match record {
        Record::WorktreeIntended(worktree) => {
            state.workspace = std::mem::take(&mut state.workspace).in_worktree(Some(worktree.clone()));
            state.stage = first(state);
        }
        Record::WorktreeMade(_) => {
            state.has_worktree = true;
            state.stage = Stage::AwaitingTree { holder: None };
        }
        Record::MergeIntended(_) => state.stage = Stage::Merging,
        Record::MergeSettled(settled) => {
            state.is_merged = settled.trouble.is_none();
            if state.stage == Stage::Merging {
                state.stage = Stage::Idle;
            }
        }
        Record::WorktreeRemoved(_) => state.has_worktree = false,
        _ => {}
    }
}

/// What comes before a run's own work.
pub(super) fn first(state: &State) -> Stage {
    match state.workspace.worktree() {
        Some(_) => Stage::MakingWorktree,
        None => Stage::AwaitingTree { holder: None },
    }
}
