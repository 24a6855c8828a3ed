//! What the core remembers of the gate: which calls it knows, what the person has said for the whole ticket.

use crate::base::time::Timestamp;
use crate::domain::approval::{Approval, ApprovalKind, runs_in_shell};
use crate::domain::verdict::Verdict;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The gate's memory of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    /// What holds for the rest of the ticket.
    pub(in crate::orchestrator) grants: Vec<Grant>,
    /// A yes for once to a call whose process was gone by then, with the iteration that asked: it holds for the same call in
    /// the next one.
    pub(in crate::orchestrator) once: Vec<(u32, Grant)>,
    /// The open questions outlive the process that asked: the next one begins with their answers.
    pub kept: bool,
    /// Kinds of calls that are allowed for the rest of the ticket.
    pub(in crate::orchestrator) kinds: BTreeSet<String>,
    /// The rules that this was said under.
    pub(in crate::orchestrator) rules: Option<String>,
    /// The present process has not said yet which rules it has: nothing that was allowed under others holds.
    pub(in crate::orchestrator) is_unconfirmed: bool,
    /// Calls of the present process that have a stored verdict and are not back yet, the latest last.
    pub(in crate::orchestrator) calls: Vec<Arc<Call>>,
    /// Calls that were refused because nobody was there to ask; the first 20 by name.
    pub unasked: Vec<String>,
    pub unasked_count: u32,
    /// When the present process began.
    pub(in crate::orchestrator) began: Option<Timestamp>,
    /// Since when it waits for the person.
    pub(in crate::orchestrator) waiting: Option<Timestamp>,
    /// How long it has waited for them before, and for storage.
    pub(in crate::orchestrator) waited: Duration,
}

/// A yes for one call, whenever it comes again. What a call does is told by the whole of its input: the parts that it
/// consists of say nothing of what they are fed.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::orchestrator) struct Grant {
    tool: String,
    rule: String,
    /// As [`canonical`].
    input: String,
    cwd: Option<String>,
}

impl Grant {
    pub(in crate::orchestrator) fn of(approval: &Approval) -> Self {
        let Approval { tool, rule, input, cwd, .. } = approval.clone();
        Self { input: canonical(&tool, input), tool, rule, cwd }
    }
}

/// An input without the words of a shell's call that change nothing of what is run.
fn canonical(tool: &str, input: String) -> String {
    let free = if runs_in_shell(tool) { &["description", "timeout", "timeout_ms"][..] } else { &[] };
    match serde_json::from_str(&input) {
        Ok(Value::Object(mut fields)) => {
            fields.retain(|name, _| !free.contains(&name.as_str()));
            fields.sort_keys();
            Value::Object(fields).to_string()
        }
        _ => input,
    }
}

/// A call with a stored verdict.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::orchestrator) struct Call {
    pub(in crate::orchestrator) id: String,
    /// `Bash cargo publish`
    pub(in crate::orchestrator) name: String,
    pub(in crate::orchestrator) verdict: Verdict,
    /// By its verdict or by the person's answer.
    pub(in crate::orchestrator) may_run: bool,
}

impl Gate {
    /// A verdict is stored for the call.
    pub fn knows(&self, id: &str) -> bool {
        self.call(id).is_some()
    }

    /// The call was found to be one for the person.
    pub fn asks(&self, id: &str) -> bool {
        self.call(id).is_some_and(|call| matches!(call.verdict, Verdict::Ask | Verdict::Passphrase))
    }

    /// The call was refused, or still waits for a yes.
    pub fn holds_back(&self, id: &str) -> bool {
        self.call(id).is_some_and(|call| !call.may_run)
    }

    /// Forgets what the person has said yes to for the rest of the run.
    pub(in crate::orchestrator) fn forget_grants(&mut self) {
        self.grants.clear();
        self.once.clear();
        self.kinds.clear();
    }

    /// The person has said yes to calls for the rest of the run.
    pub fn has_granted(&self) -> bool {
        !self.grants.is_empty() || !self.once.is_empty() || !self.kinds.is_empty()
    }

    /// The person has said yes to this call, or to all of its kind, for the rest of the run; or to this one, before it is
    /// made again.
    pub fn grants(&self, approval: &Approval) -> bool {
        let same = || {
            self.grants.iter().chain(self.once.iter().map(|(_, once)| once)).any(|grant| *grant == Grant::of(approval))
        };
        let of_kinds = || approval.kinds().is_some_and(|kinds| kinds.iter().all(|kind| self.kinds.contains(*kind)));
        !self.is_unconfirmed && approval.kind == ApprovalKind::Call && (same() || of_kinds())
    }

    /// The call is made again that was allowed for once: no other one is.
    pub(in crate::orchestrator) fn spend(&mut self, approval: &Approval) {
        let spent = Grant::of(approval);
        if let Some(at) = self.once.iter().position(|(_, grant)| *grant == spent) {
            self.once.remove(at);
        }
    }

    /// When a process that may work for `limit` is out of time: waiting for the person is no work. `None` where
    /// it has not waited.
    pub fn deadline(&self, limit: Duration) -> Option<Timestamp> {
        let waited = (!self.waited.is_zero()).then_some(self.waited)?;
        Some(self.began?.plus(limit + waited))
    }

    pub(in crate::orchestrator) fn call(&self, id: &str) -> Option<&Call> {
        self.calls.iter().rev().find(|call| call.id == id).map(AsRef::as_ref)
    }
}
