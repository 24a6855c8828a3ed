//! A tool that ran has a stored verdict, or the gate is broken.

use super::Draft;
use crate::domain::breaker::Circuit;
use crate::domain::outcome::IterationOutcome;
use crate::domain::record::{Level, Record};
use crate::orchestrator::breaker::Move;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::{Failure, Stage};

impl Draft<'_> {
    /// A tool ran: without a stored verdict everything is killed, and nothing runs again before
    /// somebody has looked. `unasked`: Claude's own configuration let it run, says Claude; it says so of a plan file, too,
    /// that the gate let it write (measured, 2.1.330), so that alone is no fault.
    pub(super) fn tool_ran(&mut self, n: u32, id: &str, unasked: bool) {
        if !matches!(self.state.stage, Stage::Spawning | Stage::Running | Stage::Closing) {
            return;
        }
        if self.open(|open| open.foreign) && !unasked {
            // A call that our interrupt overtook comes back as one that was tried; `tool_finished` knows whether it ran.
            return;
        }
        if !self.state.gate.knows(id) {
            self.tripwire(n, format!("a tool ran without a verdict from the gate (call {id})"));
        } else if unasked && self.state.gate.holds_back(id) {
            let what = format!("Claude's own configuration let a tool run that the gate had not allowed (call {id})");
            self.tripwire(n, what);
        }
    }

    /// A call came back. One that was refused, or that waits, comes back as an error (so did all of 130 that were
    /// recorded with the real CLI): else it ran.
    pub(super) fn tool_finished(&mut self, n: u32, id: String, is_error: bool) {
        let at_work = matches!(self.state.stage, Stage::Spawning | Stage::Running | Stage::Closing);
        let unknown = self.open(|open| open.foreign) && !self.state.gate.knows(&id);
        if !is_error && at_work && (unknown || self.state.gate.holds_back(&id)) {
            self.tripwire(n, format!("a tool ran that the gate had not allowed (call {id})"));
        } else if self.open(|open| open.tools.contains(&id)) {
            self.record(Record::ToolFinished { n, tool_use_id: id, is_error });
            self.defers_again();
        }
    }

    fn tripwire(&mut self, n: u32, reason: String) {
        self.notice(
            Level::Error,
            format!(
                "{reason}: Claude and all its processes were killed. Check what it did; the likely cause is a hook, \
                a flag or a Claude version that bypasses the gate"
            ),
        );
        if self.state.breaker.state != Circuit::Open {
            self.move_breaker(n, Move { to: Circuit::Open, reason: reason.clone() });
        }
        self.void_all("stopping Claude");
        self.fail(n, Failure { error: "ungated".to_owned(), message: reason, status: None }, None);
        self.record(Record::StopAsked { n, outcome: IterationOutcome::Failed });
        self.effect(Effect::KillAgent { n });
    }
}
