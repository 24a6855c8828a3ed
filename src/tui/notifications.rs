//! Which records the person is told of where they do not look at the screen, and what the terminal's title says.

use crate::base::text::clean_line;
use crate::domain::messages::reason_words;
use crate::domain::notification::{Notification, Urgency};
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::orchestrator::state::State;
use crate::tui::call_words::call_words;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::{Tab, TabStatus};
use std::time::Duration;

/// A terminal that never tells of its focus is looked at for so long after a key.
const LOOKS: Duration = Duration::from_secs(60);

impl Model {
    /// The person looks at the screen, as far as can be told.
    pub fn is_looked_at(&self) -> bool {
        self.focused.unwrap_or_else(|| self.now.since(self.touched) < LOOKS)
    }

    /// What the terminal's title says: who needs the person, else what runs.
    pub fn title(&self) -> String {
        let waiting = if self.mode == Mode::Live { self.waiting() } else { 0 };
        let running = self.tabs.iter().find(|tab| tab.is_active());
        let about = match (waiting, running) {
            (0, None) => return "programmator".to_owned(),
            (0, Some(tab)) => {
                let (done, all) = tab.progress();
                format!("{} {done}/{all}", tab.id)
            }
            (waiting, _) => format!("! {waiting} waiting"),
        };
        clean_line(&format!("{about} · programmator"), 80)
    }
}

/// What the person is told of a record that the tab has taken.
pub fn of(tab: &Tab, record: &Record) -> Option<Notification> {
    if !tab.ours {
        return None;
    }
    let state = &tab.state;
    let tell = |urgency, what: &str, text: String| {
        Some(Notification { urgency, title: format!("{} {what}", tab.id), text: clean_line(&text, 200) })
    };
    match record {
        Record::ApprovalAsked(approval) => tell(Urgency::NeedsYou, "needs you", call_words(approval)),
        Record::ValidationChangeSeen { .. } => {
            tell(Urgency::NeedsYou, "needs you", "its validation commands were changed".into())
        }
        Record::Parked(_) => {
            let about = state.limits.parked.as_ref().map_or_else(String::new, |parking| parking.about.clone());
            tell(Urgency::News, "is parked", about)
        }
        Record::Paused if tab.standing() == TabStatus::NeedsYou || is_disputed(state) => {
            tell(Urgency::NeedsYou, "needs you", "a phase is disputed".into())
        }
        Record::RunEnded { reason: ExitReason::Complete, .. } => {
            tell(Urgency::News, "is complete", tab.title().to_owned())
        }
        Record::RunEnded { reason: ExitReason::UserStopped, .. } => None,
        Record::RunEnded { reason, detail, .. } => {
            let why = if detail.is_empty() { reason_words(*reason).to_owned() } else { detail.clone() };
            tell(Urgency::NeedsYou, "has stopped", why)
        }
        _ => None,
    }
}

fn is_disputed(state: &State) -> bool {
    state.phases.iter().any(|phase| phase.mark == crate::domain::phase::Mark::Disputed)
}
