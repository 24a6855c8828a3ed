//! A tool call's way through the gate: let through, refused, or put to the person, and what becomes of it then.
//!
//! Every verdict and every answer is a record before Claude hears of it. A question is answered exactly once: by
//! the person, by the time, by an earlier answer, or by nobody being there; else it is void.

use super::Draft;
use crate::base::time::Timestamp;
use crate::domain::answerer::{Answerer, FrontEnd};
use crate::domain::approval::{
    Again, Answer, Answered, AnsweredBy, Approval, ApprovalKind, NO, NO_ANSWER, Presence, QuestionId, Ruling, Scope,
    not_applied,
};
use crate::domain::record::{Level, Record};
use crate::domain::tool_call::{ToolCall, Via};
use crate::domain::verdict::Verdict;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::state::Stage;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a question without a time of its own waits for a screen that nobody touches.
pub(super) const UNATTENDED: Duration = Duration::from_secs(3_600);

/// What Claude is told when there is nobody to ask.
const NOBODY: &str = "nobody is available to approve this, so it was denied. Do not retry it in another form. \
Continue without it: find a way that needs no approval, or decide yourself and state the assumption in your \
summary. If you cannot continue without it, end with the status BLOCKED and say what you need.";

/// What Claude is told when it asks about a plan that nobody can read.
const NO_PLAN: &str = "no plan was written, so there is nothing to approve. In plan mode write the plan into the plan file, \
                       then ask again";

