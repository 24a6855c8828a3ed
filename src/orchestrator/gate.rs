//! What the core remembers of the gate: which calls it knows, what the person has said for the whole ticket, how
//! long it was waited for them.
//!
//! Who is asked when is decided in `decide::approval`; what rules say is the policy's.

use crate::base::time::Timestamp;
use crate::domain::approval::{Answer, Answered, AnsweredBy, Approval, ApprovalKind, Scope, Voided};
use crate::domain::record::Record;
use crate::domain::verdict::Verdict;
use crate::orchestrator::state::{Call, Grant, Iteration, State};
use std::sync::Arc;
use std::time::Duration;

/// Calls that are remembered: far more than can be under way at once.
const CALLS: usize = 2_000;

/// Calls that nobody was there to be asked about, by name; the others are only counted.
const NAMED: usize = 20;

impl Iteration {
    /// A call was let through and runs now.
    pub(super) fn begin_call(&mut self, id: &str) {
        if self.tools.insert(id.to_owned()) {
            self.tool_count += 1;
        }
    }

    /// A call was refused, by the rules or by the person.
    pub(super) fn refuse_call(&mut self, id: &str, tool: &str) {
        self.refused_by_us.insert(id.to_owned());
        // What somebody else's words asked for is nothing that the phase lacks.
        if ApprovalKind::always(tool).is_none() && !self.foreign {
            self.blocked.push(tool.to_owned());
        }
    }
}

/// Folds a record of the gate in; others are not its business.
pub(super) fn fold(state: &mut State, record: &Record, time: Timestamp) {
    let gate = &mut state.gate;
    match record {
        Record::SpawnRequested { .. } => gate.calls.clear(),
        Record::AgentSpawned { .. } => {
            gate.began = Some(time);
            gate.waited = Duration::ZERO;
        }
        Record::ToolJudged { tool_use_id, tool, target, verdict, .. } => {
            gate.calls.retain(|call| call.id != *tool_use_id);
            let surplus = (gate.calls.len() + 1).saturating_sub(CALLS);
            gate.calls.drain(..surplus);
            let name = format!("{tool} {target}");
            let may_run = *verdict == Verdict::Allow;
            let call = Call { id: tool_use_id.clone(), name, verdict: *verdict, may_run };
            gate.calls.push(Arc::new(call));
        }
        Record::ToolFinished { tool_use_id, .. } => gate.calls.retain(|call| call.id != *tool_use_id),
        Record::ApprovalAsked(approval) => {
            if !gate.kept {
                gate.waiting.get_or_insert(time);
            }
            let asked = Arc::new(approval.clone());
            match state.approvals.iter_mut().find(|earlier| earlier.id.call == approval.id.call) {
                Some(earlier) => *earlier = asked,
                None => state.approvals.push(asked),
            }
        }
        Record::ApprovalAnswered(answered) => {
            if let Some(at) = state.approvals.iter().position(|approval| approval.id == answered.id) {
                let approval = state.approvals.remove(at);
                goes_on(state, answered);
                settle(state, &approval, answered);
            }
            rest(state, time);
        }
        Record::ApprovalVoid(Voided { id, .. }) => {
            state.approvals.retain(|approval| approval.id != *id);
            rest(state, time);
        }
        // From here on no process waits.
        Record::ApprovalsKept { .. } => {
            gate.kept = true;
            if let Some(iteration) = &mut state.iteration {
                iteration.went_to_wait = true;
            }
            if let Some(since) = gate.waiting.take() {
                waited(state, time.since(since));
            }
        }
        // The one that it was meant for is over.
        Record::IterationEnded { n, .. } => gate.once.retain(|(asked, _)| asked >= n),
        Record::GrantsDropped => gate.forget_grants(),
        Record::RulesKnown { rules } => {
            if gate.rules.as_ref() != Some(rules) {
                gate.forget_grants();
            }
            gate.rules = Some(rules.clone());
            gate.is_unconfirmed = false;
        }
        // Another process may have come with other rules.
        Record::RunResumed { .. } => {
            // An older version has left none: what it was told was allowed under rules that nobody knows.
            if gate.is_unconfirmed {
                gate.forget_grants();
                gate.rules = None;
            }
            gate.is_unconfirmed = true;
            // Nothing ran since the last record. Where a question waited, the wait is counted when it is withdrawn.
            if let (None, Some(last)) = (gate.waiting, state.updated) {
                waited(state, time.since(last));
            }
            // Nobody could be asked meanwhile.
            let timeout = state.settings.approval_timeout;
            expire_anew(state, timeout, time);
        }
        Record::SettingsChanged(changed)
            if gate.kept && changed.settings.approval_timeout != state.settings.approval_timeout =>
        {
            expire_anew(state, changed.settings.approval_timeout, time);
        }
        // Where a question waited as well, that is the longer wait, and it counts.
        Record::StorageWaited { ms } if gate.waiting.is_none() => waited(state, Duration::from_millis(*ms)),
        _ => {}
    }
}

