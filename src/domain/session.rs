//! Claude's sessions of a ticket: the one that each step resumes, and what became of those before.
//!
//! They outlive runs: each run begins with what the one before left. When one is resumed and when it is given
//! up is the core's (`orchestrator::decide`); Claude's own transcript is Claude's.

use crate::base::time::Timestamp;
use crate::domain::step::StepName;
use crate::domain::worded::worded;
use crate::domain::workspace::Workspace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Transitions that are kept.
pub const HISTORY: usize = 50;

/// A ticket's sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sessions {
    /// The session that a step resumes, by the step's name.
    pub open: BTreeMap<StepName, Session>,
    /// What became of them all, oldest first, at most [`HISTORY`].
    pub history: Vec<Transition>,
}

/// One session that can be resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    pub id: String,
    /// The workspace, by its [`session_key`](Workspace::session_key).
    pub folder: String,
    /// The model that Claude chose by itself, with its variant, which it forgets when it resumes; empty where the
    /// person has chosen one.
    pub model: String,
    pub opened: Timestamp,
    /// When it was last used: its age counts from here.
    pub used: Timestamp,
    #[serde(flatten)]
    pub told: Told,
}

/// What Claude knows in a session, as digests; empty where that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    #[serde(rename = "told", skip_serializing_if = "String::is_empty")]
    pub ticket: String,
    /// How to work, and what the gate does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rules: String,
}

impl Session {
    pub fn now(id: &str, workspace: &Workspace, model: &str, now: Timestamp) -> Self {
        let ([id, model], folder) = ([id, model].map(str::to_owned), workspace.session_key());
        Self { id, folder, model, opened: now, used: now, told: Told::default() }
    }

    /// Whether it can be resumed there.
    pub fn is_bound_to(&self, workspace: &Workspace) -> bool {
        self.folder == workspace.session_key()
    }

    /// Not used for so long. A clock that goes back makes nothing older.
    pub fn is_expired(&self, now: Timestamp, after: Duration) -> bool {
        now.since(self.used) >= after
    }
}

/// How a session moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    pub time: Timestamp,
    /// The iteration of its run; 0 outside of one.
    #[serde(default)]
    pub n: u32,
    pub step: StepName,
    pub session: String,
    pub to: SessionEvent,
    /// Why, in words; empty where `to` says it all.
    #[serde(default)]
    pub reason: String,
}

worded! {
    /// What can become of a session.
    pub enum SessionEvent {
        Opened = "opened",
        Resumed = "resumed",
        Expired = "expired",
        Lost = "lost",
        /// Given up by a rule or by the person.
        Reset = "reset",
    }
}

/// Why the sessions of a run end that has done all of its ticket.
pub const COMPLETE: &str = "the ticket is complete";

/// The end of a session, in the journal. Also behind a run's end, by `programmator session reset`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnded {
    /// The iteration it was last used in; 0 when this run did not use it.
    pub n: u32,
    pub step: StepName,
    pub session: String,
    /// [`SessionEvent::Expired`] or [`SessionEvent::Reset`].
    pub to: SessionEvent,
    pub reason: String,
}

impl Sessions {
    pub fn of(&self, step: &StepName) -> Option<&Session> {
        self.open.get(step)
    }

    /// Claude has opened the session `ready` for the step: one that was known is resumed, any other takes its place.
    pub fn ready(&mut self, step: &StepName, ready: Session, n: u32) {
        let (id, now) = (ready.id.clone(), ready.used);
        let known = self.open.get(step).filter(|known| known.id == id).map(|known| known.opened);
        let to = if known.is_some() { SessionEvent::Resumed } else { SessionEvent::Opened };
        let opened = known.unwrap_or(ready.opened);
        self.open.insert(step.clone(), Session { opened, ..ready });
        self.moved(step, &id, n, to, "", now);
    }

    /// The step's session was used.
    pub fn touch(&mut self, step: &StepName, now: Timestamp) {
        if let Some(session) = self.open.get_mut(step) {
            session.used = session.used.max(now);
        }
    }

