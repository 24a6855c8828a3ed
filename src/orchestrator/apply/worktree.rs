//! What records make of the worktree that a run works in, and of what becomes of the work there.

use crate::domain::merge::{Conflict, ConflictStage, ConflictStaged};
use crate::domain::record::Record;
use crate::orchestrator::state::{Stage, State};
use std::sync::Arc;

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
        Record::SwitchIntended(switch) => state.switching = Some(switch.clone()),
        Record::SwitchSettled(_) => state.switching = None,
        Record::MergeIntended(_) => (state.stage, state.merge_failed) = (Stage::Merging, None),
        Record::EndAnswered(said) => {
            if let Some(ended) = &mut state.ended {
                ended.is_left = said.leaves();
            }
        }
        Record::MergeSettled(settled) => {
            state.is_merged = settled.trouble.is_none();
            state.merge_failed = (!state.is_merged).then(|| Arc::new(settled.clone()));
            if state.stage == Stage::Merging {
                state.stage = Stage::Idle;
            }
        }
        Record::ConflictStaged(staged) => conflict(state, staged),
        Record::SnapshotTaken { id, .. } => snapshot(state, id),
        Record::EvidenceGathered { iteration_files, .. } => made(state, iteration_files),
        Record::WorktreeRemoved(_) => state.has_worktree = false,
        _ => {}
    }
}

fn conflict(state: &mut State, staged: &ConflictStaged) {
    use ConflictStage::{Asked, Checking, Committing, Open, Opening, Over};
    let ConflictStaged { stage, files, why, .. } = staged;
    let is_at_the_edge = matches!(stage, Opening | Checking | Committing);
    if is_at_the_edge {
        state.stage = Stage::Merging;
    } else if state.stage == Stage::Merging {
        state.stage = Stage::Idle;
    }
    if *stage == Over {
        state.conflict = None;
        return;
    }
    let mut conflict = state.conflict.take().map_or_else(Conflict::default, Arc::unwrap_or_clone);
    if *stage == Asked {
        conflict = Conflict::default();
    }
    conflict.stage = *stage;
    if !files.is_empty() {
        conflict.files.clone_from(files);
    }
    if *stage == Open {
        conflict.why.clone_from(why);
        conflict.tries += u32::from(!why.is_empty());
    }
    state.conflict = Some(Arc::new(conflict));
}

/// The tree before Claude has changed anything about an open conflict.
fn snapshot(state: &mut State, id: &str) {
    let is_open = state.conflict_stage() == Some(ConflictStage::Open);
    if let Some(conflict) = state.conflict.as_mut().filter(|conflict| is_open && conflict.snapshot.is_none()) {
        Arc::make_mut(conflict).snapshot = Some(id.to_owned());
    }
}

/// What Claude has changed to resolve an open conflict: it is Claude's turn alone.
fn made(state: &mut State, files: &[String]) {
    if state.conflict_stage() == Some(ConflictStage::Open) {
        let known = &mut state.conflict_files;
        let new: Vec<String> = files.iter().filter(|file| !known.contains(file)).cloned().collect();
        known.extend(new);
    }
}

/// What comes before a run's own work.
pub(super) fn first(state: &State) -> Stage {
    match state.workspace.worktree() {
        Some(_) => Stage::MakingWorktree,
        None => Stage::AwaitingTree { holder: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::domain::outcome::ExitReason;
    use crate::orchestrator::apply::after;

    #[test]
    fn what_claude_has_made_for_a_conflict_is_known_at_every_later_try() {
        let at = |stage| Record::ConflictStaged(ConflictStaged::at(stage));
        let made = Record::EvidenceGathered { n: 1, iteration_files: vec!["new".into()], phase_files: vec![] };
        let (reason, detail) = (ExitReason::MergeFailed, String::new());
        let (iterations, phases_done, phases, cost_usd) = (1, 0, 0, 0.0);
        let ended = Record::RunEnded { reason, detail, iterations, phases_done, phases, cost_usd };
        let resumed = Record::RunResumed { pid: 1 };
        let first = [at(ConflictStage::Asked), at(ConflictStage::Opening), at(ConflictStage::Open), made];
        let second = [ended.clone(), resumed.clone(), at(ConflictStage::Asked), at(ConflictStage::Opening)];
        // The second try cannot begin.
        let third = [at(ConflictStage::Over), ended, resumed, at(ConflictStage::Asked)];
        let now = Timestamp::from_millis(1);
        let state = after(&after(&State::default(), &first, now), &second, now);
        assert_eq!(state.conflict_files, ["new"]);
        let state = after(&state, &third, now);
        assert_eq!(state.conflict_stage(), Some(ConflictStage::Asked));
        assert_eq!(state.conflict_files, ["new"]);
    }
}
