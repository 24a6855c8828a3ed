//! Home: every ticket and run in one table, grouped by what the person has to do, and a preview of the chosen one. It
//! takes the whole screen while it has the focus.

mod empty;
pub mod estimate;
mod filter;
mod header;
mod meant;
mod preview;
mod rows;
mod table;
mod words;

use crate::domain::request::Request;
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::tui::command::{self, Command, Scope, always, c, lines, page, press, rows};
use crate::tui::home::{Home, NAME, Shows, Sort};
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Key};
use crate::tui::pane;
use crate::tui::panes::stream;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
pub use header::view as view_header;
use meant::{chosen, is_startable, meant, queued};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
pub use rows::Group;
use rows::{Entry, entry};
pub use rows::{is_any_ready, next_ready};
use std::time::Duration;
use table::Line;
pub use words::blocked_words;

/// The row of the table of panes.
pub const PANE: pane::Entry = pane::Entry { name: NAME, keys: KEYS, new: || Box::<HomePane>::default() };

const KEYS: &[command::Row] = rows! {
    Choose "home.open" Scope::Pane(NAME), "home", [press(Key::Enter), press(Key::Right)], Shown, has_row, |_| "open",
        "in Home: open the selected ticket";
    Own("peek") "home.peek" Scope::Pane(NAME), "home", [c(' ')], Shown, has_row, |model| if model.home.peeks { "table" } else { "peek" },
        "in Home: larger or smaller preview";
    Own("start") "home.start" Scope::Pane(NAME), "home", [c('s')], Shown, can_start, meant::start_word,
        "in Home: start, or remove from the queue";
    Own("plan") "home.plan" Scope::Pane(NAME), "home", [c('w')], Shown, meant::can_plan, |_| "plan",
        "in Home: let Claude draft the ticket's phases; asks first";
    NewTicket "home.new" Scope::Pane(NAME), "home", [c('n')], Shown, always, |_| "new ticket",
        "in Home: write a new ticket";
    Import "home.import" Scope::Pane(NAME), "home", [c('N')], Shown, always, |_| "import",
        "in Home: import tasks: issues, documents, other programs";
    Prompt "home.filter" Scope::Pane(NAME), "home", [c('/')], Shown, can_filter, |_| "filter",
        "in Home: filter by words, `#tag` or `status:word`";
    Own("mark") "home.mark" Scope::Pane(NAME), "home", [c('v')], Shown, has_row, mark_word,
        "in Home: select several tickets, to start them at once";
    Own("archive") "home.archive" Scope::Pane(NAME), "home", [c('d')], Shown, can_archive, archive_word,
        "in Home: archive tickets (files stay), or unarchive";
    Own("archived") "home.archived" Scope::Pane(NAME), "home", [c('A')], HelpOnly, always, |_| "archive",
        "in Home: the archived tickets, or the others";
    Own("git") "home.git" Scope::Pane(NAME), "home", [c('I')], Shown, empty::lacks_git, |_| "git init",
        "in Home: `git init`, if there is no repository";
    Own("undo") "home.undo" Scope::Pane(NAME), "home", [c('u')], HelpOnly, |model| !model.home.undo.is_empty(), |_| "undo",
        "in Home: undo the last archiving";
    Own("sort") "home.sort" Scope::Pane(NAME), "home", [c('S')], Shown, has_row, |_| "sort",
        "in Home: sort by attention, age, cost, title or progress";
    Machines "home.machines" Scope::Pane(NAME), "home", [c('@')], HelpOnly, always, |_| "machines",
        "in Home: what is running on your other machines";
    Stats "home.stats" Scope::Pane(NAME), "home", [c('%')], HelpOnly, always, |_| "statistics",
        "in Home: totals of all runs";
    Report "home.report" Scope::Pane(NAME), "home", [c('R')], HelpOnly, always, |_| "report",
        "in Home: report since you were away";
    Own("everywhere") "home.everywhere" Scope::Pane(NAME), "home", [c('o')], Shown, always, everywhere_word,
        "in Home: the runs of all directories, or of this one";
    Own("back") "home.back" Scope::Pane(NAME), "home", [press(Key::Esc)], HelpOnly, can_go_back, |_| "back",
        "in Home: clear selection and filter; back to the ticket";
};

fn has_row(model: &Model) -> bool {
    model.home.cursor.is_some()
}

fn can_start(model: &Model) -> bool {
    meant(model).iter().any(|entry| is_startable(model, entry)) || !queued(model).is_empty()
}

/// There is something to filter, or a filter.
fn can_filter(model: &Model) -> bool {
    has_row(model) || !model.home.filter.is_empty()
}

fn can_archive(model: &Model) -> bool {
    meant(model).iter().any(Entry::can_rest)
}

fn archive_word(model: &Model) -> &'static str {
    if model.home.shows == Shows::Archive { "unarchive" } else { "archive" }
}

