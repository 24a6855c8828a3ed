//! Which session of Claude's an iteration resumes, and when one is given up.

use super::Draft;
use crate::base::time::human;
use crate::domain::record::Record;
use crate::domain::session::{Session, SessionEnded, SessionEvent};
use crate::domain::step::StepName;
use crate::orchestrator::step::{SessionUse, Step};
use std::time::Duration;

impl Draft<'_> {
    /// The session that the step's next iteration resumes; one that cannot be is ended on the way.
    pub(super) fn choose_session(&mut self, step: &Step) -> Option<String> {
        if step.session == SessionUse::Fresh {
            return None;
        }
        let kept = self.state.sessions.of(&step.name)?.clone();
        // Anything but a UUID would be refused by Claude, or be taken for something else.
        let continues = self.state.settings.session_continuity || step.session == SessionUse::Always;
        if !continues || uuid::Uuid::parse_str(&kept.id).is_err() {
            return None;
        }
        let expiry = Duration::from_secs(u64::from(self.state.settings.session_expiry_hours) * 3_600);
        if !kept.is_bound_to(&self.state.workspace) {
            self.end_session(
                &step.name,
                SessionEvent::Reset,
                format!("it belongs to another directory: {}", kept.folder),
            );
        } else if kept.is_expired(self.now, expiry) {
            let age = human(self.now.since(kept.used));
            self.end_session(&step.name, SessionEvent::Expired, format!("not used for {age}"));
        } else {
            return Some(kept.id);
        }
        None
    }

    /// The model that a session is to be resumed with: it forgets its variant by itself.
    pub(super) fn session_model(&self, session: &str) -> Option<String> {
        let kept = self.own_session().filter(|kept| kept.id == session && !kept.model.is_empty())?;
        Some(kept.model.clone())
    }

    /// The session of the iteration's step.
    pub(super) fn own_session(&self) -> Option<&Session> {
        self.state.sessions.of(&self.state.iteration.as_ref()?.role.step)
    }

    /// Gives the session of the iteration's step up: its next iteration opens a fresh one.
    pub(super) fn reset_session(&mut self, why: impl Into<String>) {
        if let Some(step) = self.state.iteration.as_ref().map(|iteration| iteration.role.step.clone()) {
            self.end_session(&step, SessionEvent::Reset, why.into());
        }
    }

    /// Gives up the sessions of all steps.
    pub(super) fn reset_sessions(&mut self, why: &str) {
        let steps: Vec<StepName> = self.state.sessions.open.keys().cloned().collect();
        for step in steps {
            self.end_session(&step, SessionEvent::Reset, why.to_owned());
        }
    }

    fn end_session(&mut self, step: &StepName, to: SessionEvent, reason: String) {
        let Some(session) = self.state.sessions.of(step).map(|kept| kept.id.clone()) else { return };
        let n = self.state.iterations;
        self.record(Record::SessionEnded(SessionEnded { n, step: step.clone(), session, to, reason }));
    }
}
