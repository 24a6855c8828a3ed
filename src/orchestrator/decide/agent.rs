//! Following Claude through an iteration: from the spawned process to its end.

use super::Step;
use crate::base::time::Timestamp;
use crate::domain::claim::parse::{Reading, parse};
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::record::{Level, Record};
use crate::domain::stream::api_error;
use crate::domain::turn::TurnResult;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::failure;
use crate::orchestrator::state::{Failure, NoteStage, Stage};
use std::time::Duration;

/// Longest message of a failure that is kept, in bytes.
const MESSAGE: usize = 2_000;

impl Step {
    pub(super) fn agent_spawned(&mut self, n: u32, pid: u32) {
        if self.state.stage != Stage::Spawning {
            return;
        }
        self.record(Record::AgentSpawned { n, pid });
        self.arm(Timer::Iteration(n), self.state.settings.iteration_timeout);
        self.arm(Timer::Idle(n), self.state.settings.idle_timeout);
    }

    pub(super) fn arm(&mut self, timer: Timer, seconds: u64) {
        self.effect(Effect::Arm { timer, at: self.now.plus(Duration::from_secs(seconds)) });
    }

    pub(super) fn agent_ready(&mut self, n: u32, session: String, model: String, version: String) {
        // Every turn of a process begins with this record; the first is news.
        if self.open(|open| open.ready) && self.state.session.as_ref() == Some(&session) {
            return;
        }
        self.record(Record::AgentReady { n, session, model, version });
        let in_prompt = self.state.notes.iter().filter(|note| note.stage == NoteStage::InPrompt);
        let ids: Vec<String> = in_prompt.map(|note| note.id.clone()).collect();
        for id in ids {
            self.record(Record::NoteDelivered { id });
        }
        self.send_notes();
    }

    /// Hands queued notes to a Claude that is at work.
    pub(super) fn send_notes(&mut self) {
        if self.state.stage != Stage::Running || !self.open(|open| open.ready) {
            return;
        }
        let queued = self.state.notes.iter().filter(|note| note.stage == NoteStage::Queued);
        let queued: Vec<(String, String)> = queued.map(|note| (note.id.clone(), note.text.clone())).collect();
        for (id, text) in queued {
            self.record(Record::NoteSent { id: id.clone() });
            self.effect(Effect::SendNote { id, text });
        }
    }

    pub(super) fn api_retried(&mut self, n: u32, attempt: u32, max_retries: u32, delay_ms: u64, error: String) {
        self.record(Record::ApiRetried { n, attempt, max_retries, delay_ms, error: error.clone() });
        // A login that failed will fail again; the CLI would try for minutes.
        let failed = Failure { error, message: format!("retry {attempt} of {max_retries}"), status: None };
        let hopeless = failure::fatal(&failed).is_some_and(|(reason, _)| reason == ExitReason::Error);
        if hopeless && self.state.stage == Stage::Running {
            let Failure { error, message, .. } = failed;
            self.record(Record::TurnFailed { n, error, message, status: None });
            self.cut(n, IterationOutcome::Failed);
        }
    }

    pub(super) fn turn_finished(&mut self, n: u32, result: &TurnResult) {
        self.record(Record::TurnEnded {
            n,
            cost_usd: result.cost_usd,
            usage: result.usage,
            context: result.context,
            context_window: result.context_window,
            denials: result.denials.clone(),
        });
        if self.state.stage != Stage::Running {
            // Cut off, or a turn of its own after the claim (a background task that ended).
            return;
        }
        if result.is_error {
            return self.turn_failed(n, result);
        }
        // A note that came too late for this turn begins another one: its answer is the one that counts.
        if self.state.notes.iter().any(|note| note.stage == NoteStage::Sent) {
            return self.arm(Timer::PostResult(n), self.state.settings.post_result_grace);
        }
        match parse(&result.text) {
            Reading { claim: Some(claim), warnings, .. } => {
                if !warnings.is_empty() {
                    self.notice(Level::Info, format!("status block read with care: {}", warnings.join(", ")));
                }
                self.record(Record::ClaimMade { n, claim });
                self.close(n);
            }
            Reading { reason, .. } => self.ask_for_block(n, reason.map_or("missing", |reason| reason.word())),
        }
    }

    /// The session cannot be gone on with: a fresh one, in the same iteration. Nothing was called yet.
    pub(super) fn session_unknown(&mut self, n: u32) {
        if self.state.stage == Stage::Stopping {
            return self.agent_exited(n, None, None, 0, "");
        }
        if self.state.stage != Stage::Spawning || !self.lose_session(n) {
            return self.could_not_begin(n, "Claude asked for a session that nobody named".to_owned());
        }
        self.spawn(n);
    }

    /// Forgets the session that this iteration resumed. `false`: it resumed none.
    fn lose_session(&mut self, n: u32) -> bool {
        let resumed = self.state.open_iteration().and_then(|open| open.resumed.clone());
        let Some(session) = resumed else { return false };
        self.notice(Level::Warn, "Claude no longer knows the session; a fresh one is opened");
        self.record(Record::SessionLost { n, session });
        true
    }

