//! Turns that no message of ours began: after a task of Claude's in the background has ended, and at somebody else's
//! word. When an iteration is over although such turns may come.
//!
//! **Subagents are waited for, not put into the foreground.** From some version after 2.1.197 on, Claude starts them in the
//! background: its own turn ends before they do, and another follows when they have ended. The other way would have been
//! to change the call (`updatedInput.run_in_background: false`, tried on 2.1.197 and 2.1.330: both obey). It was not taken:
//! the person would see and allow another call than the one that runs; it does nothing for workflows, for a subagent that
//! is written to later and for commands, so waiting is needed all the same; and 2.1.197 starts them in the background,
//! too, when the model says so. Waiting covers all of these with one rule, on both versions (`domain::stream::background`).
//!
//! - While a subagent works, nothing that Claude says is its last word: no claim is taken and stdin stays open.
//! - A command in the background may be a server and never end. A claim does not wait for it. Where Claude has made
//!   none, it may be waiting for its tests: it has until the idle timer to be told of their end, then it is asked.
//! - What is stuck is ended by the timers that there are: silence by the idle one, everything by the iteration's.

use super::Draft;
use crate::domain::background::{BackgroundTask, has_agent};
use crate::domain::note::NoteStage;
use crate::domain::record::{ForeignTurn, Record};
use crate::domain::turn::Origin;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::state::Stage;

impl Draft<'_> {
    pub(super) fn background_changed(&mut self, n: u32, tasks: Vec<BackgroundTask>) {
        if !matches!(self.state.stage, Stage::Running | Stage::Closing) {
            return;
        }
        self.record(Record::BackgroundChanged { n, tasks });
        // The turn that follows the last of them may not come: one that was ended has nothing to say.
        if self.state.stage == Stage::Running && self.awaits_a_turn() {
            self.arm(Timer::PostResult(n));
        }
    }

    /// A subagent works, so that Claude has not said its last word.
    pub(super) fn has_subagents(&self) -> bool {
        self.open(|open| has_agent(&open.background))
    }

    /// Nothing is under way, and the turn that was to come has not begun.
    pub(super) fn awaits_a_turn(&self) -> bool {
        self.open(|open| open.answered && !open.asked_for_block && open.background.is_empty())
    }

    /// Only commands work in the background, and Claude itself does nothing.
    pub(super) fn waits_for_commands(&self) -> bool {
        self.open(|open| open.answered && !open.background.is_empty() && !has_agent(&open.background))
    }

    /// Claude has ended a turn of this origin without a claim, and another turn is on its way.
    pub(super) fn more_is_to_come(&self, origin: Origin) -> bool {
        let asked = origin == Origin::Task && self.open(|open| open.asked_for_block);
        asked || self.open(|open| !open.followed_up && !open.background.is_empty())
    }

    /// Somebody else speaks to our Claude: that is stopped at once, and told.
    pub(super) fn foreign_turn(&mut self, n: u32, wakes: bool) {
        // Once its stdin is closed it hears nothing any more.
        let hears = self.state.stage == Stage::Running || self.awaits_follow_up();
        if matches!(self.state.stage, Stage::Running | Stage::Closing) {
            self.record(Record::ForeignTurn(ForeignTurn { n, wakes }));
            self.effect(if hears { Effect::Interrupt { n } } else { Effect::StopAgent { n } });
        }
    }

    /// The turn with somebody else's words in it is over. What it came to says nothing about the work; where no answer
    /// of ours is under way, Claude is asked how far it is.
    pub(super) fn foreign_turn_ended(&mut self, n: u32) {
        if self.open(|open| open.asked_for_block) {
            return;
        }
        if self.state.notes.at(NoteStage::Sent).next().is_some() {
            return self.arm(Timer::PostResult(n));
        }
        self.ask_for_block(n, "foreign_turn");
    }
}