impl Draft<'_> {
    pub(super) fn judged(&mut self, n: u32, call: ToolCall, mut ruling: Ruling, presence: Presence) {
        if self.state.stage != Stage::Running || !self.open(|open| open.n == n) {
            ruling = ruling.blocked("programmator", "the run is being stopped");
        }
        if self.open(|open| open.foreign) {
            ruling = ruling.blocked("programmator", "another program started this turn, so no tool runs in it");
        }
        if ApprovalKind::always(&call.tool) == Some(ApprovalKind::Plan) && !has_plan(&call.input) {
            ruling = ruling.blocked("programmator", NO_PLAN);
        }
        if ApprovalKind::always(&call.tool).is_some() && ruling.verdict < Verdict::Ask {
            let (rule, reason) = ("programmator".to_owned(), "a person has to answer it".to_owned());
            ruling = Ruling { verdict: Verdict::Ask, rule, reason, units: Vec::new(), ..ruling };
        }
        let asks = matches!(ruling.verdict, Verdict::Ask | Verdict::Passphrase);
        if asks && call.tool_use_id.is_empty() {
            ruling = ruling.blocked("programmator", "the call has no id, so nobody can be asked about it");
            return self.rule(n, call, &ruling);
        }
        if asks {
            self.ask(n, call, ruling, presence);
        } else {
            self.rule(n, call, &ruling);
        }
    }

    /// A call that needs nobody.
    fn rule(&mut self, n: u32, call: ToolCall, ruling: &Ruling) {
        let reason = ruling.words();
        // A call that was let through by the callback needs no second record when it is asked again.
        let known = call.request.via == Via::CanUseTool
            && ruling.verdict == Verdict::Allow
            && self.open(|open| open.tools.contains(&call.tool_use_id));
        if !known {
            self.record_verdict(n, &call.tool_use_id, &call.tool, ruling, call.cwd.as_deref());
        }
        self.effect(Effect::Answer { request: call.request, verdict: ruling.verdict, reason });
    }

    /// A call for the person: asked about once Claude can wait for the answer, which it can from `can_use_tool` on.
    fn ask(&mut self, n: u32, call: ToolCall, ruling: Ruling, presence: Presence) {
        let reason = ruling.words();
        if call.request.via == Via::Callback || !self.state.gate.asks(&call.tool_use_id) {
            self.record_verdict(n, &call.tool_use_id, &call.tool, &ruling, None);
        }
        let verdict = ruling.verdict;
        let approval = self.question(n, &call, ruling, presence);
        let by_itself = if self.state.gate.grants(&approval) {
            let input = approval.input.clone();
            Some((AnsweredBy::Ticket, Answer::Allow { input, scope: Scope::Once }, Verdict::Allow, reason.clone()))
        } else if presence == Presence::Nobody {
            let words = format!("{reason}; {NOBODY}");
            Some((AnsweredBy::Nobody, Answer::Deny { words: words.clone() }, Verdict::Block, words))
        } else {
            None
        };
        let pending = self.state.approvals.iter().any(|other| other.id.call == call.tool_use_id);
        match (by_itself, call.request.via) {
            (Some((by, answer, verdict, reason)), _) if !pending => {
                let id = approval.id.clone();
                self.record(Record::ApprovalAsked(approval));
                self.record(Record::ApprovalAnswered(Answered { id, answer, by }));
                self.effect(Effect::Answer { request: call.request, verdict, reason });
            }
            (_, Via::Callback) => self.effect(Effect::Answer { request: call.request, verdict, reason }),
            // Asked again while it waits: the edge answers the later request.
            (_, Via::CanUseTool) if pending => {}
            (_, Via::CanUseTool) => {
                self.record(Record::ApprovalAsked(approval));
                // Whether somebody was at the screen meanwhile is known when it fires.
                self.arm_expiry(Timestamp::default());
            }
        }
    }

    /// `cwd`: where no question follows that has it.
    pub(super) fn record_verdict(&mut self, n: u32, id: &str, tool: &str, ruling: &Ruling, cwd: Option<&str>) {
        let elsewhere = |cwd: &&str| Path::new(cwd) != self.state.workspace.directory();
        self.record(Record::ToolJudged {
            n,
            tool_use_id: id.to_owned(),
            tool: tool.to_owned(),
            target: ruling.target.clone(),
            verdict: ruling.verdict,
            reason: ruling.words(),
            // The question that follows has them whole.
            units: if matches!(ruling.verdict, Verdict::Allow | Verdict::Block) { ruling.parts() } else { Vec::new() },
            cwd: cwd.filter(elsewhere).map(str::to_owned),
        });
    }

    fn question(&self, n: u32, call: &ToolCall, ruling: Ruling, presence: Presence) -> Approval {
        let rules = if ruling.verdict == Verdict::Passphrase { ApprovalKind::Passphrase } else { ApprovalKind::Call };
        Approval {
            id: QuestionId::first(&call.tool_use_id),
            again: None,
            n,
            phase: self.state.own_text().map(str::to_owned),
            kind: ApprovalKind::always(&call.tool).unwrap_or(rules),
            tool: call.tool.clone(),
            input: call.input.clone(),
            edited_from: None,
            cwd: call.cwd.clone(),
            agent: call.agent.clone(),
            units: ruling.units,
            rule: ruling.rule,
            reason: ruling.reason,
            asked: self.now,
            expires: self.expiry().filter(|_| presence == Presence::Screen),
            provable: ruling.provable,
        }
    }

    /// When a question that is asked now is a denial by itself.
    pub(super) fn expiry(&self) -> Option<Timestamp> {
        self.state.settings.approval_timeout.map(|seconds| self.now.plus(Duration::from_secs(seconds)))
    }

    /// The question that the person decided about, as they saw it. Of one that was changed meanwhile they are told that
    /// it still waits; one that is not open any more needs no word.
    pub(super) fn decided_about(&mut self, id: &QuestionId) -> Option<Arc<Approval>> {
        let open = self.state.approvals.iter().find(|approval| approval.id.call == id.call)?.clone();
        if open.id == *id {
            return Some(open);
        }
        let why = open.again.map_or("the call was changed", Again::words);
        let text = format!("{}: {why}; asking again", not_applied(&open.tool));
        self.notice(Level::Warn, text);
        None
    }

    /// The person's answer. One to a question that is not open any more changes nothing.
    pub(super) fn answered(&mut self, id: &QuestionId, by: Answerer, answer: Answer) {
        let Some(approval) = self.decided_about(id) else { return self.too_late(id, by, answer) };
        if matches!(answer, Answer::Allow { .. }) && self.is_barred(&approval) {
            return;
        }
        // Only `unlocked` says yes to what needs the passphrase.
        if approval.kind == ApprovalKind::Passphrase && matches!(answer, Answer::Allow { .. }) {
            return;
        }
        let answer = match answer {
            Answer::Deny { words } if words.trim().is_empty() => {
                let words = if approval.kind == ApprovalKind::Question { NO_ANSWER } else { NO };
                Answer::Deny { words: words.to_owned() }
            }
            Answer::Deny { words } => Answer::Deny { words },
            Answer::Allow { input, scope } if input == approval.input => {
                Answer::Allow { input, scope: reach(&approval, scope) }
            }
            Answer::Allow { input, .. } => return self.edited(id, by, input),
        };
        let by = if by.at == FrontEnd::Lines { AnsweredBy::Unshown } else { AnsweredBy::Person(by) };
        self.close_question(id.clone(), answer, by);
    }

    /// The person has typed the right passphrase for this question.
    pub(super) fn unlocked(&mut self, id: &QuestionId, by: Answerer) {
        let Some(approval) = self.decided_about(id).filter(|approval| approval.kind == ApprovalKind::Passphrase) else {
            return;
        };
        if self.is_barred(&approval) {
            return;
        }
        let locked = approval.units.iter().filter(|unit| unit.verdict == Verdict::Passphrase);
        let rules = locked.map(|unit| unit.rule.clone()).collect();
        let input = approval.input.clone();
        self.close_question(id.clone(), Answer::Allow { input, scope: Scope::Once }, AnsweredBy::Person(by));
        self.effect(Effect::Unlock { rules });
    }

    /// A yes would let the call run by rules that hold no more: while the new ones cannot be used there is only a no. To
    /// Claude's own questions, which run nothing, there may be an answer.
    fn is_barred(&mut self, approval: &Approval) -> bool {
        let barred = approval.kind != ApprovalKind::Question && self.state.rules_trouble.is_some();
        if barred {
            let text =
                format!("{}: nothing can be approved while the policy has an error", not_applied(&approval.tool));
            self.notice(Level::Warn, text);
        }
        barred
    }

    pub(super) fn close_question(&mut self, id: QuestionId, answer: Answer, by: AnsweredBy) {
        let call = id.call.clone();
        let kept = self.state.approvals.iter().find(|approval| self.state.gate.kept && approval.id == id).cloned();
        self.record(Record::ApprovalAnswered(Answered { id, answer: answer.clone(), by }));
        if let Some(approval) = kept {
            return self.tell_later(&approval, &answer);
        }
        self.effect(Effect::ResolveApproval { id: call, answer });
        self.go_on_timing();
    }

    /// A timer that says nothing because of the person: an overdue question is a denial, and waiting for an answer
    /// is neither work nor silence. `seen`: of a question's timer, when the person last touched the screen. `true`:
    /// the timer is done with.
    pub(super) fn waits_for_person(&mut self, timer: Timer, seen: Timestamp) -> bool {
        let (Timer::Iteration(n) | Timer::Idle(n) | Timer::Approval(n)) = timer else { return false };
        let is_kept = matches!(timer, Timer::Approval(_)) && self.state.gate.kept;
        if !is_kept && !self.open(|open| open.n == n) {
            return false;
        }
        let waiting = !self.state.approvals.is_empty();
        match timer {
            Timer::Approval(_) => {
                self.expire(seen);
                true
            }
            // Armed again with the last answer.
            Timer::Iteration(_) | Timer::Idle(_) if waiting => true,
            Timer::Iteration(n) => {
                let later = self.deadline().filter(|deadline| *deadline > self.now);
                if let Some(at) = later {
                    self.effect(Effect::Arm { timer: Timer::Iteration(n), at });
                }
                later.is_some()
            }
            _ => false,
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.state.gate.deadline(Duration::from_secs(self.state.settings.iteration_timeout))
    }

    /// What Claude and we did not do meanwhile is no time of the phase's.
    pub(super) fn storage_worked(&mut self, waited: Duration) {
        if self.state.is_open() {
            let ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
            self.record(Record::StorageWaited { ms });
            self.go_on_timing();
        }
    }

    /// Nobody is waited for: Claude's time runs again, from where it stood.
    pub(super) fn go_on_timing(&mut self) {
        let Some(n) = self.state.open_iteration().map(|open| open.n) else { return };
        if self.state.stage != Stage::Running || !self.state.approvals.is_empty() {
            return;
        }
        if let Some(at) = self.deadline() {
            self.effect(Effect::Arm { timer: Timer::Iteration(n), at });
        }
        self.arm(Timer::Idle(n));
    }

    pub(super) fn arm_expiry(&mut self, seen: Timestamp) {
        let next =
            self.state.approvals.iter().filter_map(|approval| Some((self.due(approval, seen)?, approval.n))).min();
        if let Some((at, n)) = next {
            self.effect(Effect::Arm { timer: Timer::Approval(n), at });
        }
    }

    fn expire(&mut self, seen: Timestamp) {
        let due = |approval: &&Arc<Approval>| self.denied_at(approval, seen).is_some_and(|end| end <= self.now);
        let due: Vec<QuestionId> =
            self.state.approvals.iter().filter(due).map(|approval| approval.id.clone()).collect();
        for id in due {
            let words = format!("nobody answered in time; {NOBODY}");
            self.close_question(id, Answer::Deny { words }, AnsweredBy::Timeout);
        }
        self.end_process_if_due(seen);
        self.arm_expiry(seen);
    }

    /// When something becomes of the question by itself, if the person does not touch the screen again after `seen`.
    fn due(&self, approval: &Approval, seen: Timestamp) -> Option<Timestamp> {
        self.denied_at(approval, seen).into_iter().chain(self.deferred(approval, seen)).min()
    }

    /// When the question is a denial by itself.
    fn denied_at(&self, approval: &Approval, seen: Timestamp) -> Option<Timestamp> {
        approval.expires.or_else(|| (!self.outlives()).then(|| approval.asked.max(seen).plus(UNATTENDED)))
    }

    /// At the end of a run: what was refused for want of somebody to ask.
    pub(super) fn tell_unasked(&mut self) {
        let gate = &self.state.gate;
        let (count, names) = (gate.unasked_count, gate.unasked.join("; "));
        if count > 0 {
            let calls = if count == 1 { "1 call was".to_owned() } else { format!("{count} calls were") };
            let more = if gate.unasked.len() < count as usize { "; …" } else { "" };
            let text = format!("{calls} denied because nobody could be asked: {names}{more}");
            self.notice(Level::Warn, text);
        }
    }
}

/// The plan that is to be approved says something.
fn has_plan(input: &str) -> bool {
    let input: serde_json::Value = serde_json::from_str(input).unwrap_or_default();
    input["plan"].as_str().is_some_and(|plan| !plan.trim().is_empty())
}

/// How far a yes may reach: what cannot be proven harmless has no lasting rule; the person's own words and edits are for
/// once.
fn reach(approval: &Approval, scope: Scope) -> Scope {
    match (approval.kind, scope) {
        _ if approval.edited_from.is_some() => Scope::Once,
        (ApprovalKind::Call, Scope::Always) if !approval.provable => Scope::Once,
        (ApprovalKind::Call, Scope::Kind) if approval.kinds().is_none() => Scope::Once,
        (ApprovalKind::Call, scope) => scope,
        _ => Scope::Once,
    }
}
