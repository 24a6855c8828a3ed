//! Questions whose process is gone: they stay open, and Claude goes on with the answers.
//!
//! A process is held as long as the person lets it (`approval.defer_after`), or until programmator is killed. Then the
//! question waits in the journal. The next prompt tells the answer, and a call that was allowed is let through when Claude
//! makes it again. `defer`, with which Claude Code ends its process by itself and asks again when the session is resumed, is
//! an answer to the hook's callback only, which comes before anybody is asked (measured over stdio with 2.1.197 and 2.1.330).

use super::Draft;
use super::approval::UNATTENDED;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::approval::{Answer, Approval, ApprovalKind, OF_ANSWER, QuestionId, Voided};
use crate::domain::record::Record;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Stage;
use serde_json::Value;
use std::time::Duration;

/// Bytes of calls and plans that one prompt tells again: what fills the context beside it would break the session.
const TOLD: usize = 200_000;

impl Draft<'_> {
    /// When Claude's process is ended at the question, if the person does not touch the screen again after `seen`. While a
    /// call or a subagent is at work in it, only once nobody has been there for so long that the question would else be a
    /// denial: what is at work may never end. A chat's is held: its person is there, or has left.
    pub(super) fn deferred(&self, approval: &Approval, seen: Timestamp) -> Option<Timestamp> {
        let waits = !self.state.gate.kept && self.state.chat.is_none() && self.state.stage == Stage::Running;
        let after = self.state.settings.approval_defer_after.filter(|_| waits)?;
        let wanted = approval.asked.plus(Duration::from_secs(after));
        Some(if self.at_rest() { wanted } else { wanted.max(approval.asked.max(seen).plus(UNATTENDED)) })
    }

    fn at_rest(&self) -> bool {
        self.open(|open| open.tools.is_empty() && open.background.is_empty())
    }

    /// Questions are not denied because nobody has touched the screen for long: no process waits for them, or the person wants
    /// it ended then.
    pub(super) fn outlives(&self) -> bool {
        let defers = self.state.settings.approval_defer_after.is_some() && self.state.chat.is_none();
        self.state.gate.kept || defers
    }

    pub(super) fn end_process_if_due(&mut self, seen: Timestamp) {
        let is_due = |approval: &Approval| self.deferred(approval, seen).is_some_and(|at| at <= self.now);
        if self.state.approvals.iter().any(|approval| is_due(approval)) {
            let why = "not answered yet: Claude's process is stopped, and resumes with the answer";
            self.record(Record::ApprovalsKept { why: why.into() });
            self.interrupt();
        }
    }

    /// What was at work is over: the process may be ended now. Not before that: it would put off the time at which it is ended
    /// whatever is at work.
    pub(super) fn defers_again(&mut self) {
        let defers = |approval: &Approval| self.deferred(approval, self.now).is_some();
        if self.at_rest() && self.state.approvals.iter().any(|approval| defers(approval)) {
            self.arm_expiry(self.now);
        }
    }

    /// What is settled needs no answer.
    pub(super) fn void_of_phase(&mut self, phase: &str) {
        let kept = self.state.approvals.iter().filter(|asked| asked.phase.as_deref() == Some(phase));
        let ids: Vec<QuestionId> = kept.filter(|_| self.state.gate.kept).map(|asked| asked.id.clone()).collect();
        for id in ids {
            self.record(Record::ApprovalVoid(Voided { id, why: "you decided about its phase".to_owned() }));
        }
    }

    /// An earlier process of ours is gone, and Claude's with it.
    pub(super) fn keep_over_restart(&mut self) {
        if self.state.chat.is_some() {
            return self.void_waiting("the run continued in another process; Claude asks again");
        }
        if !self.state.approvals.is_empty() && !self.state.gate.kept {
            let why = "the run continued in another process; Claude resumes with the answer";
            self.record(Record::ApprovalsKept { why: why.into() });
        }
    }

    /// Nothing is begun while a question waits whose answer it would begin with.
    pub(super) fn waits_for_answers(&mut self) -> bool {
        let waits = self.state.gate.kept;
        if waits {
            self.effect(Effect::SeekPerson);
            self.arm_expiry(self.now);
        }
        waits
    }

    /// The next prompt tells of the answer.
    pub(super) fn tell_later(&mut self, approval: &Approval, answer: &Answer) {
        let QuestionId { call, revision } = &approval.id;
        let id = format!("{OF_ANSWER}{call}-{revision}");
        let queued = self.state.notes.queued();
        let before: usize = queued.iter().filter(|(id, _)| id.starts_with(OF_ANSWER)).map(|(_, text)| text.len()).sum();
        let text = told(approval, answer, TOLD.saturating_sub(before));
        self.record(Record::NoteGiven { id, text });
    }

    /// Claude does not wait any more.
    pub(super) fn ask_withdrawn(&mut self, call: &str) {
        let open = self.state.approvals.iter().find(|approval| approval.id.call == call);
        if let Some(id) = open.map(|approval| approval.id.clone()).filter(|_| !self.state.gate.kept) {
            self.record(Record::ApprovalVoid(Voided { id, why: "Claude withdrew the request".to_owned() }));
            self.go_on_timing();
        }
    }

    /// The process is gone: nobody waits for these answers any more, unless they were kept.
    pub(super) fn void_waiting(&mut self, why: &str) {
        if !self.state.gate.kept {
            self.void_all(why);
        }
    }

    /// Nobody will answer.
    pub(super) fn void_all(&mut self, why: &str) {
        let ids: Vec<QuestionId> = self.state.approvals.iter().map(|approval| approval.id.clone()).collect();
        for id in ids {
            self.record(Record::ApprovalVoid(Voided { id, why: why.to_owned() }));
        }
    }
}