/// Asks for it, and says so.
fn archive(model: &mut Model, tickets: Vec<TicketKey>, archived: bool) -> Vec<Ask> {
    let what = match &tickets[..] {
        [] => return Vec::new(),
        [one] => one.to_string(),
        several => format!("{} tickets", several.len()),
    };
    model.tell(if archived {
        format!("archived {what} · u undoes it, A shows the archive")
    } else {
        format!("{what} unarchived")
    });
    model.home.marked.clear();
    model.home.undo = if archived { tickets.clone() } else { Vec::new() };
    vec![Ask::Request(Request::Archive(tickets, archived))]
}

fn can_go_back(model: &Model) -> bool {
    model.home.shows == Shows::Archive
        || !model.tabs.is_empty()
        || !model.home.filter.is_empty()
        || !model.home.marked.is_empty()
}

fn mark_word(model: &Model) -> &'static str {
    let is_marked = model.home.cursor.as_ref().is_some_and(|id| model.home.marked.contains(id));
    if is_marked { "deselect" } else { "select" }
}

fn everywhere_word(model: &Model) -> &'static str {
    if model.home.everywhere { "this directory" } else { "all directories" }
}

/// Rows come one after the other at first: so long the first of them is selected, whichever it is.
const SETTLED: Duration = Duration::from_secs(1);
/// Columns from which on there is a preview.
const WIDE: u16 = 110;

/// What the table is made of: while that stays, ten thousand rows are not looked at for a key.
#[derive(PartialEq)]
struct Of {
    told: u64,
    filter: String,
    sort: Sort,
    everywhere: bool,
    shows: Shows,
    tabs: usize,
    seen: usize,
    height: usize,
}

impl Of {
    fn now(model: &Model, height: usize) -> Self {
        let (told, tabs, seen) = (model.told, model.tabs.len(), model.seen.len());
        let Home { filter, sort, everywhere, shows, .. } = &model.home;
        Self { told, filter: filter.clone(), sort: *sort, everywhere: *everywhere, shows: *shows, tabs, seen, height }
    }
}

/// The pane's own state.
#[derive(Default)]
struct HomePane {
    /// The table as it was last made, and of what.
    lines: Vec<Line>,
    of: Option<Of>,
    scrolled: Scrolled,
}

/// The question before a start of these tickets.
pub fn start_words(model: &Model, tickets: &[TicketKey]) -> String {
    let entries: Vec<Entry<'_>> = tickets.iter().map(|id| entry(model, id)).collect();
    let words = estimate::words(model, &entries);
    // Of those that were selected, some may have to stay.
    let marked = &model.home.marked;
    let left =
        marked.iter().filter(|id| !tickets.contains(id)).filter_map(|id| meant::hindrance(model, &entry(model, id)));
    let left: Vec<String> = if tickets.iter().all(|id| marked.contains(id)) { left.collect() } else { Vec::new() };
    if left.is_empty() {
        return words;
    }
    format!("{words}\nNot started, {} of {}: {}.", left.len(), marked.len(), left.join("; "))
}

/// The question before this ticket is planned.
pub fn plan_words(model: &Model, ticket: &TicketKey) -> String {
    estimate::plan(model, &entry(model, ticket))
}

/// The question before all of this ticket is worked on once more.
pub fn again_words(model: &Model, ticket: &TicketKey) -> String {
    estimate::again(model, &entry(model, ticket))
}

/// The places of the table and of the preview, a border between them; on a narrow screen one of the two is empty.
fn places(model: &Model, inside: Rect) -> (Rect, Rect) {
    let width = match (inside.width >= WIDE, model.home.peeks) {
        // The table needs its words more than a preview of a few does.
        (true, false) => (inside.width / 3).min(64).min(inside.width.saturating_sub(88)),
        (true, true) => inside.width * 3 / 5,
        (false, peeks) => return if peeks { (Rect::default(), inside) } else { (inside, Rect::default()) },
    };
    let left = Rect { width: inside.width - width, ..inside };
    (left, Rect { x: left.right() + 2, width: width - 3, ..inside })
}

impl HomePane {
    fn tickets(&self) -> Vec<&TicketKey> {
        self.lines.iter().filter_map(Line::ticket).collect()
    }

    /// Which row the cursor is on.
    fn row(&self, model: &Model) -> Option<usize> {
        self.tickets().iter().position(|id| Some(*id) == model.home.cursor.as_ref())
    }

    fn step(&self, model: &mut Model, by: i32) {
        let tickets = self.tickets();
        let at = self.row(model).unwrap_or(0);
        let to = at.saturating_add_signed(by as isize).min(tickets.len().saturating_sub(1));
        model.home.cursor = tickets.get(to).map(|id| (*id).clone());
        model.home.is_chosen = true;
    }

    /// The cursor goes to the next row that stays, else to the one before.
    fn leave(&self, model: &mut Model, gone: &[TicketKey]) {
        let tickets = self.tickets();
        let at = self.row(model).unwrap_or(0);
        let (before, after) = tickets.split_at(at);
        let stays = after.iter().chain(before.iter().rev()).find(|id| !gone.contains(id));
        if let Some(id) = stays {
            (model.home.cursor, model.home.is_chosen) = (Some((*id).clone()), true);
        }
    }
}

