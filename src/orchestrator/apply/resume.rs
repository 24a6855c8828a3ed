//! What a run that is resumed leaves behind.

use super::worktree;
use crate::domain::outcome::ExitReason;
use crate::orchestrator::exit::Signs;
use crate::orchestrator::state::{Pace, State};
use std::sync::Arc;

pub(super) fn fold(state: &mut State) {
    // The person merges again as the worktree is now, whoever has resolved what; after a crash Claude goes on.
    let is_given_up = state.ended.as_ref().is_some_and(|ended| ended.reason == ExitReason::MergeFailed);
    state.conflict.take_if(|_| is_given_up);
    if let Some(conflict) = &mut state.conflict {
        Arc::make_mut(conflict).tries = 0;
    }
    state.ended = None;
    state.rules_trouble = None;
    state.signs = Signs::default();
    state.pace = Pace::Run;
    state.has_tree = false;
    state.ticket_lost = None;
    for phase in state.phases.iter_mut().chain([&mut state.whole]) {
        phase.box_writes = 0;
        // The person wants it tried again.
        phase.review.rejections = 0;
    }
    state.goal.rejections = 0;
    state.stage = worktree::first(state);
}
