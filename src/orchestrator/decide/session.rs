//! Which session of Claude's an iteration goes on with, and when one is given up.

use super::Draft;
use crate::base::time::human;
use crate::domain::record::Record;
use crate::domain::session::{CODE, SessionEnded, Way};
use std::time::Duration;

impl Draft<'_> {
    /// The session that the next iteration goes on with; one that cannot be is ended on the way.
    pub(super) fn choose_session(&mut self) -> Option<String> {
        let kept = self.state.sessions.of(CODE)?.clone();
        // Anything but a UUID would be refused by Claude, or be taken for something else.
        if !self.state.settings.session_continuity || uuid::Uuid::parse_str(&kept.id).is_err() {
            return None;
        }
        let expiry = Duration::from_secs(u64::from(self.state.settings.session_expiry_hours) * 3_600);
        if kept.folder != self.state.folder {
            self.end_session(Way::Reset, format!("it belongs to the folder {}", kept.folder));
        } else if kept.is_expired(self.now, expiry) {
            let age = human(self.now.since(kept.used));
            self.end_session(Way::Expired, format!("not used for {age}"));
        } else {
            return Some(kept.id);
        }
        None
    }

    /// The model that a session is to be resumed with: it forgets its variant by itself.
    pub(super) fn model_of(&self, session: &str) -> Option<String> {
        let kept = self.state.sessions.of(CODE).filter(|kept| kept.id == session && !kept.model.is_empty())?;
        Some(kept.model.clone())
    }

    /// Gives the session up: the next iteration opens a fresh one.
    pub(super) fn reset_session(&mut self, why: impl Into<String>) {
        self.end_session(Way::Reset, why.into());
    }

    fn end_session(&mut self, to: Way, reason: String) {
        let Some(session) = self.state.sessions.of(CODE).map(|kept| kept.id.clone()) else {
            return;
        };
        let n = self.state.iterations;
        self.record(Record::SessionEnded(SessionEnded { n, step: CODE.to_owned(), session, to, reason }));
    }
}