/// Brings the chosen ticket to the front, with the records of its last run where the screen has none.
fn open(model: &mut Model) -> Vec<Ask> {
    let Some(entry) = chosen(model) else { return Vec::new() };
    let (id, run) = (entry.id.clone(), entry.run.map(|run| run.run).or(entry.own.map(|own| own.run)));
    let known = entry.tab.is_some_and(|tab| tab.run.is_some() && tab.owner == Owner::Here);
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
                let queued = queued(model);
                if !queued.is_empty() {
                    model.home.marked.clear();
                    return vec![Ask::Request(Request::Unqueue(queued))];
                }
                let startable = meant(model).into_iter().filter(|entry| is_startable(model, entry));
                return startable.map(|entry| Ask::Request(Request::Start(entry.id.clone()))).collect();
            }
            Command::Own("plan") => return meant::plan(model),
            Command::Own("peek") => model.home.peeks = !model.home.peeks,
            Command::Own("everywhere") => {
                model.home.everywhere = !model.home.everywhere;
                model.home.is_chosen = false;
            }
            Command::Own("mark") => {
                if let Some(id) = model.home.cursor.clone()
                    && !model.home.marked.remove(&id)
                {
                    model.home.marked.insert(id);
                }
                self.step(model, 1);
            }
            Command::Own("archive") => {
                let is_archive = model.home.shows == Shows::Archive;
                let rest = meant(model).into_iter().filter(Entry::can_rest);
                let tickets: Vec<TicketKey> = rest.map(|entry| entry.id.clone()).collect();
                self.leave(model, &tickets);
                return archive(model, tickets, !is_archive);
            }
            Command::Own("git") => return vec![Ask::Request(Request::InitGit)],
            Command::Own("undo") => {
                let tickets = std::mem::take(&mut model.home.undo);
                return archive(model, tickets, false);
            }
            Command::Own("archived") => {
                model.home.shows = if model.home.shows == Shows::Archive { Shows::Table } else { Shows::Archive };
                model.home.marked.clear();
            }
            Command::Own("sort") => {
                model.home.sort = model.home.sort.next();
                model.tell(format!("sorted by {}", model.home.sort.word()));
            }
            Command::Own("back") if !model.home.marked.is_empty() => model.home.marked.clear(),
            Command::Own("back") if model.home.shows == Shows::Archive => model.home.shows = Shows::Table,
            Command::Own("back") if !model.home.filter.is_empty() => model.home.filter.clear(),
            Command::Own("back") => model.focus = stream::NAME,
            command => self.step(model, lines(Some(command), page(height))),
        }
        Vec::new()
    }

    fn refusal(&self, model: &Model, command: Command) -> Option<String> {
        let meant = meant(model);
        match command {
            Command::Prompt => Some("no ticket to filter".to_owned()),
            Command::Own("git") => Some("this folder is already in a git repository".to_owned()),
            Command::Own("start") if meant.is_empty() => Some("no ticket to start; n writes one".to_owned()),
            Command::Own("start") => meant.iter().find_map(|entry| meant::hindrance(model, entry)),
            Command::Own("plan") => Some(meant::NO_PLAN.to_owned()),
            Command::Own(_) | Command::Choose if meant.is_empty() => Some("no ticket here; n writes one".to_owned()),
            Command::Own("archive") => Some("it cannot be archived while it runs or needs you".to_owned()),
            _ => None,
        }
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
        let of = Of::now(model, height);
        if self.of.as_ref() != Some(&of) {
            let same_rows = self.of.as_ref().is_some_and(|made| made.filter == of.filter && made.shows == of.shows);
            let at = self.row(model).filter(|_| same_rows && model.home.is_chosen);
            self.lines = table::lines(model, height);
            // Where the chosen row has gone, the one that is in its place now is chosen.
            if let (Some(at), None) = (at, self.row(model)) {
                let tickets = self.tickets();
                model.home.cursor = tickets.get(at).or(tickets.last()).map(|id| (*id).clone());
            }
            model.home.counts = table::counts(&self.lines);
            self.of = Some(of);
        }
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
        let seen = self.lines.iter().skip(self.scrolled.above()).take(height);
        model.home.ages = table::ages(model, seen);
        let stream = chosen(model).map(|entry| preview::places(model, &entry, places(model, inside).1).1);
        if let Some(place) = stream.filter(|place| !place.is_empty()) {
            model.prepare_stream(place);
        }
    }

    fn view(&self, model: &Model, _focused: bool, theme: &Theme, inside: Rect, buf: &mut Buffer) {
        if self.lines.is_empty() {
            empty::view(model, theme, inside, buf);
            return;
        }
        let (left, right) = places(model, inside);
        let border = Rect { x: left.right(), width: u16::from(!right.is_empty() && !left.is_empty()), ..inside };
        for place in border.rows() {
            Row::new().left(Role::Border, model.glyphs.pick("│", "|")).draw(theme, place, buf);
        }
        if let Some(entry) = chosen(model).filter(|_| !right.is_empty()) {
            preview::view(model, &entry, theme, right, buf);
        }
        let seen = self.lines.iter().skip(self.scrolled.above()).take(left.height.into());
        table::view(model, seen, theme, left, buf);
    }
}
