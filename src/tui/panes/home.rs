//! Home: every ticket and run in one table, grouped by what the person has to do, and a preview of the chosen one. It
//! takes the whole screen while it has the focus.

mod estimate;
mod preview;
mod rows;
mod table;

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::request::Request;
use crate::domain::summary::{RunState, RunSummary};
use crate::tui::command::{self, Command, Scope, always, c, lines, page, press, rows};
use crate::tui::home::NAME;
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Key};
use crate::tui::pane;
use crate::tui::panes::stream;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rows::{Entry, Group, entry};
use std::time::Duration;
use table::Line;

/// The row of the table of panes.
pub const PANE: pane::Entry = pane::Entry { name: NAME, keys: KEYS, new: || Box::<HomePane>::default() };

const KEYS: &[command::Row] = rows! {
    Choose "home.open" Scope::Pane(NAME), "home", [press(Key::Enter), press(Key::Right)], Shown, has_row, |_| "open",
        "in Home: open the selected ticket";
    Own("peek") "home.peek" Scope::Pane(NAME), "home", [c(' ')], Shown, has_row, |model| if model.home.peeks { "table" } else { "peek" },
        "in Home: more of the preview, or less";
    Own("start") "home.start" Scope::Pane(NAME), "home", [c('s')], Shown, can_start, |_| "start",
        "in Home: start the selected ticket";
    NewTicket "home.new" Scope::Pane(NAME), "home", [c('n')], Shown, always, |_| "new ticket",
        "in Home: write a new ticket";
    Prompt "home.filter" Scope::Pane(NAME), "home", [c('/')], Shown, always, |_| "filter",
        "in Home: show only tickets with these words";
    Own("everywhere") "home.everywhere" Scope::Pane(NAME), "home", [c('o')], Shown, always, everywhere_word,
        "in Home: the runs of all directories, or of this one";
    Own("back") "home.back" Scope::Pane(NAME), "home", [press(Key::Esc)], HelpOnly, |model| !model.tabs.is_empty() || !model.home.filter.is_empty(), |_| "back",
        "in Home: clear the filter; back to the ticket in front";
};

fn has_row(model: &Model) -> bool {
    model.home.cursor.is_some()
}

fn can_start(model: &Model) -> bool {
    let at_rest = |run: &RunSummary| matches!(run.state, RunState::Ended | RunState::Interrupted);
    chosen(model).is_some_and(|entry| {
        let is_here = entry.ticket.is_some() || entry.run.is_some_and(|run| run.folder == model.folder);
        let is_free = entry.run.is_none_or(|run| at_rest(run) && run.folder == model.folder);
        let is_done = entry.group == Group::Done;
        is_here && is_free && !is_done && !entry.tab.is_some_and(Tab::has_open_run)
    })
}

fn everywhere_word(model: &Model) -> &'static str {
    if model.home.everywhere { "this directory" } else { "all directories" }
}

/// Rows come one after the other at first: so long the first of them is selected, whichever it is.
const SETTLED: Duration = Duration::from_secs(1);
/// Columns from which on there is a preview.
const WIDE: u16 = 110;
/// The pane's own state.
#[derive(Default)]
struct HomePane {
    /// The table as it was last made, for a screen of many tickets.
    lines: Vec<Line>,
    scrolled: Scrolled,
}

fn chosen(model: &Model) -> Option<Entry<'_>> {
    model.home.cursor.as_ref().map(|id| entry(model, id))
}

/// The question before a start; `None`: no ticket is selected.
pub fn start_words(model: &Model) -> Option<String> {
    chosen(model).map(|entry| estimate::words(model, &clean_line(entry.title(), 100), &entry.marks()))
}

/// The places of the table and of the preview, a border between them; on a narrow screen one of the two is empty.
fn places(model: &Model, inside: Rect) -> (Rect, Rect) {
    let width = match (inside.width >= WIDE, model.home.peeks) {
        (true, false) => (inside.width / 3).min(64),
        (true, true) => inside.width * 3 / 5,
        (false, peeks) => return if peeks { (Rect::default(), inside) } else { (inside, Rect::default()) },
    };
    let left = Rect { width: inside.width - width, ..inside };
    (left, Rect { x: left.right() + 2, width: width - 3, ..inside })
}

impl HomePane {
    fn step(&self, model: &mut Model, by: i32) {
        let tickets: Vec<&TicketId> = self.lines.iter().filter_map(Line::ticket).collect();
        let at = tickets.iter().position(|id| Some(*id) == model.home.cursor.as_ref()).unwrap_or(0);
        let to = at.saturating_add_signed(by as isize).min(tickets.len().saturating_sub(1));
        model.home.cursor = tickets.get(to).map(|id| (*id).clone());
        model.home.is_chosen = true;
    }
}

/// Brings the chosen ticket to the front, with the records of its last run where the screen has none.
fn open(model: &mut Model) -> Vec<Ask> {
    let Some(entry) = chosen(model) else { return Vec::new() };
    let (id, run) = (entry.id.clone(), entry.run.map(|run| run.run));
    let known = entry.tab.is_some_and(|tab| tab.run.is_some());
    let at = model.open_tab(&id);
    model.show_tab(at);
    model.focus = stream::NAME;
    run.filter(|_| !known).map(|run| Ask::Request(Request::Show(run))).into_iter().collect()
}

