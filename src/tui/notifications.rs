//! What the person is told of where they do not look at the screen, and what the terminal's title says.

use crate::base::text::clean_line;
use crate::domain::messages::reason_words;
use crate::domain::news::StorageAwaited;
use crate::domain::notification::{Notification, Urgency};
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::orchestrator::state::Ended;
use crate::tui::attention::What;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::Tab;
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
        let running = self.tabs.iter().find(|tab| tab.is_at_work());
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

/// What the person is told of a record that the tab has taken, unless it is over already.
pub fn of(model: &Model, tab: &Tab, record: &Record) -> Option<Notification> {
    if tab.is_only_shown() {
        return None;
    }
    let state = &tab.state;
    let needs_you = |is_it: &dyn Fn(&What) -> bool| {
        let item = model.attention().into_iter().find(|item| item.ticket == tab.id && is_it(&item.what))?;
        Some(tell(tab, Urgency::NeedsYou, "needs you", &model.words_of(&item)))
    };
    match record {
        Record::ApprovalAsked(approval) => needs_you(&|what| *what == What::Call(approval.id.clone())),
        Record::ValidationChangeSeen { .. } => needs_you(&|what| *what == What::Validation),
        Record::IterationEnded { .. } if state.awaits_phases().is_some() => needs_you(&|what| *what == What::MoreWork),
        Record::IterationEnded { .. } => needs_you(&|what| *what == What::Draft),
        Record::Paused => needs_you(&|what| matches!(what, What::Dispute(_))),
        Record::Parked(_) => {
            let parking = state.limits.parked.as_ref()?;
            Some(tell(tab, Urgency::News, "is parked", &parking.about))
        }
        Record::RunEnded { .. } => match state.ended.as_ref()? {
            Ended { reason: ExitReason::Complete, .. } => Some(tell(tab, Urgency::News, "is complete", tab.title())),
            Ended { reason: ExitReason::Planned, .. } => Some(tell(tab, Urgency::News, "is planned", tab.title())),
            Ended { reason: ExitReason::UserStopped, .. } => None,
            Ended { reason, detail } if detail.is_empty() => Some(stopped(tab, reason_words(*reason))),
            Ended { detail, .. } => Some(stopped(tab, detail)),
        },
        _ => None,
    }
}

/// That a run was left, or could not begin.
pub fn failed(tab: &Tab) -> Option<Notification> {
    tab.failure.as_deref().map(|why| stopped(tab, why))
}

/// That a run waits because nothing can be stored.
pub fn storage_awaited(tab: &Tab, waiting: &StorageAwaited) -> Notification {
    tell(tab, Urgency::NeedsYou, "cannot store anything", &waiting.why)
}

fn stopped(tab: &Tab, why: &str) -> Notification {
    tell(tab, Urgency::NeedsYou, "has stopped", why)
}

fn tell(tab: &Tab, urgency: Urgency, what: &str, text: &str) -> Notification {
    Notification { urgency, title: format!("{} {what}", tab.id), text: clean_line(text, 200) }
}
