//! The verbs, pure: what to do next. No I/O, no clock; time is an argument.
//!
//! [`decide`](decide::decide) looks at the [`State`](state::State) and an [`Input`](input::Input) and answers
//! with records (what is now true) and effects (what the edge must do). [`apply`](apply::apply) folds
//! records into the state, for running, resuming, the screen, headless output and replay alike.

pub mod apply;
pub mod breaker;
pub mod decide;
pub mod effect;
pub mod exit;
pub mod failure;
pub mod gate;
pub mod guards;
pub mod input;
pub mod judge;
pub mod limits;
pub mod loop_context;
pub mod phase_match;
pub mod preview;
pub mod prompt;
pub mod report;
pub mod review;
pub mod state;
pub mod step;
pub mod steps;
pub mod summary;
pub mod telling;
pub mod turn_outcome;
