//! What all panes and dialogs know. Theirs alone, and who is in front, is in `tui::ui`.

mod elsewhere;
pub mod opening;
mod underway;

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::command::UserCommand;
use crate::domain::news::SpentToday;
use crate::domain::own_seen::OwnSeen;
use crate::domain::request::{Closing, Request};
use crate::domain::summary::{Owner, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::domain::workflow::WorkflowSettings;
use crate::tui::arrangement::Arrangement;
use crate::tui::attention::What;
use crate::tui::changes::Known;
use crate::tui::home::{self, Ages, Home};
use crate::tui::keys::{Keymap, Pressed};
use crate::tui::listed::Listed;
use crate::tui::log_lines::LogLines;
use crate::tui::marks::Glyphs;
use crate::tui::msg::Ask;
use crate::tui::panes::stream;
use crate::tui::replay::Replay;
use crate::tui::selection::Selection;
use crate::tui::syntax::Syntax;
use crate::tui::tab::{Tab, TabStatus};
use jiff::tz::TimeZone;
use ratatui::layout::Rect;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How long words at the bottom stay.
const TOAST: Duration = Duration::from_secs(4);

/// How long a frame of a replay stands while it is played.
const PLAYED: Duration = Duration::from_millis(100);

/// What the person may do here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Live,
    /// A run of the past is shown.
    Replay,
}

/// The state that is shared.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Model {
    /// The open tickets, in the order they were opened.
    pub tabs: Vec<Tab>,
    pub active: usize,
    /// Every ticket that was read, open or not.
    pub listed: Listed,
    /// Tickets that wait to be started here, and why.
    pub queued: BTreeMap<TicketKey, String>,
    /// The last run of each ticket, of all programs.
    pub runs: BTreeMap<TicketKey, Arc<RunSummary>>,
    /// The Claude sessions that the person has started themselves.
    pub own: Arc<BTreeMap<TicketKey, OwnSeen>>,
    /// Those of which that wait for the person in another program, or did when it died.
    pub asking: BTreeSet<TicketKey>,
    /// The directory of this program.
    pub folder: String,
    /// The person's own folder, which is `~` on the screen.
    pub person_folder: String,
    /// The branch that is checked out in the directory.
    pub branch: Option<String>,
    pub spent: Option<SpentToday>,
    /// The gate's profile for runs that begin here.
    pub profile: &'static str,
    /// Who looks at finished work.
    pub workflow: WorkflowSettings,
    /// The validation commands of every ticket, by the person's configuration.
    pub checks: Vec<String>,
    pub home: Home,
    /// What differs in the directory of the run in front.
    pub changes: Known,
    /// Which keys the commands have.
    pub keys: Keymap,
    /// What was pressed and means nothing yet.
    pub pressed: Pressed,
    /// How large the panes are, and which are hidden.
    pub arrangement: Arrangement,
    /// What comes in is drawn as it comes; otherwise only text and numbers change.
    pub animations: bool,
    /// The terminal is told how far the runs are.
    pub tells_progress: bool,
    /// The pane that keys go to, by its name.
    pub focus: &'static str,
    /// What waited and was seen: it no longer waits.
    pub seen: Vec<(TicketKey, What)>,
    /// The line where a card begins that lies at the bottom, where one does.
    pub sheet: Option<u16>,
    /// Keys that go on from the end of a run and can act now, with their words.
    pub card_keys: Vec<(String, &'static str)>,
    /// Words at the bottom, and until when.
    pub toast: Option<(String, Timestamp)>,
    /// The machine that the runs are on, as the person calls it; `None`: this one.
    pub host: Option<String>,
    /// Why that machine is not heard; `None`: it is.
    pub lost: Option<String>,
    /// Columns and lines.
    pub size: (u16, u16),
    /// The time at the last wake-up.
    pub now: Timestamp,
    pub zone: TimeZone,
    /// Whether the terminal's window has the focus; `None`: it never said.
    pub focused: Option<bool>,
    /// Since when they do not look.
    pub left: Option<Timestamp>,
    /// Since when they did not the last time that it was long and something happened.
    pub absence: Option<Timestamp>,
    /// When the person last pressed a key.
    pub touched: Timestamp,
    /// Which characters may be drawn.
    pub glyphs: Glyphs,
    /// Live or replay.
    pub mode: Mode,
    /// How far a run of the past is shown.
    pub replay: Option<Replay>,
    /// The tree's cursor and folds.
    pub selection: Selection,
    /// The colours of the code that is on the screen.
    pub syntax: Syntax,
    /// The records in words.
    pub log: LogLines,
    /// The Log takes half of the screen.
    pub is_log_open: bool,
    /// The row of the Stream where the mouse's button went down.
    pub dragged: Option<u16>,
    /// The person asked for this ticket, which has no tab yet.
    pub opening: Option<String>,
    /// The person wants to leave as soon as nothing runs.
    pub quitting: Option<Closing>,
    /// Another program may go on with the runs of this one.
    pub outlives_screen: bool,
    /// Nothing of its runs is kept, as of the demo's.
    pub leaves_nothing: bool,
    /// It is to go on with these tickets once the screen is left.
    pub handed_over: Vec<TicketKey>,
    /// Runs whose work this program is committing, and their tickets.
    pub committing: BTreeMap<RunId, TicketKey>,
    /// The file of which a hunk is being reverted.
    pub reverting: Option<String>,
    /// How often something was told: of what is made of it, it is seen that it is old.
    pub told: u64,
    /// Something changed since the last frame.
    pub dirty: bool,
}

