//! From what an adapter saw to what the core is told. Adapters know nothing of the core's inputs.

use crate::adapters::agent::AgentEvent;
use crate::adapters::validate;
use crate::domain::record::{ApiRetried, PhaseSeed};
use crate::domain::ticket::Ticket;
use crate::orchestrator::effect::{Request, ToolCall};
use crate::orchestrator::input::{CommandResult, Input};

/// An event of the agent in iteration `n`; `None` for what the core need not know.
pub fn agent_event(n: u32, event: AgentEvent) -> Option<Input> {
    Some(match event {
        AgentEvent::Spawned { pid } => Input::AgentSpawned { n, pid },
        AgentEvent::Ready { session, model, version } => Input::AgentReady { n, session, model, version },
        AgentEvent::ToolAsked(asked) => Input::ToolAsked(Box::new(ToolCall {
            n,
            request: Request { id: asked.request_id, via: asked.via },
            tool_use_id: asked.tool_use_id,
            tool: asked.tool,
            input: asked.input,
            agent: asked.agent_id,
            cwd: asked.cwd,
        })),
        AgentEvent::ToolFinished { tool_use_id, is_error } => Input::ToolFinished { n, tool_use_id, is_error },
        AgentEvent::ToolRan { tool_use_id } => Input::ToolRan { n, tool_use_id },
        AgentEvent::Echoed { uuid } => Input::NoteEchoed { id: uuid },
        AgentEvent::ApiRetried { attempt, max_retries, delay_ms, error, status } => {
            Input::ApiRetried(ApiRetried { n, attempt, max_retries, delay_ms, error, status })
        }
        AgentEvent::TurnFinished(result) => Input::TurnFinished { n, result },
        AgentEvent::SinkFailed { message } => {
            Input::Warned { text: format!("what Claude prints cannot be kept any more: {message}") }
        }
        AgentEvent::Exited(exit) => {
            Input::AgentExited { n, code: exit.code, signal: exit.signal, swept: exit.swept, stderr: exit.stderr_tail }
        }
        AgentEvent::AskCancelled { .. } | AgentEvent::RateLimit { .. } => return None,
    })
}

/// The phases of a ticket, as records keep them.
pub fn phases(ticket: &Ticket) -> Vec<PhaseSeed> {
    let seed = |phase: &crate::domain::ticket::Phase| PhaseSeed { text: phase.text.clone(), done: phase.done };
    ticket.phases.iter().map(seed).collect()
}

/// A validation command's end.
pub fn command_result(outcome: validate::Outcome) -> CommandResult {
    CommandResult {
        command: outcome.command,
        exit: outcome.exit,
        timed_out: outcome.timed_out,
        ms: outcome.ms,
        tail: outcome.tail,
        log: outcome.log.display().to_string(),
    }
}