    fn turn_failed(&mut self, n: u32, result: &TurnResult) {
        if api_error::is_unknown_session(&result.message) && self.lose_session(n) {
            return self.close(n);
        }
        self.record(Record::TurnFailed {
            n,
            error: result.error_kind.clone().unwrap_or_else(|| result.subtype.clone()),
            message: crate::base::text::tail(&result.message, MESSAGE).to_owned(),
            status: result.api_error_status,
        });
        self.close(n);
    }

    fn close(&mut self, n: u32) {
        self.effect(Effect::CloseInput { n });
        self.arm(Timer::PostResult(n), self.state.settings.post_result_grace);
    }

    pub(super) fn agent_exited(&mut self, n: u32, code: Option<i32>, signal: Option<i32>, swept: u32, stderr: &str) {
        if !self.state.agent_alive() {
            return;
        }
        if matches!(self.state.stage, Stage::Running | Stage::Spawning) && !self.open(|open| open.respawn) {
            let how = match (code, signal) {
                (_, Some(signal)) => format!("by signal {signal}"),
                (Some(code), _) => format!("with exit code {code}"),
                (None, None) => "without an exit code".to_owned(),
            };
            let said = stderr.trim();
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            self.record(Record::TurnFailed {
                n,
                error: failure::EXITED.to_owned(),
                message: crate::base::text::tail(&format!("claude ended {how} and gave no result{said}"), MESSAGE)
                    .to_owned(),
                status: None,
            });
        }
        self.void_all("Claude has ended");
        let respawn = self.open(|open| open.respawn);
        let cost_usd = self.state.open_iteration().map_or(0.0, |open| open.process_cost_usd);
        self.record(Record::AgentExited { n, code, signal, swept, cost_usd });
        if swept > 0 {
            self.notice(Level::Warn, format!("{swept} processes that Claude left behind were ended"));
        }
        if respawn {
            self.spawn(n);
        } else {
            self.compare(n);
        }
    }

    pub(super) fn timer_fired(&mut self, timer: Timer, last_byte: Timestamp) {
        let (Timer::Iteration(n) | Timer::Idle(n) | Timer::PostResult(n) | Timer::Approval(n)) = timer;
        if !self.open(|open| open.n == n) || self.waits_for_person(timer) {
            return;
        }
        match timer {
            Timer::Iteration(_) if matches!(self.state.stage, Stage::Spawning | Stage::Running) => {
                self.cut(n, IterationOutcome::TimedOut);
            }
            Timer::Idle(_) if self.state.stage == Stage::Running => self.idle(n, last_byte),
            Timer::PostResult(_) if self.state.stage == Stage::Running => self.note_ignored(n),
            Timer::PostResult(_) if self.state.stage == Stage::Closing => {
                self.notice(Level::Warn, "Claude gave its result but did not end; it is being ended");
                self.effect(Effect::StopAgent { n });
            }
            _ => {}
        }
    }

    /// The turn is over and Claude took no notice of a note: it is kept for the next prompt, and the status block
    /// asked for again, since the one of the turn may not be the last word.
    fn note_ignored(&mut self, n: u32) {
        let sent = self.state.notes.iter().filter(|note| note.stage == NoteStage::Sent);
        let ids: Vec<String> = sent.map(|note| note.id.clone()).collect();
        if ids.is_empty() {
            return;
        }
        for id in ids {
            self.record(Record::NoteReturned { id });
        }
        self.ask_for_block(n, "late_note");
    }

    /// Asks for the status block only, once an iteration; then closes.
    fn ask_for_block(&mut self, n: u32, reason: &str) {
        self.record(Record::ClaimMissing { n, reason: reason.to_owned() });
        if self.open(|open| open.followed_up) {
            return self.close(n);
        }
        self.record(Record::CallCounted { n });
        self.record(Record::FollowUpSent { n });
        self.effect(Effect::SendFollowUp { n });
    }

    /// No byte for too long, unless a tool is at work: then the iteration's own timer is the bound.
    fn idle(&mut self, n: u32, last_byte: Timestamp) {
        let limit = Duration::from_secs(self.state.settings.idle_timeout);
        let tool_runs = self.open(|open| !open.tools.is_empty());
        if tool_runs {
            self.effect(Effect::Arm { timer: Timer::Idle(n), at: self.now.plus(limit) });
        } else if self.now.since(last_byte) < limit {
            self.effect(Effect::Arm { timer: Timer::Idle(n), at: last_byte.plus(limit) });
        } else {
            self.cut(n, IterationOutcome::Idle);
        }
    }

    /// Cuts the iteration off: Claude is ended by the ladder.
    pub(super) fn cut(&mut self, n: u32, outcome: IterationOutcome) {
        self.void_all("Claude is being ended");
        self.record(Record::StopAsked { n, outcome });
        self.effect(Effect::StopAgent { n });
    }

    pub(super) fn could_not_begin(&mut self, n: u32, message: String) {
        if self.state.stage == Stage::Stopping {
            // It was not wanted any more anyway.
            return self.agent_exited(n, None, None, 0, &message);
        }
        let error = failure::PROTOCOL.to_owned();
        self.record(Record::TurnFailed { n, error, message: message.clone(), status: None });
        self.end_iteration(IterationOutcome::Failed);
        self.end(ExitReason::Error, message);
    }
}