impl Model {
    /// An empty screen.
    pub fn new(now: Timestamp, zone: TimeZone) -> Self {
        Self {
            tabs: Vec::new(),
            active: 0,
            listed: Listed::default(),
            queued: BTreeMap::new(),
            runs: BTreeMap::new(),
            own: Arc::default(),
            asking: BTreeSet::new(),
            folder: String::new(),
            person_folder: String::new(),
            branch: None,
            spent: None,
            profile: "",
            workflow: WorkflowSettings::default(),
            checks: Vec::new(),
            home: Home::new(now),
            changes: Known::default(),
            keys: Keymap::default(),
            pressed: Pressed::default(),
            arrangement: Arrangement::default(),
            animations: true,
            tells_progress: false,
            focus: stream::NAME,
            seen: Vec::new(),
            sheet: None,
            card_keys: Vec::new(),
            toast: None,
            host: None,
            lost: None,
            size: (80, 24),
            now,
            zone,
            focused: None,
            left: None,
            absence: None,
            touched: now,
            glyphs: Glyphs::default(),
            mode: Mode::default(),
            replay: None,
            selection: Selection::default(),
            syntax: Syntax::default(),
            log: LogLines::default(),
            is_log_open: false,
            dragged: None,
            opening: None,
            quitting: None,
            outlives_screen: false,
            leaves_nothing: false,
            handed_over: Vec::new(),
            committing: BTreeMap::new(),
            reverting: None,
            told: 0,
            dirty: true,
        }
    }