    pub fn end(&mut self, ended: &SessionEnded, now: Timestamp) {
        if self.open.get(&ended.step).is_some_and(|session| session.id == ended.session) {
            self.open.remove(&ended.step);
        }
        self.moved(&ended.step, &ended.session, ended.n, ended.to, &ended.reason, now);
    }

    fn moved(&mut self, step: &StepName, session: &str, n: u32, to: SessionEvent, reason: &str, time: Timestamp) {
        let (step, session, reason) = (step.clone(), session.to_owned(), reason.to_owned());
        self.history.push(Transition { time, n, step, session, to, reason });
        let surplus = self.history.len().saturating_sub(HISTORY);
        self.history.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: u64) -> Timestamp {
        Timestamp::from_millis(1_795_000_000_000).plus(Duration::from_secs(hours * 3_600))
    }

    fn ended(session: &str, to: SessionEvent) -> SessionEnded {
        SessionEnded { n: 1, step: StepName::CODE, session: session.into(), to, reason: "why".into() }
    }

    #[test]
    fn a_session_is_opened_resumed_replaced_and_ended() {
        let mut sessions = Sessions::default();
        sessions.ready(&StepName::CODE, Session::now("a", &Workspace::default(), "m", at(0)), 1);
        sessions.ready(&StepName::CODE, Session::now("a", &Workspace::default(), "m", at(1)), 2);
        assert_eq!(sessions.of(&StepName::CODE).map(|kept| (kept.opened, kept.used)), Some((at(0), at(1))));
        sessions.ready(&StepName::CODE, Session::now("b", &Workspace::default(), "m", at(2)), 3);
        sessions.end(&ended("a", SessionEvent::Reset), at(3));
        assert_eq!(sessions.of(&StepName::CODE).map(|kept| kept.id.as_str()), Some("b"), "another one is not touched");
        sessions.end(&ended("b", SessionEvent::Expired), at(4));
        assert_eq!(sessions.of(&StepName::CODE), None);
        let ways: Vec<&str> = sessions.history.iter().map(|moved| moved.to.word()).collect();
        assert_eq!(ways, ["opened", "resumed", "opened", "reset", "expired"]);
    }

    #[test]
    fn steps_have_sessions_of_their_own() {
        let mut sessions = Sessions::default();
        sessions.ready(&StepName::CODE, Session::now("a", &Workspace::default(), "m", at(0)), 1);
        sessions.ready(&StepName::new("critique"), Session::now("b", &Workspace::default(), "m", at(0)), 1);
        sessions.end(&ended("a", SessionEvent::Reset), at(1));
        assert_eq!((sessions.of(&StepName::CODE), sessions.of(&StepName::new("critique")).is_some()), (None, true));
        let text = serde_json::to_string(&sessions).unwrap();
        assert_eq!(serde_json::from_str::<Sessions>(&text).unwrap(), sessions);
    }

    #[test]
    fn age_counts_from_the_last_use_and_never_backwards() {
        let mut sessions = Sessions::default();
        sessions.ready(&StepName::CODE, Session::now("a", &Workspace::default(), "m", at(0)), 1);
        sessions.touch(&StepName::CODE, at(10));
        sessions.touch(&StepName::CODE, at(5));
        let kept = sessions.of(&StepName::CODE).unwrap();
        let day = Duration::from_secs(86_400);
        for (now, expired) in [(0, false), (24, false), (33, false), (34, true), (99, true)] {
            assert_eq!(kept.is_expired(at(now), day), expired, "{now} h");
        }
    }

    #[test]
    fn the_last_transitions_are_kept() {
        let mut sessions = Sessions::default();
        for n in 1..=60 {
            sessions.ready(&StepName::CODE, Session::now("a", &Workspace::default(), "m", at(0)), n);
        }
        let (first, last) = (sessions.history.first().unwrap(), sessions.history.last().unwrap());
        assert_eq!((sessions.history.len(), first.n, last.n), (HISTORY, 11, 60));
    }
}