/// The answer, for Claude, whose session may have expired: it is told the whole of what it is about, as far as there is `room`
/// for its bytes.
fn told(approval: &Approval, answer: &Answer, room: usize) -> String {
    let whole = |name: &str, text: &str| match text.len() {
        1.. if text.len() <= room => format!("{name} ({text})"),
        _ => String::new(),
    };
    let asked = approval.edited_from.as_deref().unwrap_or(&approval.input);
    let what = match approval.kind {
        ApprovalKind::Question => "your question".into(),
        ApprovalKind::Plan => format!("your plan{}", whole("", &plan(asked))),
        ApprovalKind::Call | ApprovalKind::Passphrase => {
            format!("your call `{}`{}", clean_line(&approval.words(), 200), whole(" with this input", asked))
        }
    };
    let answer = match (answer, approval.kind) {
        (Answer::Deny { words }, _) => format!("no. {words}"),
        (Answer::Allow { input, .. }, ApprovalKind::Question) => answers(input),
        (Answer::Allow { .. }, ApprovalKind::Plan) => "the plan is approved; go on with it.".into(),
        (Answer::Allow { input, .. }, _) if approval.edited_from.is_some() && input.len() <= room => {
            format!("it is allowed with this input instead: {input}. Make it now.")
        }
        (Answer::Allow { .. }, _) if approval.edited_from.is_some() => {
            "it is allowed with another input, which is too long to be told. Make the call again, to be asked.".into()
        }
        (Answer::Allow { .. }, _) => "it is allowed. Make the same call again now.".into(),
    };
    format!("Your session was interrupted while {what} waited for an answer. The answer is: {answer}")
}

fn plan(input: &str) -> String {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    input["plan"].as_str().unwrap_or_default().to_owned()
}

/// What was answered to each of Claude's questions.
fn answers(input: &str) -> String {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let pairs = input["answers"].as_object().into_iter().flatten();
    let pairs = pairs.map(|(question, answer)| format!("{question} {}", answer.as_str().unwrap_or_default()));
    pairs.collect::<Vec<_>>().join("; ")
}
