//! Home: every ticket and run in one table, grouped by what the person has to do, and a preview of the chosen one. It
//! takes the whole screen while it has the focus.

mod estimate;
mod preview;
mod rows;

use crate::base::text::{clean_line, cut};
use crate::base::time::short;
use crate::domain::phase::Mark;
use crate::domain::request::Request;
use crate::tui::command::{self, Command, Scope, always, c, lines, page, press, rows};
use crate::tui::home::NAME;
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Key};
use crate::tui::pane;
use crate::tui::panes::stream;
use crate::tui::tab::{Tab, TabStatus};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, highlight};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rows::{Entry, Group, entries};
use unicode_width::UnicodeWidthStr;

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
    Own("back") "home.back" Scope::Pane(NAME), "home", [press(Key::Esc)], HelpOnly, |model| !model.tabs.is_empty(), |_| "back",
        "in Home: back to the ticket in front";
};

fn has_row(model: &Model) -> bool {
    model.home.cursor.is_some()
}

fn can_start(model: &Model) -> bool {
    chosen(model).is_some_and(|entry| !entry.tab.is_some_and(Tab::has_open_run))
}

fn everywhere_word(model: &Model) -> &'static str {
    if model.home.everywhere { "this directory" } else { "all directories" }
}

/// Columns from which on there is a preview.
const WIDE: u16 = 110;
/// Columns of the mark, the widest id, the most marks of phases, cost and age.
const MARK: usize = 3;
const ID: usize = 16;
const MARKS: usize = 10;
const COST: usize = 8;
const AGE: usize = 8;

/// How far the table is scrolled.
#[derive(Default)]
struct HomePane(Scrolled);

fn chosen(model: &Model) -> Option<Entry<'_>> {
    let cursor = model.home.cursor.as_ref()?;
    entries(model).into_iter().find(|entry| entry.id == cursor)
}

/// The question before a start; `None`: no ticket is selected.
pub fn start_words(model: &Model) -> Option<String> {
    chosen(model).map(|entry| estimate::words(model, &clean_line(entry.title(), 100), &entry.marks()))
}

/// The lines of the table: headings and rows, and air between groups where there is room for it.
enum Line<'a> {
    Gap,
    Heading(Group, usize),
    Ticket(Entry<'a>),
}

fn table(model: &Model, height: usize) -> Vec<Line<'_>> {
    let entries = entries(model);
    let groups = entries.chunk_by(|one, next| one.group == next.group).count();
    let airy = entries.len() + 2 * groups <= height;
    let mut out = Vec::new();
    let mut last = None;
    for entry in &entries {
        if last != Some(entry.group) {
            last = Some(entry.group);
            out.extend(airy.then_some(Line::Gap));
            let count = entries.iter().filter(|other| other.group == entry.group).count();
            out.push(Line::Heading(entry.group, count));
        }
        out.push(Line::Ticket(*entry));
    }
    out
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

fn is_at(line: &Line<'_>, model: &Model) -> bool {
    matches!(line, Line::Ticket(entry) if Some(entry.id) == model.home.cursor.as_ref())
}

fn step(model: &mut Model, by: i32) {
    let entries = entries(model);
    let at = entries.iter().position(|entry| Some(entry.id) == model.home.cursor.as_ref()).unwrap_or(0);
    let to = at.saturating_add_signed(by as isize).min(entries.len().saturating_sub(1));
    model.home.cursor = entries.get(to).map(|entry| entry.id.clone());
    model.home.is_chosen = true;
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
            Command::Own("back") => model.focus = stream::NAME,
            command => step(model, lines(Some(command), page(height))),
        }
        Vec::new()
    }

    fn prompt(&self, model: &Model) -> Option<Prompt> {
        Some(Prompt { label: "filter: ", text: model.home.filter.clone() })
    }

    fn typed(&mut self, model: &mut Model, text: &str) {
        text.clone_into(&mut model.home.filter);
        model.home.is_chosen = false;
    }

    fn is_framed(&self) -> bool {
        false
    }

    fn prepare(&mut self, model: &mut Model, inside: Rect) {
        let height = usize::from(inside.height);
        let lines = table(model, height);
        if let Some(at) = lines.iter().position(|line| model.home.is_chosen && is_at(line, model)) {
            // The heading above the first row stays in sight.
            self.0 = self.0.showing(if at <= 2 { 0 } else { at }, at, height);
        } else {
            let first = lines.iter().find_map(|line| match line {
                Line::Ticket(entry) => Some(entry.id.clone()),
                Line::Heading(..) | Line::Gap => None,
            });
            self.0 = Scrolled::default();
            model.home.cursor = first;
        }
        let stream = chosen(model).map(|entry| preview::places(model, &entry, places(model, inside).1).1);
        if let (Some(tab), Some(place)) = (model.tab_mut(), stream.filter(|place| !place.is_empty())) {
            tab.stream.prepare(place.width, place.height);
        }
    }

    fn view(&self, model: &Model, _focused: bool, theme: &Theme, inside: Rect, buf: &mut Buffer) {
        let lines = table(model, inside.height.into());
        let (left, right) = places(model, inside);
        let border = Rect { x: left.right(), width: u16::from(!right.is_empty() && !left.is_empty()), ..inside };
        for place in border.rows() {
            Row::new().left(Role::Border, model.glyphs.pick("│", "|")).draw(theme, place, buf);
        }
        if let Some(entry) = chosen(model).filter(|_| !right.is_empty()) {
            preview::view(model, &entry, theme, right, buf);
        }
        if lines.is_empty() {
            empty(model, theme, left, buf);
            return;
        }
        let seen = || lines.iter().skip(self.0.above()).take(left.height.into());
        let columns = Columns::of(seen(), left.width.into());
        for (place, line) in left.rows().zip(seen()) {
            match line {
                Line::Gap => {}
                Line::Heading(group, count) => heading(*group, *count).draw(theme, place, buf),
                Line::Ticket(entry) => {
                    ticket(model, entry, &columns).draw(theme, place, buf);
                    if is_at(line, model) {
                        highlight(theme.style(Role::Selection), place, buf);
                    }
                }
            }
        }
    }
}

