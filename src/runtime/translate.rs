//! From what an adapter saw to what the core is told. Adapters know nothing of the core's inputs.

use crate::adapters::agent::AgentEvent;
use crate::base::time::Timestamp;
use crate::domain::limits::reset_text::Told;
use crate::domain::record::{ApiRetried, PhaseSeed, SetPhase};
use crate::domain::session;
use crate::domain::stream::rate_limit;
use crate::domain::stream::system::ApiRetry;
use crate::domain::ticket::Ticket;
use crate::orchestrator::input::Input;
use jiff::tz::TimeZone;

/// An event of the agent in iteration `n`; `None` for what the core need not know.
pub fn agent_event(n: u32, told: &session::Told, event: AgentEvent, now: Timestamp) -> Option<Input> {
    Some(match event {
        AgentEvent::Spawned { pid } => Input::AgentSpawned { n, pid },
        AgentEvent::Ready { session, model, version } => {
            Input::AgentReady { n, session, model, version, told: told.clone() }
        }
        AgentEvent::ToolAsked(call) => Input::ToolAsked { n, call },
        AgentEvent::ToolFinished { tool_use_id, is_error } => Input::ToolFinished { n, tool_use_id, is_error },
        AgentEvent::ToolRan { tool_use_id, unasked } => Input::ToolRan { n, tool_use_id, unasked },
        AgentEvent::BackgroundChanged { tasks } => Input::BackgroundChanged { n, tasks },
        AgentEvent::ForeignTurn { wakes } => Input::ForeignTurn { n, wakes },
        AgentEvent::Echoed { uuid } => Input::NoteEchoed { id: uuid },
        AgentEvent::ApiRetried(ApiRetry { attempt, max_retries, delay_ms, error, status }) => {
            Input::ApiRetried(ApiRetried { n, attempt, max_retries, delay_ms, error, status })
        }
        AgentEvent::TurnFinished(mut result) => {
            result.resets_at = result.limit.as_ref().and_then(|limit| placed(limit.told.as_ref()?, now));
            Input::TurnFinished { n, result }
        }
        AgentEvent::RateLimit { info } => Input::LimitSeen { n, window: rate_limit::window(&info)? },
        AgentEvent::SinkFailed { message } => {
            Input::Warned { text: format!("not all of Claude's output is stored: {message}") }
        }
        AgentEvent::LineShortened { left_out } => {
            let text = format!(
                "a line of Claude's output is too long: {left_out} bytes of its longest texts were dropped. A tool call in such a line is denied"
            );
            Input::Warned { text }
        }
        AgentEvent::Exited(exit) => {
            Input::AgentExited { n, code: exit.code, signal: exit.signal, swept: exit.swept, stderr: exit.stderr_tail }
        }
        AgentEvent::AskCancelled { .. } => return None,
    })
}

/// The moment that a limit's text names. Which zones there are is the machine's knowledge.
fn placed(told: &Told, now: Timestamp) -> Option<Timestamp> {
    let zone = match told.zone() {
        Some(name) => TimeZone::get(name).ok()?,
        None => TimeZone::system(),
    };
    told.at(now, &zone)
}

/// What a ticket says of the work on its phases.
pub fn phase_settings(ticket: &Ticket) -> Input {
    let of =
        |phase: &crate::domain::ticket::Phase| SetPhase { text: phase.text.clone(), settings: phase.settings.clone() };
    Input::PhaseSettingsRead { phases: ticket.phases.iter().map(of).collect() }
}

/// The phases of a ticket, as records keep them.
pub fn phases(ticket: &Ticket) -> Vec<PhaseSeed> {
    let seed = |phase: &crate::domain::ticket::Phase| PhaseSeed { text: phase.text.clone(), done: phase.done };
    ticket.phases.iter().map(seed).collect()
}
