//! Moving the circuit breaker: at the start of a run, and after each iteration.

use super::Draft;
use crate::domain::breaker::{Circuit, CounterMoved, StateMoved};
use crate::domain::record::Record;
use crate::orchestrator::breaker::{self, Move, Progress, Recovery};

impl Draft<'_> {
    /// At a start: an open breaker may have cooled down. One that has not ends the run before it calls Claude.
    pub(super) fn recover(&mut self) {
        if let Recovery::Moves(to) = breaker::recover(&self.state.breaker, &self.state.settings.breaker, self.now) {
            self.move_breaker(0, to);
        }
    }

    /// Why nothing more may run; `None`: it may.
    pub(super) fn halted(&self) -> Option<String> {
        let ticket = self.state.ticket.as_ref().map(ToString::to_string).unwrap_or_default();
        breaker::refusal(&self.state.breaker, &self.state.settings.breaker, self.now, &ticket)
    }

    /// After an iteration that tells the breaker something.
    pub(super) fn judge_breaker(&mut self, n: u32, progress: Progress, counted: Vec<CounterMoved>) {
        for moved in counted {
            self.record(Record::BreakerCounted(moved));
        }
        if let Some(to) = breaker::next(&self.state.breaker, &self.state.settings.breaker, progress) {
            self.move_breaker(n, to);
        }
    }

    pub(super) fn move_breaker(&mut self, n: u32, Move { to, reason }: Move) {
        let from = self.state.breaker.state;
        self.record(Record::BreakerMoved(StateMoved { n, from, to, reason }));
        if to == Circuit::Open {
            self.reset_session("the circuit breaker opened");
        }
    }
}
