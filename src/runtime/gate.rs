//! Where a call of Claude's meets the policy: the one place that knows both.
//!
//! What is done with a ruling is the core's (`orchestrator::decide::approval`); how rules are read and what they say
//! is the policy's.

use crate::adapters::agent::AgentEvent;
use crate::domain::approval::{Presence, Ruling, UnitView};
use crate::domain::stream::control::Via;
use crate::policy;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A call to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// `Bash`, `Edit`, …
    pub tool: &'a str,
    /// Its input, JSON text.
    pub input: &'a str,
    /// The folder that it is made from: relative paths begin there.
    pub cwd: &'a Path,
    /// The run's work folder.
    pub folder: &'a Path,
}

/// What judges calls. One for a run: rules that change meanwhile are for the next.
pub type Gate = Arc<dyn Fn(&Call<'_>) -> Ruling + Send + Sync>;

/// Who decides about the calls of a run.
#[derive(Clone)]
pub struct Authority {
    /// The rules.
    pub gate: Gate,
    /// The person behind them.
    pub presence: Presence,
}

impl Default for Authority {
    /// The program's own rules, and nobody to ask.
    fn default() -> Self {
        Self { gate: Arc::new(judge), presence: Presence::Nobody }
    }
}

/// Judges a call by the built-in rules.
fn judge(call: &Call<'_>) -> Ruling {
    let judged = policy::judge(call.tool, call.input);
    let unit = UnitView {
        text: judged.target.clone(),
        verdict: judged.verdict.word().to_owned(),
        rule: judged.reason.clone(),
        reason: String::new(),
    };
    Ruling {
        verdict: judged.verdict,
        rule: judged.reason,
        reason: String::new(),
        target: judged.target,
        writes: judged.writes,
        units: vec![unit],
        provable: false,
    }
}

/// Judges an input that a person has changed: what Claude could not take as an input never runs.
pub fn judge_edit(gate: &Gate, call: &Call<'_>) -> Ruling {
    let ruling = gate(call);
    match serde_json::from_str::<Map<String, Value>>(call.input) {
        Ok(_) => ruling,
        Err(error) => ruling.blocked("programmator", &format!("the changed input is no JSON object ({error})")),
    }
}

/// Calls that wait for the person, on the way between Claude, who knows requests, and the core, which knows calls.
#[derive(Debug, Default)]
pub struct Waiting(HashMap<String, String>);

impl Waiting {
    /// Follows what Claude asks. The call whose question it withdraws, if this is such an event.
    pub fn follow(&mut self, event: &AgentEvent) -> Option<String> {
        match event {
            AgentEvent::ToolAsked(asked) if asked.via == Via::CanUseTool => {
                self.0.insert(asked.request_id.clone(), asked.tool_use_id.clone());
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
    use crate::domain::record::Verdict;
    use crate::domain::stream::control::AskedTool;

    #[test]
    fn a_changed_input_must_be_one_that_claude_can_take() {
        let folder = Path::new("/w");
        for (input, verdict) in [
            (r#"{"command":"ls"}"#, Verdict::Allow),
            ("{\n \"command\": \"ls\"}", Verdict::Allow),
            ("ls", Verdict::Block),
            ("[]", Verdict::Block),
            ("", Verdict::Block),
            (r#"{"command":"ls"} {}"#, Verdict::Block),
        ] {
            let call = Call { tool: "Bash", input, cwd: folder, folder };
            assert_eq!(judge_edit(&Authority::default().gate, &call).verdict, verdict, "{input}");
        }
    }

    #[test]
    fn a_withdrawn_request_names_its_call_once() {
        let mut waiting = Waiting::default();
        let asked = |request: &str, call: &str, via| {
            AgentEvent::ToolAsked(Box::new(AskedTool {
                request_id: request.into(),
                via,
                tool_use_id: call.into(),
                tool: "Bash".into(),
                input: "{}".into(),
                agent_id: None,
                cwd: None,
            }))
        };
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
