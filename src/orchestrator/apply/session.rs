//! What records make of the ticket's sessions.

use crate::base::time::Timestamp;
use crate::domain::record::{AgentReady, Record, SessionLost};
use crate::domain::session::{Session, SessionEnded, SessionEvent};
use crate::orchestrator::state::State;

/// Folds a record in; others are not its business.
pub(super) fn fold(state: &mut State, record: &Record, time: Timestamp) {
    let role = state.iteration.as_ref().map(|iteration| iteration.role.clone()).unwrap_or_default();
    match record {
        Record::SessionsCarried(sessions) => state.sessions.clone_from(sessions),
        Record::SessionEnded(ended) => state.sessions.end(ended, time),
        Record::AgentReady(AgentReady { n, session, model, told, .. }) => {
            let own = if state.settings.model.is_none() && role.model.is_none() { model.as_str() } else { "" };
            let ready = Session { told: told.clone(), ..Session::now(session, &state.workspace, own, time) };
            state.sessions.ready(&role.step, ready, *n);
        }
        Record::SessionLost(SessionLost { n, session }) => {
            let (step, session, reason) = (role.step, session.clone(), String::new());
            state.sessions.end(&SessionEnded { n: *n, step, session, to: SessionEvent::Lost, reason }, time);
        }
        Record::TurnEnded { .. } => state.sessions.touch(&role.step, time),
        _ => {}
    }
}
