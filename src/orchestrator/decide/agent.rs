//! Following Claude through an iteration: from the spawned process to its end.

use super::Draft;
use crate::base::text::clean_line;
use crate::domain::approval::OF_ANSWER;
use crate::domain::limits::admission::{Asker, Purpose};
use crate::domain::note::NoteStage;
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::record::{AgentReady, ApiRetried, Level, Record, SessionLost, TurnEnded, TurnFailed};
use crate::domain::turn::{Origin, TurnResult};
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::failure;
use crate::orchestrator::state::{Failure, Stage};
use crate::orchestrator::step::{Answer, Step};
use crate::orchestrator::turn_outcome::{Ending, Exit, TurnOutcome, turn_outcome};

/// Columns of a message that nobody has read, as it is told at the end.
const UNDELIVERED: usize = 200;

impl Draft<'_> {
    /// Its time counts from here: finding out which version it is may take longer, and has a bound of its own.
    pub(super) fn agent_starting(&mut self, n: u32) {
        if self.state.stage == Stage::Spawning {
            self.arm(Timer::Start(n));
        }
    }

    pub(super) fn agent_spawned(&mut self, n: u32, pid: u32) {
        if self.state.stage != Stage::Spawning {
            return;
        }
        self.record(Record::AgentSpawned { n, pid });
        self.arm(Timer::Iteration(n));
        self.arm(Timer::FirstByte(n));
        self.arm(Timer::Idle(n));
    }

    pub(super) fn agent_ready(&mut self, ready: AgentReady) {
        if self.state.stage == Stage::Running && self.open(|open| open.ready && open.answered) {
            self.record(Record::TurnBegan { n: ready.n });
        }
        // Every turn of a process begins with this record; the first is news.
        if self.open(|open| open.ready) && self.own_session().is_some_and(|kept| kept.id == ready.session) {
            return;
        }
        // After its end, the turn of a background task does not bring back a session that was given up.
        if self.open(|open| open.ready) && self.state.stage != Stage::Running {
            return;
        }
        self.record(Record::AgentReady(ready));
        let in_prompt = self.state.notes.at(NoteStage::InPrompt);
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
        for (id, text) in self.step().map_or_else(|| self.state.notes.queued(), |step| self.notes_for(step)) {
            self.record(Record::NoteSent { id: id.clone() });
            self.effect(Effect::SendNote { id, text });
        }
    }

    /// The queued notes that are for a step: an answer is for the one that asked, which is the next.
    pub(super) fn notes_for(&self, step: &Step) -> Vec<(String, String)> {
        let mut queued = self.state.notes.queued();
        queued.retain(|(id, _)| step.takes_messages || id.starts_with(OF_ANSWER));
        queued
    }

    /// At the end of a run: what the person wrote and no Claude that works has read.
    pub(super) fn tell_undelivered(&mut self, reason: ExitReason) {
        let queued = self.state.notes.queued().into_iter();
        let said: Vec<String> = queued.filter(|(id, _)| !id.starts_with(OF_ANSWER)).map(|(_, text)| text).collect();
        if self.state.chat.is_some() {
            return;
        }
        for text in said {
            let text = clean_line(&text, UNDELIVERED);
            self.notice(
                Level::Warn,
                if reason.is_resumable() {
                    format!("message not delivered yet: “{text}”; Claude gets it when the run is resumed")
                } else {
                    format!("message not delivered: “{text}”; the run ended before Claude worked again")
                },
            );
        }
    }

    pub(super) fn api_retried(&mut self, retried: ApiRetried) {
        let ApiRetried { n, attempt, max_retries, status, .. } = retried;
        let error = retried.error.clone();
        self.record(Record::ApiRetried(retried));
        // A login that failed will fail again; the CLI would try for minutes.
        let failed = Failure { error, message: format!("retry {attempt} of {max_retries}"), status };
        let hopeless = failure::fatal(&failed).is_some_and(|(reason, _)| reason == ExitReason::Error);
        if hopeless && self.state.stage == Stage::Running {
            self.fail(n, failed, None);
            self.cut(n, IterationOutcome::Failed);
        }
    }

    pub(super) fn turn_finished(&mut self, n: u32, result: &TurnResult) {
        self.record(Record::TurnEnded(TurnEnded {
            n,
            cost_usd: result.cost_usd,
            usage: result.usage,
            context: result.context,
            context_window: result.context_window,
            denials: result.denials.clone(),
            origin: result.origin,
        }));
        if self.state.stage != Stage::Running {
            // Cut off, or a turn of its own after the claim (a background task that ended).
            return;
        }
        if result.origin == Origin::Foreign {
            return self.foreign_turn_ended(n);
        }
        match turn_outcome(Ending { result: Some(result), ..Ending::default() }) {
            TurnOutcome::UnknownSession(_) if self.lose_session(n) => return self.close(n),
            TurnOutcome::UnknownSession(failure) | TurnOutcome::Failed(failure) => {
                self.fail(n, failure, Some(result));
                return self.close(n);
            }
            TurnOutcome::Answered | TurnOutcome::Running | TurnOutcome::Cut(_) => {}
        }
        if self.state.chat.is_some() {
            return self.chat_turn_ended(n, result);
        }
        // A note that came too late for this turn begins another one: its answer is the one that counts.
        if self.state.notes.at(NoteStage::Sent).next().is_some() {
            return self.arm(Timer::PostResult(n));
        }
        // What is not its last word says nothing of how the iteration went.
        if self.has_subagents() {
            return;
        }
        let Some(step) = self.step() else { return self.close(n) };
        let answer = (step.read)(&self.state, &result.text);
        let claim = if let Answer::Claim { claim, .. } = &answer { Some(claim) } else { None };
        self.weigh(n, result, claim);
        match answer {
            Answer::Claim { claim, about, warnings } => {
                if !warnings.is_empty() {
                    self.notice(Level::Info, format!("status block: {}", warnings.join(", ").replace('_', " ")));
                }
                self.record(Record::ClaimMade { n, claim, about: Some(about) });
                self.close(n);
            }
            Answer::Critique(critique) => {
                self.record(Record::CritiqueMade { n, critique });
                self.close(n);
            }
            Answer::Evaluation(evaluation) => {
                self.record(Record::EvaluationMade { n, evaluation });
                self.close(n);
            }
            Answer::Draft(draft) => {
                self.record(Record::DraftMade { n, draft });
                self.close(n);
            }
            Answer::Unreadable(_) if self.more_is_to_come(result.origin) => {}
            Answer::Unreadable(why) => self.ask_for_block(n, why),
        }
    }

    /// The session cannot be resumed: a fresh one, in the same iteration. Nothing was called yet.
    pub(super) fn session_unknown(&mut self, n: u32) {
        if self.state.stage == Stage::Stopping {
            return self.agent_exited(n, None, None, 0, "");
        }
        if self.state.stage != Stage::Spawning || !self.lose_session(n) {
            return self.could_not_begin(
                n,
                "Claude reported an unknown session, although a fresh one was started; run `programmator doctor`"
                    .to_owned(),
            );
        }
        self.spawn(n);
    }

    /// Forgets the session that this iteration resumed. `false`: it resumed none.
    fn lose_session(&mut self, n: u32) -> bool {
        let resumed = self.state.open_iteration().and_then(|open| open.resumed.clone());
        let Some(session) = resumed else { return false };
        self.notice(Level::Warn, "Claude cannot resume the session; starting a fresh one");
        self.record(Record::SessionLost(SessionLost { n, session }));
        true
    }

    /// A turn or its process failed. Its session is not resumed: what is broken in it would break the next. A
    /// limit breaks nothing.
    pub(super) fn fail(&mut self, n: u32, Failure { error, message, status }: Failure, result: Option<&TurnResult>) {
        let why = format!("the turn failed ({error})");
        self.record(Record::TurnFailed(TurnFailed { n, error, message, status }));
        self.note_limit(result.and_then(|result| result.limit.as_ref()), result.and_then(|result| result.resets_at));
        if self.open(|open| open.limited.is_none()) {
            self.reset_session(why);
        }
    }

    pub(super) fn close(&mut self, n: u32) {
        self.effect(Effect::CloseInput { n });
        self.arm(Timer::PostResult(n));
    }

    pub(super) fn agent_exited(&mut self, n: u32, code: Option<i32>, signal: Option<i32>, swept: u32, stderr: &str) {
        if !self.state.agent_alive() {
            return;
        }
        if matches!(self.state.stage, Stage::Running | Stage::Spawning) && !self.open(|open| open.respawn) {
            let exit = Some(Exit { code, signal, stderr });
            if let TurnOutcome::Failed(failure) = turn_outcome(Ending { exit, ..Ending::default() }) {
                self.fail(n, failure, None);
            }
        }
        self.void_waiting("Claude has exited");
        let respawn = self.open(|open| open.respawn);
        let cost_usd = self.state.open_iteration().map_or(0.0, |open| open.process_cost_usd);
        self.record(Record::AgentExited { n, code, signal, swept, cost_usd });
        if swept > 0 {
            self.notice(Level::Warn, format!("leftover Claude processes terminated: {swept}"));
        }
        if respawn {
            self.spawn(n);
        } else {
            self.compare(n);
        }
    }

    /// Asks for the status block only, once an iteration; then closes.
    pub(super) fn ask_for_block(&mut self, n: u32, reason: &str) {
        if self.state.chat.is_some() {
            return self.chat_is_silent(n);
        }
        self.record(Record::ClaimMissing { n, reason: reason.to_owned() });
        if self.open(|open| open.followed_up) {
            return self.close(n);
        }
        // An answer that never comes must not keep Claude for ever.
        self.arm(Timer::PostResult(n));
        self.ask_for_call(Purpose::FollowUp, Asker::Program);
    }

    pub(super) fn could_not_begin(&mut self, n: u32, message: String) {
        if self.state.stage == Stage::Stopping {
            // It was not wanted any more anyway.
            return self.agent_exited(n, None, None, 0, &message);
        }
        let error = failure::PROTOCOL.to_owned();
        self.record(Record::TurnFailed(TurnFailed { n, error, message: message.clone(), status: None }));
        self.end_iteration(IterationOutcome::Failed);
        self.end(ExitReason::Error, message);
    }
}
