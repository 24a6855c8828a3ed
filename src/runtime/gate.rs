//! Where a call of Claude's meets what judges it.
//!
//! The judge of real runs is `policy_engine`'s. What is done with a ruling is the core's (`orchestrator::decide::approval`).

use crate::adapters::agent::AgentEvent;
use crate::base::id::RunId;
use crate::domain::approval::Ruling;
use crate::domain::profile::Profile;
use crate::domain::tool_call::{ToolCall, Via};
use crate::domain::verdict::Verdict;
use crate::domain::workspace::Workspace;
use crate::orchestrator::effect::Spawn;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the calls of a step are kept to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// `None` is the run's own.
    pub profile: Option<Profile>,
    /// Claude is in its plan mode, which writes a plan into the person's `~/.claude/plans`.
    pub plans: bool,
}

impl Kept {
    pub fn of(spawn: &Spawn) -> Self {
        Self { profile: spawn.profile, plans: spawn.plan_mode }
    }
}

/// What judges the calls of one run.
pub trait Judge: Send + Sync {
    fn judge(&self, call: &ToolCall) -> Ruling;

    /// What becomes of a call that waits for the person, now that the rules were changed. An error: they cannot be used,
    /// and why; somebody may be at work on them.
    fn judge_again(&self, call: &ToolCall) -> Result<Ruling, String> {
        Ok(self.judge(call))
    }

    /// The verdicts on calls that nobody makes: Claude is told of them.
    fn sample(&self, calls: &[ToolCall]) -> Vec<Verdict> {
        calls.iter().map(|call| self.judge(call).verdict).collect()
    }

    /// From now on calls are judged under this profile; `None` is the run's own.
    fn keep_to(&self, _kept: Kept) {}

    /// A right passphrase was typed for a call that these rules lock: they may be open for a while. What is, and for how
    /// long, in words; `None`: nothing beyond the call.
    fn unlock(&self, _rules: &[String]) -> Option<String> {
        None
    }

    /// Reads the rules anew where they were changed. What has become of them, once for every change.
    fn refresh(&self) -> Option<String> {
        None
    }

    /// What a yes for the rest of the run is bound to: a hash of the run's own rules and of where it works.
    fn rules(&self) -> Option<String> {
        None
    }

    /// The files that the rules are read from, there or not.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What the person must know before anything is judged: why everything is blocked.
    fn trouble(&self) -> Option<String> {
        None
    }
}

impl<J: Fn(&ToolCall) -> Ruling + Send + Sync> Judge for J {
    fn judge(&self, call: &ToolCall) -> Ruling {
        self(call)
    }
}

/// The judge of a run.
pub type Gate = Arc<dyn Judge>;

/// A run that calls are to be judged for.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    pub run: RunId,
    pub workspace: &'a Workspace,
    /// Its ticket's file, which Claude does not write to.
    pub ticket: Option<&'a Path>,
    pub profile: Profile,
    /// What the person gives to Claude: `agent.env`.
    pub env: &'a [(OsString, OsString)],
}

/// Makes the judge of a run.
pub type Gates = Arc<dyn Fn(&Judged<'_>) -> Gate + Send + Sync>;

/// Judges an input that a person has changed: what Claude could not take as an input never runs.
pub fn judge_edit(gate: &dyn Judge, call: &ToolCall) -> Ruling {
    let ruling = gate.judge(call);
    match serde_json::from_str::<Map<String, Value>>(&call.input) {
        Ok(_) => ruling,
        Err(error) => ruling.blocked("programmator", &format!("the edited input is not a JSON object ({error})")),
    }
}

/// Calls that wait for the person, on the way between Claude, who knows requests, and the core, which knows calls.
#[derive(Debug, Default)]
pub struct Waiting(HashMap<String, String>);

impl Waiting {
    /// Follows what Claude asks. The call whose question it withdraws, if this is such an event.
    pub fn follow(&mut self, event: &AgentEvent) -> Option<String> {
        match event {
            AgentEvent::ToolAsked(asked) if asked.request.via == Via::CanUseTool => {
                self.0.insert(asked.request.id.clone(), asked.tool_use_id.clone());
                None
            }
            AgentEvent::AskCancelled { request_id } => self.0.remove(request_id),
            AgentEvent::ToolFinished { tool_use_id, .. } => {
                self.0.retain(|_, call| call != tool_use_id);
                None
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tool_call::ControlRequest;

    fn call(request: &str, id: &str, via: Via) -> ToolCall {
        ToolCall {
            request: ControlRequest { id: request.into(), via },
            tool_use_id: id.into(),
            tool: "Bash".into(),
            input: "{}".into(),
            agent: None,
            cwd: None,
        }
    }

    #[test]
    fn a_changed_input_must_be_one_that_claude_can_take() {
        let anything = |_: &ToolCall| Ruling {
            verdict: Verdict::Allow,
            rule: String::new(),
            reason: String::new(),
            target: String::new(),
            units: Vec::new(),
            provable: false,
        };
        for (input, verdict) in [
            (r#"{"command":"ls"}"#, Verdict::Allow),
            ("{\n \"command\": \"ls\"}", Verdict::Allow),
            ("ls", Verdict::Block),
            ("[]", Verdict::Block),
            ("", Verdict::Block),
            (r#"{"command":"ls"} {}"#, Verdict::Block),
        ] {
            let call = ToolCall { input: input.into(), ..call("r", "t", Via::CanUseTool) };
            assert_eq!(judge_edit(&anything, &call).verdict, verdict, "{input}");
        }
    }

    #[test]
    fn a_withdrawn_request_names_its_call_once() {
        let mut waiting = Waiting::default();
        let asked = |request: &str, id: &str, via| AgentEvent::ToolAsked(Box::new(call(request, id, via)));
        let cancelled = |request: &str| AgentEvent::AskCancelled { request_id: request.into() };
        for event in [asked("r0", "t1", Via::Callback), asked("r1", "t1", Via::CanUseTool)] {
            assert_eq!(waiting.follow(&event), None);
        }
        assert_eq!(waiting.follow(&asked("r2", "t2", Via::CanUseTool)), None);
        let finished = AgentEvent::ToolFinished { tool_use_id: "t2".into(), is_error: false };
        assert_eq!(waiting.follow(&finished), None);
        assert_eq!(waiting.follow(&cancelled("r0")), None, "a callback is answered at once");
        assert_eq!(waiting.follow(&cancelled("r1")).as_deref(), Some("t1"));
        assert_eq!(waiting.follow(&cancelled("r1")), None);
        assert_eq!(waiting.follow(&cancelled("r2")), None, "it ran meanwhile");
    }
}