impl pane::Pane for HomePane {
    fn act(&mut self, model: &mut Model, command: Command, height: usize) -> Vec<Ask> {
        match command {
            Command::Choose => return open(model),
            Command::Own("start") => {
                return model.home.cursor.clone().map(|id| Ask::Request(Request::Start(id))).into_iter().collect();
            }
            Command::Own("peek") => model.home.peeks = !model.home.peeks,
            Command::Own("everywhere") => {
                model.home.everywhere = !model.home.everywhere;
                model.home.is_chosen = false;
            }
            Command::Own("back") if !model.home.filter.is_empty() => model.home.filter.clear(),
            Command::Own("back") => model.focus = stream::NAME,
            command => self.step(model, lines(Some(command), page(height))),
        }
        Vec::new()
    }

    fn prompt(&self, model: &Model) -> Option<Prompt> {
        Some(Prompt { label: "filter: ", text: model.home.filter.clone() })
    }

    fn typed(&mut self, model: &mut Model, text: &str) {
        // What was selected stays so while its row is there.
        text.clone_into(&mut model.home.filter);
    }

    fn is_framed(&self) -> bool {
        false
    }

    fn prepare(&mut self, model: &mut Model, inside: Rect) {
        let height = usize::from(inside.height);
        self.lines = table::lines(model, height);
        model.home.counts = table::counts(&self.lines);
        let cursor = model.home.cursor.as_ref().filter(|_| model.home.is_chosen);
        if let Some(at) = self.lines.iter().position(|line| line.ticket().is_some_and(|id| Some(id) == cursor)) {
            // The heading above the first row stays in sight.
            self.scrolled = self.scrolled.showing(if at <= 2 { 0 } else { at }, at, height);
        } else {
            // The first row, until rows have come and been looked at.
            model.home.is_chosen = model.now.since(model.home.shown) > SETTLED;
            self.scrolled = Scrolled::default();
            model.home.cursor = self.lines.iter().find_map(Line::ticket).cloned();
        }
        let stream = chosen(model).map(|entry| preview::places(model, &entry, places(model, inside).1).1);
        if let (Some(tab), Some(place)) = (model.tab_mut(), stream.filter(|place| !place.is_empty())) {
            tab.stream.prepare(place.width, place.height);
        }
    }

    fn view(&self, model: &Model, _focused: bool, theme: &Theme, inside: Rect, buf: &mut Buffer) {
        let (left, right) = places(model, inside);
        let border = Rect { x: left.right(), width: u16::from(!right.is_empty() && !left.is_empty()), ..inside };
        for place in border.rows() {
            Row::new().left(Role::Border, model.glyphs.pick("│", "|")).draw(theme, place, buf);
        }
        if let Some(entry) = chosen(model).filter(|_| !right.is_empty()) {
            preview::view(model, &entry, theme, right, buf);
        }
        if self.lines.is_empty() {
            empty(model, theme, left, buf);
        }
        let seen = self.lines.iter().skip(self.scrolled.above()).take(left.height.into());
        table::view(model, seen, theme, left, buf);
    }
}

/// Draws the first line of the screen: where this is, how many tickets stand how, the time.
pub fn view_header(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let count = |group: Group, noun: &str| {
        let many = model.home.counts[group as usize];
        let noun = if many == 1 && group == Group::NeedsYou && noun.len() > 1 { "needs you" } else { noun };
        (many > 0).then(|| format!("{many} {noun}"))
    };
    let mut row = Row::new().left(Role::Title, " programmator  ");
    row = match (&model.home.filter[..], model.home.everywhere) {
        ("", false) => row.left(Role::Dim, &model.folder),
        ("", true) => row.left(Role::Dim, "all directories"),
        (filter, _) => row.left(Role::Warning, format!("only “{filter}” (Esc shows all)")),
    };
    if let Some(needs) = count(Group::NeedsYou, if area.width < 100 { "!" } else { "need you" }) {
        row = row.right(Role::TabAttention, needs + "  ");
    }
    let others = [(Group::Running, "running"), (Group::Waiting, "waiting"), (Group::Ready, "ready")];
    let others: Vec<String> = others.into_iter().filter_map(|(group, noun)| count(group, noun)).collect();
    row = row.right(Role::Dim, others.join(" · ") + "  ");
    let time = if model.anything_active() { model.now.clock_time(&model.zone)[..5].to_owned() } else { String::new() };
    row.right(Role::Dim, format!("{time:>5} ")).draw(theme, area, buf);
}

fn empty(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let say: &[(Role, &str)] = if model.home.filter.is_empty() {
        &[
            (Role::Title, "programmator works through tickets with Claude Code"),
            (Role::Title, "and checks every claim. There are no tickets here yet."),
            (Role::Text, ""),
            (Role::Text, "n                   writes your first ticket"),
            (Role::Text, "t                   opens any markdown file with checkboxes"),
            (Role::Text, "programmator demo   shows all of it, without an account"),
        ]
    } else {
        &[(Role::Dim, "No ticket matches. / changes the filter, Esc shows all.")]
    };
    for (place, (role, text)) in area.rows().skip(2).zip(say) {
        Row::new().left(*role, format!("  {text}")).draw(theme, place, buf);
    }
}
