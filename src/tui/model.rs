//! What all panes and dialogs know. Theirs alone, and who is in front, is in `tui::ui`.

use crate::base::id::TicketId;
use crate::base::time::Timestamp;
use crate::domain::command::UserCommand;
use crate::domain::request::{Closing, Request};
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::ticket::Ticket;
use crate::tui::attention::What;
use crate::tui::changes::Known;
use crate::tui::home::{self, Home};
use crate::tui::log_lines::LogLines;
use crate::tui::marks::Glyphs;
use crate::tui::msg::Ask;
use crate::tui::panes::stream::{self, SearchStatus};
use crate::tui::selection::Selection;
use crate::tui::tab::Tab;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long words at the bottom stay.
const TOAST: Duration = Duration::from_secs(4);

/// What the person may do here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Live,
    /// A run of the past is shown.
    Replay,
}

/// The state that is shared.
pub struct Model {
    /// The open tickets, in the order they were opened.
    pub tabs: Vec<Tab>,
    pub active: usize,
    /// Every ticket that was read, open or not.
    pub listed: BTreeMap<TicketId, Arc<Ticket>>,
    /// The last run of each ticket, of all programs; several where several files have its id.
    pub runs: BTreeMap<TicketId, Vec<Arc<RunSummary>>>,
    /// The directory of this program.
    pub folder: String,
    /// The gate's profile for runs that begin here.
    pub profile: &'static str,
    pub home: Home,
    /// What differs in the directory of the run in front.
    pub changes: Known,
    /// The pane that keys go to, by its name.
    pub focus: &'static str,
    /// What waited and was seen: it no longer waits.
    pub seen: Vec<(TicketId, What)>,
    /// Words at the bottom, and until when.
    pub toast: Option<(String, Timestamp)>,
    /// Columns and lines.
    pub size: (u16, u16),
    /// The time at the last wake-up.
    pub now: Timestamp,
    pub zone: TimeZone,
    /// Whether the terminal's window has the focus; `None`: it never said.
    pub focused: Option<bool>,
    /// When the person last pressed a key.
    pub touched: Timestamp,
    /// Which characters may be drawn.
    pub glyphs: Glyphs,
    /// Live or replay.
    pub mode: Mode,
    /// The tree's cursor and folds.
    pub selection: Selection,
    /// The records in words.
    pub log: LogLines,
    /// The person asked for this ticket, which has no tab yet.
    pub opening: Option<String>,
    /// The person wants to leave as soon as nothing runs.
    pub quitting: Option<Closing>,
    /// Something changed since the last frame.
    pub dirty: bool,
}

impl Model {
    /// An empty screen.
    pub fn new(now: Timestamp, zone: TimeZone) -> Self {
        Self {
            tabs: Vec::new(),
            active: 0,
            listed: BTreeMap::new(),
            runs: BTreeMap::new(),
            folder: String::new(),
            profile: "",
            home: Home::new(now),
            changes: Known::default(),
            focus: stream::NAME,
            seen: Vec::new(),
            toast: None,
            size: (80, 24),
            now,
            zone,
            focused: None,
            touched: now,
            glyphs: Glyphs::default(),
            mode: Mode::default(),
            selection: Selection::default(),
            log: LogLines::default(),
            opening: None,
            quitting: None,
            dirty: true,
        }
    }

    /// Opens a tab for a ticket, or finds the one that is open. Does not bring it to the front.
    pub fn open_tab(&mut self, id: &TicketId) -> usize {
        if let Some(at) = self.tabs.iter().position(|tab| tab.id == *id) {
            return at;
        }
        let mut tab = Tab::new(id.clone());
        tab.ticket = self.listed.get(id).cloned();
        self.tabs.push(tab);
        self.tabs.len() - 1
    }

    /// The tab in front; at Home that of the chosen ticket.
    pub fn tab(&self) -> Option<&Tab> {
        if self.is_home() { self.tab_of(self.home.cursor.as_ref()?) } else { self.tabs.get(self.active) }
    }

    /// The same, to be changed.
    pub fn tab_mut(&mut self) -> Option<&mut Tab> {
        let at = self.tabs.iter().position(|tab| Some(&tab.id) == self.tab().map(|front| &front.id))?;
        self.tabs.get_mut(at)
    }

    /// Takes how a run stands, where it is the last one of its ticket's file.
    pub fn see_run(&mut self, run: Arc<RunSummary>) {
        let known = self.runs.entry(run.ticket.clone()).or_default();
        match known.iter_mut().find(|other| other.ticket_path == run.ticket_path) {
            Some(other) if other.started > run.started => {}
            Some(other) => *other = run,
            None => known.push(run),
        }
    }

    /// The last run of a ticket: of this directory, or of all where Home shows all.
    pub fn last_run(&self, ticket: &TicketId) -> Option<&RunSummary> {
        let runs = self.runs.get(ticket)?.iter().map(AsRef::as_ref);
        let wanted = runs.filter(|run| self.home.everywhere || run.folder == self.folder);
        wanted.max_by_key(|run| (run.folder == self.folder, run.started))
    }

