//! What the person is told of where they do not look at the screen, and what the terminal's title says.

use crate::base::text::clean_line;
use crate::domain::news::StorageAwaited;
use crate::domain::notification::{Level, Notification};
use crate::domain::record::Record;
use crate::orchestrator::telling;
use crate::tui::attention::What;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::Tab;
use crate::tui::terminal::Progress;
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

    /// How far the runs at work are together, for the terminal; `None` where none is, and where the person does not want it.
    pub fn progress(&self) -> Option<Progress> {
        let at_work = self.tabs.iter().filter(|tab| tab.is_at_work());
        let (runs, done, all) = at_work
            .map(Tab::progress)
            .fold((0, 0, 0), |(runs, done, all), (more, of)| (runs + 1, done + more, all + of));
        if !self.tells_progress || self.mode != Mode::Live || runs == 0 {
            return None;
        }
        let percent = (done * 100).checked_div(all).and_then(|percent| u8::try_from(percent).ok());
        Some(Progress { percent, waits: self.waiting() > 0 })
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
        Some(tell(tab, Level::NeedsYou, "needs you", &model.words_of(&item)))
    };
    match record {
        Record::ApprovalAsked(approval) => needs_you(&|what| *what == What::Call(approval.id.clone())),
        Record::ValidationChangeSeen { .. } => needs_you(&|what| *what == What::Validation),
        Record::IterationEnded { .. } if state.awaits_phases().is_some() => needs_you(&|what| *what == What::MoreWork),
        Record::IterationEnded { .. } => needs_you(&|what| *what == What::Draft),
        Record::Paused => needs_you(&|what| matches!(what, What::Dispute(_))),
        _ => {
            let told = telling::of(state, record)?;
            Some(Notification { text: clean_line(&told.text, 200), ..told })
        }
    }
}

/// That a run was left, or could not begin.
pub fn failed(tab: &Tab) -> Option<Notification> {
    tab.failure.as_deref().map(|why| stopped(tab, why))
}

/// That a run waits because nothing can be stored.
pub fn storage_awaited(tab: &Tab, waiting: &StorageAwaited) -> Notification {
    tell(tab, Level::NeedsYou, "cannot store anything", &waiting.why)
}

fn stopped(tab: &Tab, why: &str) -> Notification {
    tell(tab, Level::Failed, "has stopped", why)
}

fn tell(tab: &Tab, level: Level, what: &str, text: &str) -> Notification {
    let ticket = tab.id.to_string();
    let phase = tab.state.open_iteration().and_then(|_| tab.state.own_text()).map(str::to_owned);
    Notification { level, title: format!("{ticket} {what}"), ticket, phase, text: clean_line(text, 200) }
}
