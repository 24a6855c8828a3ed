//! What a run that is resumed leaves behind.

use super::worktree;
use crate::orchestrator::exit::Signs;
use crate::orchestrator::state::{Pace, State};

pub(super) fn fold(state: &mut State) {
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
