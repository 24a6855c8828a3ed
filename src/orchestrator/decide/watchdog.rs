//! The watchdog: five timers over an iteration. What each means and what cures it is `domain::watchdog`'s.

use super::Draft;
use crate::base::time::Timestamp;
use crate::domain::messages::outcome_words;
use crate::domain::note::NoteStage;
use crate::domain::outcome::IterationOutcome;
use crate::domain::record::Record;
use crate::domain::watchdog::{Watch, WatchdogFired};
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::state::Stage;
use std::time::Duration;

impl Draft<'_> {
    /// Sets a timer; one of the same kind that was set before counts no more.
    pub(super) fn arm(&mut self, timer: Timer) {
        if let Some((_, watch)) = timer.watched() {
            self.effect(Effect::Arm { timer, at: self.now.plus(self.limit(watch)) });
        }
    }

    fn limit(&self, watch: Watch) -> Duration {
        Duration::from_secs(self.state.settings.limit_of(watch))
    }

    pub(super) fn timer_fired(&mut self, timer: Timer, last_byte: Timestamp) {
        if self.waits_for_person(timer, last_byte) {
            return;
        }
        let Some((n, _)) = timer.watched().filter(|(n, _)| self.open(|open| open.n == *n)) else { return };
        match (timer, &self.state.stage) {
            (Timer::Start(_), Stage::Spawning) => self.fire(n, Watch::Start),
            (Timer::FirstByte(_), Stage::Running) if self.unanswered(last_byte) => self.fire(n, Watch::FirstByte),
            (Timer::Iteration(_), Stage::Running) if self.chat_waits_for_commands() => self.no_more_turns(n),
            (Timer::Iteration(_), Stage::Spawning | Stage::Running) => self.fire(n, Watch::Total),
            // No time is left for the question that is about to be asked.
            (Timer::Iteration(_), Stage::Closing) if self.awaits_follow_up() => self.fire(n, Watch::Total),
            (Timer::Idle(_), Stage::Running) => self.idle(n, last_byte),
            // Claude may still take a late note up, or tell of what has ended: that is no end that it has missed.
            (Timer::PostResult(_), Stage::Running) if self.awaits_a_turn() => self.no_more_turns(n),
            (Timer::PostResult(_), Stage::Closing) => self.fire(n, Watch::PostResult),
            _ => {}
        }
    }

    /// No byte of an answer came since the last prompt. A clock that was set back behind the prompt cannot tell, so
    /// nobody is cut off by it: silence is the idle timer's, and that has a clock of its own.
    fn unanswered(&self, last_byte: Timestamp) -> bool {
        let late = |prompted: Timestamp| last_byte <= prompted && prompted <= self.now;
        self.open(|open| open.tools.is_empty() && open.prompted.is_some_and(late))
    }

    /// No byte for too long, unless a tool is at work: then the iteration's own timer is the bound.
    fn idle(&mut self, n: u32, last_byte: Timestamp) {
        let limit = self.limit(Watch::Idle);
        let timer = Timer::Idle(n);
        if self.open(|open| !open.tools.is_empty()) {
            self.effect(Effect::Arm { timer, at: self.now.plus(limit) });
        } else if self.now.since(last_byte) < limit {
            self.effect(Effect::Arm { timer, at: last_byte.plus(limit) });
        } else if self.waits_for_commands() {
            self.no_more_turns(n);
        } else {
            self.fire(n, Watch::Idle);
        }
    }

    /// A timer has run out: it is told, and Claude is ended by the ladder.
    fn fire(&mut self, n: u32, watch: Watch) {
        let seconds = self.state.settings.limit_of(watch);
        self.record(Record::WatchdogFired(WatchdogFired { n, timer: watch, seconds }));
        match watch.outcome() {
            Some(outcome) => self.cut(n, outcome),
            None => self.effect(Effect::StopAgent { n }),
        }
    }

    /// The turn is over and the one that was waited for did not come. A note that Claude took no notice of is kept for
    /// the next prompt; the status block is asked for, since the one of the turn may not be the last word.
    fn no_more_turns(&mut self, n: u32) {
        let sent = self.state.notes.at(NoteStage::Sent);
        let ids: Vec<String> = sent.map(|note| note.id.clone()).collect();
        let why = if ids.is_empty() { "background" } else { "late_note" };
        for id in ids {
            self.record(Record::NoteReturned { id });
        }
        self.ask_for_block(n, why);
    }

    /// Cuts the iteration off: Claude is ended by the ladder.
    pub(super) fn cut(&mut self, n: u32, outcome: IterationOutcome) {
        self.void_waiting(&format!("the iteration ends ({})", outcome_words(outcome)));
        self.record(Record::StopAsked { n, outcome });
        self.effect(Effect::StopAgent { n });
    }
}

#[cfg(test)]
mod tests;