/// Draws the first line of the screen: where this is, how many tickets stand how, the time.
pub fn view_header(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let entries = entries(model);
    let count = |group: Group, noun: &str| {
        let many = entries.iter().filter(|entry| entry.group == group).count();
        (many > 0).then(|| format!("{many} {noun}"))
    };
    let mut row = Row::new().left(Role::Title, " programmator  ").left(Role::Dim, &model.folder);
    if let Some(needs) = count(Group::NeedsYou, if area.width < 100 { "!" } else { "need you" }) {
        row = row.right(Role::TabAttention, needs + "  ");
    }
    let others = [(Group::Running, "running"), (Group::Waiting, "waiting"), (Group::Ready, "ready")];
    let others: Vec<String> = others.into_iter().filter_map(|(group, noun)| count(group, noun)).collect();
    row = row.right(Role::Dim, others.join(" · ") + "  ");
    let time = if model.anything_active() { model.now.clock_time(&model.zone)[..5].to_owned() } else { String::new() };
    row.right(Role::Dim, format!("{time:>5} ")).draw(theme, area, buf);
}

fn heading(group: Group, count: usize) -> Row {
    let role = if group == Group::NeedsYou { Role::TabAttention } else { Role::Dim };
    Row::new().left(role, format!(" {}", group.words().to_uppercase())).left(Role::Dim, format!("  {count}"))
}

/// How wide the columns are: those that must be as wide as what they hold, and what is left for title and words.
struct Columns {
    id: usize,
    title: usize,
    marks: usize,
    words: usize,
}

impl Columns {
    fn of<'a>(lines: impl Iterator<Item = &'a Line<'a>>, width: usize) -> Self {
        let (mut id, mut marks) = (4, 0);
        for line in lines {
            if let Line::Ticket(entry) = line {
                id = id.max(entry.id.as_str().width());
                marks = marks.max(entry.marks().len());
            }
        }
        let (id, marks) = (id.min(ID), marks.min(MARKS));
        let rest = width.saturating_sub(MARK + id + 2 + 2 + marks + 2 + COST + AGE + 1);
        let title = (rest * 2 / 5).clamp(8.min(rest), 36);
        Self { id, title, marks, words: rest.saturating_sub(title) }
    }
}

/// One row: mark, id, title, phases, what it does, cost and age.
fn ticket(model: &Model, entry: &Entry<'_>, columns: &Columns) -> Row {
    let sign = entry.sign(model);
    let text = if entry.group == Group::Done { Role::Dim } else { Role::Text };
    let words = match entry.standing {
        TabStatus::NeedsYou | TabStatus::Halted | TabStatus::Unverified => Role::Warning,
        _ => Role::Dim,
    };
    let row = Row::new()
        .left(sign.role, format!(" {} ", sign.glyph))
        .left(text, cell(entry.id.as_str(), columns.id) + "  ")
        .left(text, cell(entry.title(), columns.title) + "  ");
    let cost = entry.cost().filter(|cost| *cost > 0.0).map_or_else(String::new, |cost| format!("${cost:.2}"));
    let age = entry.since().filter(|_| entry.group != Group::Ready);
    let age = age.map_or_else(String::new, |since| short(model.now.since(since)));
    phases(model, &entry.marks(), columns.marks, row)
        .left(words, format!(" {}", cell(&entry.words(model), columns.words)))
        .left(Role::Dim, format!("{cost:>COST$}{age:>AGE$}"))
}

/// The text in exactly so many columns.
fn cell(text: &str, columns: usize) -> String {
    let text = cut(&clean_line(text, 400), columns);
    let blanks = " ".repeat(columns - text.width());
    text + &blanks
}

/// The phases as small marks, padded; of many the first and how many follow.
fn phases(model: &Model, marks: &[Mark], columns: usize, mut row: Row) -> Row {
    let shown = if marks.len() > columns { columns.saturating_sub(3) } else { marks.len() };
    for mark in &marks[..shown] {
        let sign = model.glyphs.phase(*mark);
        row = row.left(sign.role, sign.glyph);
    }
    let more = if shown < marks.len() { format!("+{}", marks.len() - shown) } else { String::new() };
    let blanks = columns.saturating_sub(shown + more.len());
    row.left(Role::Dim, more).left(Role::Dim, " ".repeat(blanks) + " ")
}

fn empty(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let say: &[(Role, &str)] = if model.home.filter.is_empty() {
        &[
            (Role::Title, "programmator works through tickets with Claude Code"),
            (Role::Title, "and checks every claim. There are no tickets here yet."),
            (Role::Text, ""),
            (Role::Text, "n                   makes the first ticket"),
            (Role::Text, "t                   opens any markdown file with checkboxes"),
            (Role::Text, "programmator demo   shows all of it, without an account"),
        ]
    } else {
        &[(Role::Dim, "No ticket has these words. / changes them, Esc there clears them.")]
    };
    for (place, (role, text)) in area.rows().skip(2).zip(say) {
        Row::new().left(*role, format!("  {text}")).draw(theme, place, buf);
    }
}
