//! Judging a call and answering it, by the request that Claude waits with.
//!
//! A verdict may look through thousands of files: meanwhile others do the work of this thread.

use super::Effects;
use crate::adapters::agent::{AgentError, CallbackAnswer, ToolAnswer};
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, Approval, ApprovalKind, QuestionId};
use crate::domain::tool_call::{ControlRequest, ToolCall, Via};
use crate::domain::verdict::Verdict;
use crate::orchestrator::input::Input;
use crate::runtime::gate::judge_edit;
use serde_json::{Map, Value};
use std::path::Path;
use tokio::task::block_in_place;

impl Effects {
    /// `None`: it comes again, with the plan that it is about.
    pub(super) fn judge(&mut self, n: u32, mut call: Box<ToolCall>) -> Option<Input> {
        if ApprovalKind::always(&call.tool) == Some(ApprovalKind::Plan)
            && let Some(agent) = self.agent()
            && let Some(mut input) = without_plan(&call.input)
        {
            // It stands in Claude's plan file then, or nowhere.
            self.answer_with(async move {
                input.insert("plan".to_owned(), agent.plan().await.unwrap_or_default().into());
                call.input = Value::Object(input).to_string();
                Input::ToolAsked { n, call }
            });
            return None;
        }
        // Claude says where a call is made from with the first of its two requests only.
        let id = &call.tool_use_id;
        if let Some(cwd) = call.cwd.take().filter(|cwd| Path::new(cwd) != self.workspace.directory()) {
            self.work.places.insert(id.clone(), cwd);
        }
        call.cwd = self.work.places.get(id).cloned();
        let ruling = Box::new(block_in_place(|| self.gate.judge(&call)));
        if call.request.via == Via::CanUseTool {
            self.work.asked.insert(id.clone(), (*call).clone());
        }
        call.cwd.get_or_insert_with(|| self.workspace.to_string());
        Some(Input::Judged { n, call, ruling, presence: self.reporter.presence() })
    }

    /// The process that has asked may be gone: the question says all that is to be known of its call.
    pub(super) fn judge_edit(&self, asked: &Approval, by: Answerer, input: String) -> Input {
        let request = ControlRequest { id: String::new(), via: Via::CanUseTool };
        let Approval { id, tool, agent, cwd, .. } = asked.clone();
        let call = ToolCall { request, tool_use_id: id.call.clone(), tool, input, agent, cwd };
        let ruling = Box::new(block_in_place(|| judge_edit(&*self.gate, &call)));
        Input::EditJudged { id, by, input: call.input, ruling }
    }

    pub(super) fn rejudge(&self, id: QuestionId, input: String) -> Option<Input> {
        let call = ToolCall { input, ..self.work.asked.get(&id.call)?.clone() };
        Some(match block_in_place(|| self.gate.judge_again(&call)) {
            Ok(ruling) => Input::Rejudged { id, ruling: Box::new(ruling) },
            Err(why) => Input::NotRejudged { id, why },
        })
    }

    /// Answers a request with its verdict. A call that is put to the person is answered later, by [`settle`](Self::settle).
    pub(super) async fn answer(&mut self, request: ControlRequest, verdict: Verdict, reason: String) {
        let Some(agent) = self.agent() else { return };
        let sent = match request.via {
            Via::Callback => {
                let answer = match verdict {
                    Verdict::Allow => CallbackAnswer::Allow,
                    Verdict::Ask | Verdict::Passphrase => CallbackAnswer::Ask { reason },
                    Verdict::Block => CallbackAnswer::Deny { reason },
                };
                agent.answer_callback(&request.id, &answer).await
            }
            Via::CanUseTool => {
                let asked = self.work.asked.extract_if(|_, asked| asked.request.id == request.id).next();
                let answer = match (verdict, asked) {
                    (Verdict::Allow, Some((_, ToolCall { input, .. }))) => ToolAnswer::Allow { input },
                    _ => ToolAnswer::Deny { message: reason },
                };
                agent.answer_can_use_tool(&request.id, &answer).await
            }
        };
        tell(sent);
    }

    /// Answers the call that waits for the person: once, since it waits no more then.
    pub(super) async fn settle(&mut self, id: &str, answer: Answer) {
        self.work.places.remove(id);
        let (Some(agent), Some(ToolCall { request, .. })) = (self.agent(), self.work.asked.remove(id)) else { return };
        let answer = match answer {
            Answer::Allow { input, .. } => ToolAnswer::Allow { input },
            Answer::Deny { words } => ToolAnswer::Deny { message: words },
        };
        tell(agent.answer_can_use_tool(&request.id, &answer).await);
    }
}

/// The input of a call about a plan that does not bring the plan along.
fn without_plan(input: &str) -> Option<Map<String, Value>> {
    let input: Map<String, Value> = serde_json::from_str(input).ok()?;
    (!input.contains_key("plan")).then_some(input)
}

fn tell(sent: Result<(), AgentError>) {
    if let Err(error) = sent {
        tracing::warn!(%error, "a verdict could not be delivered to Claude; it runs nothing without one");
    }
}