    /// The run was at work when its program died: another one than this.
    pub fn is_interrupted(&self, tab: &Tab) -> bool {
        let seen = self.last_run(&tab.id).filter(|run| Some(run.run) == tab.run);
        !tab.ours && tab.state.ended.is_none() && seen.is_some_and(|run| run.state == RunState::Interrupted)
    }

    /// Why a run that is only shown takes no commands here; `None`: it is ours, or nobody works on it and it is of this
    /// directory.
    pub fn is_elsewhere(&self, tab: &Tab) -> Option<String> {
        let directory = tab.state.workspace.to_string();
        match () {
            () if tab.ours => None,
            () if directory != self.folder => Some(format!("its run belongs to {directory}; start programmator there")),
            () if tab.state.ended.is_some() || self.is_interrupted(tab) => None,
            () => {
                Some("another program works on it, and here it is only shown; answer, pause and stop it there".into())
            }
        }
    }

    /// The ticket that keys mean, open or not.
    pub fn ticket_in_front(&self) -> Option<&TicketId> {
        if self.is_home() { self.home.cursor.as_ref() } else { self.tab().map(|tab| &tab.id) }
    }

    /// Home is shown.
    pub fn is_home(&self) -> bool {
        self.focus == home::NAME
    }

    /// The ticket's tab, if it is open.
    pub fn tab_of(&self, ticket: &TicketId) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.id == *ticket)
    }

    /// Brings a tab to the front; no effect when there is none.
    pub fn show_tab(&mut self, at: usize) {
        if at < self.tabs.len() {
            self.active = at;
            self.selection.cursor = None;
            if self.is_home() {
                self.focus = stream::NAME;
            }
        }
    }

    /// Something runs that quitting would cut off.
    pub fn anything_active(&self) -> bool {
        self.mode == Mode::Live && self.tabs.iter().any(Tab::is_active)
    }

    /// Says something at the bottom for a few seconds.
    pub fn tell(&mut self, words: impl Into<String>) {
        self.toast = Some((words.into(), self.now.plus(TOAST)));
    }

    /// When the screen must be drawn again though nothing happens: the next full second while a clock
    /// runs, the end of a toast; `None` when it can rest.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let clock = self
            .anything_active()
            .then(|| Timestamp::from_millis((self.now.millis().div_euclid(1_000) + 1).saturating_mul(1_000)));
        let toast = self.toast.as_ref().map(|(_, until)| *until);
        clock.into_iter().chain(toast).chain(self.changes_due()).min()
    }

    /// A search in the shown stream continues in the next frame.
    pub fn searching(&self) -> bool {
        self.tab().is_some_and(|tab| matches!(tab.stream.search(), Some(SearchStatus::Busy(_))))
    }

    pub fn shows_run(&self) -> bool {
        self.tab().is_some_and(|tab| tab.run.is_some())
    }

    /// Asks for a ticket by its id or path; its tab comes to the front.
    pub fn open(&mut self, name: String) -> Vec<Ask> {
        if let Some(at) = self.tabs.iter().position(|tab| tab.id.as_str() == name) {
            self.show_tab(at);
            return Vec::new();
        }
        self.tell(opening(&name));
        self.opening = Some(name.clone());
        vec![Ask::Request(Request::Open(name))]
    }

    /// It is known what came of the name that the person asked for. Whether it was the last one.
    pub fn was_opening(&mut self, name: &str) -> bool {
        self.toast.take_if(|(words, _)| *words == opening(name));
        self.opening.take_if(|last| last == name).is_some()
    }

    /// Hands a command to the run in front.
    pub fn to_run(&self, command: UserCommand) -> Vec<Ask> {
        self.tab().map(|tab| Ask::Request(Request::Command(tab.id.clone(), command))).into_iter().collect()
    }
}

/// What is said of a ticket until its run begins.
pub fn starting(id: &TicketId) -> String {
    format!("starting {id} …")
}

/// What is said of a name until it is known which ticket it means, and that is open.
pub fn opening(name: &str) -> String {
    format!("{name} is being opened")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;
    use crate::tui::tab::TabStatus;

    #[test]
    fn an_idle_screen_rests() {
        let mut model = sample::model();
        assert_eq!(model.wake_at(), None);
        model.tabs.push(sample::finished("tk-1"));
        assert_eq!(model.wake_at(), None);
        model.tabs.push(sample::running("tk-2"));
        assert_eq!(model.wake_at(), Some(Timestamp::from_millis(sample::NOW.millis() / 1_000 * 1_000 + 1_000)));
        model.mode = Mode::Replay;
        assert_eq!(model.wake_at(), None, "the past has no clock");
    }

    #[test]
    fn the_past_needs_nobody() {
        let mut model = sample::model();
        let mut tab = sample::running("tk-1");
        tab.failure = Some("gone".into());
        model.tabs.push(tab);
        assert_eq!((model.standing(&model.tabs[0]), model.waiting()), (TabStatus::Halted, 0));
        model.mode = Mode::Replay;
        assert_eq!((model.standing(&model.tabs[0]), model.waiting()), (TabStatus::Stopped, 0));
    }

    #[test]
    fn a_toast_wakes_the_screen_when_it_ends() {
        let mut model = sample::model();
        model.tell("saved");
        assert_eq!(model.wake_at(), Some(sample::NOW.plus(TOAST)));
    }
}