    /// Opens a tab for a ticket, or finds the one that is open. Does not bring it to the front.
    pub fn open_tab(&mut self, id: &TicketKey) -> usize {
        if let Some(at) = self.tabs.iter().position(|tab| tab.id == *id) {
            return at;
        }
        let mut tab = Tab::new(id.clone());
        tab.ticket = self.listed.get(id).cloned();
        tab.see_own(self.own.get(id));
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

    /// Gets the stream in front ready to be drawn there.
    pub fn prepare_stream(&mut self, place: Rect) {
        let mut syntax = std::mem::take(&mut self.syntax);
        if let Some(tab) = self.tab_mut() {
            tab.stream.prepare(place.width, place.height);
            syntax.see(tab.stream.code());
        }
        self.syntax = syntax;
    }

    /// Takes how a run stands, and keeps it where it is the last one of its ticket.
    pub fn see_run(&mut self, run: Arc<RunSummary>) -> Vec<Ask> {
        let mut asks = Vec::new();
        for tab in self.tabs.iter_mut().filter(|tab| tab.run == Some(run.run)) {
            let before = tab.owner;
            tab.seen(&run);
            // Another program goes on with it: what it does is told where it is asked for.
            if tab.owner == Owner::Another && before != tab.owner {
                asks.push(Ask::Request(Request::Show(run.run)));
            }
        }
        let key = run.key();
        if self.runs.get(&key).is_none_or(|known| known.started <= run.started) {
            // Its ticket was opened before it was known that there is a run, or shows one of before that nobody works on.
            let id = run.run;
            // What this program begins itself is opened by it.
            let is_elsewhere = |tab: &Tab| tab.is_only_shown() || run.owner() == Owner::Nobody;
            let shows_earlier = |tab: &Tab| tab.is_before(&run) && is_elsewhere(tab);
            let lacks_it = |tab: &Tab| tab.failure.is_none() && (tab.run.is_none() || shows_earlier(tab));
            let is_awaited = self.tabs.iter().any(|tab| tab.id == key && lacks_it(tab));
            if run.left_waiting().or(run.asks()).is_some() || needs_person(&run) {
                self.asking.insert(key.clone());
            } else {
                self.asking.remove(&key);
            }
            self.runs.insert(key.clone(), run);
            if self.mode == Mode::Live && is_awaited && self.last_run(&key).is_some() {
                asks.push(Ask::Request(Request::Show(id)));
            }
        }
        asks
    }

    /// The last run of a ticket: of this directory, or of all where Home shows all.
    pub fn last_run(&self, ticket: &TicketKey) -> Option<&RunSummary> {
        let run = self.runs.get(ticket).map(AsRef::as_ref);
        run.filter(|run| self.home.everywhere || run.folder == self.folder)
    }

    /// The ticket that keys mean, open or not.
    pub fn ticket_in_front(&self) -> Option<&TicketKey> {
        if self.is_home() { self.home.cursor.as_ref() } else { self.tab().map(|tab| &tab.id) }
    }

    /// A path as people write it.
    pub fn short_path(&self, path: &str) -> String {
        let below = path.strip_prefix(&self.person_folder).filter(|_| !self.person_folder.is_empty());
        let below = below.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        below.map_or_else(|| path.to_owned(), |rest| format!("~{rest}"))
    }

    /// What was spent today: in this directory, or in all where Home shows all.
    pub fn spent_today(&self) -> Option<f64> {
        let spent = self.spent.filter(|spent| spent.since == self.now.midnight(&self.zone))?;
        Some(if self.home.everywhere { spent.everywhere } else { spent.here })
    }

    /// Home is shown.
    pub fn is_home(&self) -> bool {
        self.focus == home::NAME
    }

    /// The moment that a tab shows: in a replay that of the last record.
    pub fn moment(&self, tab: &Tab) -> Timestamp {
        match self.mode {
            Mode::Live => self.now,
            Mode::Replay => tab.state.updated.unwrap_or(self.now),
        }
    }

    /// The ticket's tab, if it is open.
    pub fn tab_of(&self, ticket: &TicketKey) -> Option<&Tab> {
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

    /// Why a ticket waits to be started here; `None`: it does not.
    pub fn queued_why(&self, ticket: &TicketKey) -> Option<&str> {
        self.queued.get(ticket).map(String::as_str)
    }

    /// Says something at the bottom for a few seconds.
    pub fn tell(&mut self, words: impl Into<String>) {
        self.toast = Some((words.into(), self.now.plus(TOAST)));
    }

    /// When the screen must be drawn again though nothing happens: the next full second while a clock
    /// runs, the next full minute while Home tells ages, the end of a toast; `None` when it can rest.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let clock = self
            .is_timed()
            .then(|| Timestamp::from_millis((self.now.millis().div_euclid(1_000) + 1).saturating_mul(1_000)));
        let ages = (self.is_home() && self.home.ages == Ages::Told)
            .then(|| Timestamp::from_millis((self.now.millis().div_euclid(60_000) + 1).saturating_mul(60_000)));
        let toast = self.toast.as_ref().map(|(_, until)| *until);
        let played = self.replay.as_ref().is_some_and(|replay| replay.is_playing).then(|| self.now.plus(PLAYED));
        clock.into_iter().chain(ages).chain(toast).chain(self.changes_due()).chain(played).min()
    }

    /// A search in the shown stream has more to show in the next frame.
    pub fn searching(&self) -> bool {
        self.tab().is_some_and(|tab| tab.stream.is_searching())
    }

    pub fn shows_run(&self) -> bool {
        self.tab().is_some_and(|tab| tab.run.is_some())
    }

    /// Hands a command to the run in front.
    pub fn to_run(&self, command: UserCommand) -> Vec<Ask> {
        self.tab().map(|tab| Ask::Request(Request::Command(tab.id.clone(), command))).into_iter().collect()
    }
}

/// It has ended, and only the person can do something about that.
pub fn needs_person(run: &RunSummary) -> bool {
    TabStatus::of(run) == TabStatus::Halted && !run.is_review() && !run.is_own_session()
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
    fn ages_on_home_move_with_the_minute_and_no_faster() {
        let mut ui = sample::model();
        ui.focus = home::NAME;
        let mut run = sample::seen("tk-1", &ui.folder);
        (run.state, run.reason) = (crate::domain::summary::RunState::Ended, Some("user_stopped".into()));
        ui.see_run(run.into());
        let before = sample::draw(&mut ui, (120, 40));
        let minute = sample::NOW.millis().div_euclid(60_000) + 1;
        assert_eq!(ui.wake_at(), Some(Timestamp::from_millis(minute * 60_000)));
        ui.now = Timestamp::from_millis((minute + 2) * 60_000);
        assert_ne!(sample::draw(&mut ui, (120, 40)), before);
        ui.focus = "stream";
        assert_eq!(ui.wake_at(), None, "none is seen");
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
        model.tabs[0].failure = None;
        model.tabs[0].state.approvals.push(sample::push("c").into());
        assert_eq!((model.standing(&model.tabs[0]), model.waiting()), (TabStatus::NeedsYou, 0), "as its records say");
    }

    #[test]
    fn a_toast_wakes_the_screen_when_it_ends() {
        let mut model = sample::model();
        model.tell("saved");
        assert_eq!(model.wake_at(), Some(sample::NOW.plus(TOAST)));
    }
}