/// The time for an answer begins now.
fn expire_anew(state: &mut State, timeout: Option<u64>, time: Timestamp) {
    let anew = timeout.map(|seconds| time.plus(Duration::from_secs(seconds)));
    for approval in state.approvals.iter_mut().filter(|approval| approval.expires.is_some()) {
        Arc::make_mut(approval).expires = anew;
    }
}

/// The next iteration goes on with the person's answer: with the one that asked it counts as one. Where nobody decided, it
/// counts as another, or a run that nobody looks at would have no end.
fn goes_on(state: &mut State, answered: &Answered) {
    let Some(iteration) = state.iteration.as_mut().filter(|_| state.gate.kept) else { return };
    if matches!(answered.by, AnsweredBy::Person(_)) && std::mem::take(&mut iteration.went_to_wait) {
        state.continued += u32::from(iteration.role.counts.is_progress());
    }
}

fn settle(state: &mut State, approval: &Approval, Answered { answer, by, .. }: &Answered) {
    let gate = &mut state.gate;
    match answer {
        Answer::Allow { scope, .. } => {
            match scope {
                Scope::Once if gate.kept && approval.kind == ApprovalKind::Call => {
                    gate.once.push((approval.n, Grant::of(approval)));
                }
                Scope::Once if *by == AnsweredBy::Ticket => gate.spend(approval),
                Scope::Once => {}
                Scope::Kind => gate.kinds.extend(approval.kinds().into_iter().flatten().map(str::to_owned)),
                Scope::Ticket | Scope::Always => {
                    let grant = Grant::of(approval);
                    if !gate.grants.contains(&grant) {
                        gate.grants.push(grant);
                    }
                }
            }
            if gate.kept {
                return;
            }
            if let Some(call) = gate.calls.iter_mut().rev().find(|call| call.id == approval.id.call) {
                Arc::make_mut(call).may_run = true;
            }
            if let Some(iteration) = &mut state.iteration {
                iteration.begin_call(&approval.id.call);
            }
        }
        Answer::Deny { .. } if gate.kept => {}
        Answer::Deny { .. } => {
            if let Some(iteration) = &mut state.iteration {
                iteration.refuse_call(&approval.id.call, &approval.tool);
            }
            if *by == AnsweredBy::Nobody {
                let call = state.gate.call(&approval.id.call);
                let name = call.map_or_else(|| approval.tool.clone(), |call| call.name.clone());
                state.gate.unasked_count = state.gate.unasked_count.saturating_add(1);
                if state.gate.unasked.len() < NAMED {
                    state.gate.unasked.push(name);
                }
            }
        }
    }
}

/// Nobody is waited for any more, if so.
fn rest(state: &mut State, time: Timestamp) {
    state.gate.kept &= !state.approvals.is_empty();
    if state.approvals.is_empty()
        && let Some(since) = state.gate.waiting.take()
    {
        waited(state, time.since(since));
    }
}

/// So much of the time was no work.
fn waited(state: &mut State, time: Duration) {
    state.gate.waited += time;
    if let Some(iteration) = &mut state.iteration {
        iteration.waited += time;
    }
}
